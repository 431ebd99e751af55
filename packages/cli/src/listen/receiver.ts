import { readFile } from 'node:fs/promises';
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  validateHeaderValue,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { rootCertificates } from 'node:tls';
import { signBody } from '@causeway/sdk/webhooks';
import { CommandError, EXIT } from '../exit.ts';

/** What became of one request to the receiver. */
export type Attempt = { readonly ms: number } & (
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly problem: string }
  /** Nothing was sent: no connection could be made. */
  | { readonly kind: 'unreached'; readonly problem: string }
);

/** The server that events are forwarded to. */
export interface Receiver {
  readonly url: string;
  /** One delivery as the service makes it, signed now. */
  deliver(body: string, signal: AbortSignal): Promise<Attempt>;
  /** Whether something takes connections there; nothing is sent. */
  isUp(): Promise<boolean>;
  close(): void;
}

export interface ReceiverOptions {
  readonly url: string;
  readonly secret: string;
  readonly headers: readonly (readonly [string, string])[];
  /** A file with certificates that are trusted besides the public ones. */
  readonly caFile?: string | undefined;
}

/** As the service's: for connecting, sending and the whole answer together. */
const TIMEOUT_MS = 10_000;
const PROBE_TIMEOUT_MS = 2_000;
const LONGEST_ANSWER = 64 * 1_024;
const MAX_CONNECTIONS = 64;
const USER_AGENT = 'Causeway-Webhooks/1';
const CLOSED = 'connection closed without an answer';

export async function createReceiver({ url, secret, headers, caFile }: ReceiverOptions): Promise<Receiver> {
  const target = new URL(url);
  const isTls = target.protocol === 'https:';
  const pool = { keepAlive: true, maxSockets: MAX_CONNECTIONS };
  const agent = isTls ? new HttpsAgent({ ...pool, ...(await trusted(caFile)) }) : new HttpAgent(pool);

  async function open(body: Buffer, signal: AbortSignal): Promise<ClientRequest> {
    const { 'content-type': contentType = '', ...signed } = await signBody(body, { secret });
    return (isTls ? httpsRequest : httpRequest)(target, {
      method: 'POST',
      agent,
      signal,
      headers: {
        'content-type': contentType,
        'user-agent': USER_AGENT,
        ...signed,
        'content-length': body.length,
        ...grouped(headers),
      },
    });
  }

  return {
    url,
    async deliver(body, signal) {
      const bytes = Buffer.from(body);
      for (let again = false; ; again = true) {
        const request = await open(bytes, signal);
        const attempt = await exchange(request, bytes);
        // A kept connection that the receiver has closed meanwhile, as it may.
        const isStale = request.reusedSocket && attempt.kind === 'failed' && attempt.problem === CLOSED;
        if (again || !isStale || signal.aborted) return attempt;
      }
    },
    isUp: () => takesConnections(target),
    close: () => agent.destroy(),
  };
}

/** A name that is given twice is sent twice. */
function grouped(headers: ReceiverOptions['headers']): Record<string, string | string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of headers) values.set(name, [...(values.get(name) ?? []), value]);
  return Object.fromEntries([...values].map(([name, all]) => [name, all.length > 1 ? all : (all[0] ?? '')]));
}

async function trusted(caFile: string | undefined): Promise<{ readonly ca?: string[] }> {
  if (caFile === undefined) return {};
  const text = await readFile(caFile, 'utf8').catch((error: Error) => {
    throw new CommandError(`--ca ${caFile} cannot be read: ${error.message}`, { exitCode: EXIT.usage });
  });
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    throw new CommandError(`--ca ${caFile} holds no certificate in PEM form.`, { exitCode: EXIT.usage });
  }
  return { ca: [...rootCertificates, text] };
}

