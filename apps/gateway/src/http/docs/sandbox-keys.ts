import type { FastifyRequest } from 'fastify';
import type { KeyClass } from './api-operations.ts';

/** One key of each class of a sandbox, filled in on its reference page and in its collections. A session's token is had by beginning one. */
export type SandboxKeys = Readonly<Record<Exclude<KeyClass, 'session'>, string> & { session?: string }>;

/** Headers of what passes requests on: behind a proxy or a tunnel every caller looks local. */
const PASSED_ON = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-real-ip',
  'cf-connecting-ip',
];
const LOOPBACK_ADDRESS = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;
/** By a name that cannot be made to lead here: a page of another site may point a name of its own at this machine. */
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

export const isLoopbackHost = (host: string | undefined) => LOOPBACK_HOST.test(host ?? '');

/**
 * Keys are shown to callers on the machine itself only, whatever interfaces the sandbox listens on. Pages of other origins
 * cannot read the answers: none of them is opened to other origins.
 */
export function isLocalCaller({ raw, headers }: FastifyRequest): boolean {
  return (
    LOOPBACK_ADDRESS.test(raw.socket.remoteAddress ?? '') &&
    isLoopbackHost(headers.host) &&
    PASSED_ON.every((name) => headers[name] === undefined)
  );
}