function exchange(request: ClientRequest, body: Buffer): Promise<Attempt> {
  const began = performance.now();
  return new Promise((resolve) => {
    let isConnected = false;
    let isTimedOut = false;
    const settle = (attempt: { kind: 'answered'; status: number } | { kind: 'failed'; problem: string }) => {
      clearTimeout(timer);
      const ms = Math.round(performance.now() - began);
      if (attempt.kind === 'failed' && !isConnected && !isTimedOut) {
        resolve({ kind: 'unreached', problem: attempt.problem, ms });
      } else resolve({ ...attempt, ms });
    };
    const timer = setTimeout(() => {
      isTimedOut = true;
      request.destroy(new Error(`no whole answer within ${TIMEOUT_MS / 1_000} s`));
    }, TIMEOUT_MS);
    request.on('socket', (socket) => {
      if (socket.connecting) socket.once('connect', () => (isConnected = true));
      else isConnected = true;
    });
    request.on('error', (error) => settle({ kind: 'failed', problem: problemOf(error) }));
    request.on('response', (answer) => {
      const { statusCode: status = 0 } = answer;
      let length = 0;
      answer.on('data', (chunk: Buffer) => {
        length += chunk.length;
        // The status has been said; the rest is not waited for.
        if (length <= LONGEST_ANSWER) return;
        settle({ kind: 'answered', status });
        request.destroy();
      });
      answer.on('end', () => settle({ kind: 'answered', status }));
      answer.on('error', (error) => settle({ kind: 'failed', problem: problemOf(error) }));
    });
    request.end(body);
  });
}

function problemOf(error: NodeJS.ErrnoException): string {
  const { code = '', message } = error;
  if (code === 'ECONNREFUSED') return 'connection refused';
  if (code === 'ECONNRESET' || code === 'EPIPE') return CLOSED;
  if (/CERT|SELF_SIGNED|ISSUER|ALTNAME/.test(code)) {
    return `certificate not trusted (${code}); --ca FILE names one that is`;
  }
  // With several addresses of a host, each has failed.
  return message === '' ? code : message;
}

function takesConnections({ hostname, port, protocol }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    });
    const settle = (isUp: boolean) => {
      socket.destroy();
      resolve(isUp);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => settle(false));
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

/** `localhost:3000/hook` and a bare port are taken as http. */
export function forwardUrl(given: string): string {
  const wrong = (why: string) =>
    new CommandError(`--forward-to ${given}: ${why}`, {
      exitCode: EXIT.usage,
      hint: 'For example --forward-to http://localhost:3000/webhooks/causeway',
    });
  const text = /^\d{1,5}(\/.*)?$/.test(given)
    ? `http://localhost:${given}`
    : /^[a-z][a-z0-9+.-]*:\/\//i.test(given)
      ? given
      : `http://${given}`;
  if (!URL.canParse(text)) throw wrong('is no address.');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw wrong('http and https only.');
  if (url.username !== '' || url.password !== '') {
    throw wrong("put a user and password into -H 'Authorization: …' instead.");
  }
  url.hash = '';
  return url.href;
}

/** Set by the service or by HTTP itself: another value would not be what it delivers. */
const OWN_HEADERS = ['content-type', 'content-length', 'user-agent', 'connection', 'transfer-encoding'];

/** `Name: value`, as curl takes it. */
export function parseHeader(given: string): readonly [string, string] {
  const wrong = (why: string) =>
    new CommandError(`-H '${given}': ${why}`, { exitCode: EXIT.usage, hint: "As in -H 'X-Tenant: 42'" });
  const colon = given.indexOf(':');
  if (colon < 0) throw wrong('there is no colon between name and value.');
  const name = given.slice(0, colon).trim();
  const value = given.slice(colon + 1).trim();
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw wrong('this is no name of a header.');
  const lower = name.toLowerCase();
  if (OWN_HEADERS.includes(lower) || lower.startsWith('x-service-')) {
    throw wrong('the service sets this header itself.');
  }
  try {
    validateHeaderValue(name, value);
  } catch {
    throw wrong('the value has characters that no header may have.');
  }
  return [name, value];
}
