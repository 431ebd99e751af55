import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../lib/logger.ts';
import { chooseEncoding, type PreparedAnswer, prepareBytes } from './prepared-answer.ts';

/**
 * The built files of an application of the browser, read and compressed once. They are built when they are first asked for: a
 * start does not wait, and later starts find what was built. A production install has no bundler and finds what was built before.
 */
export interface BuiltFiles<Build> {
  build(): Promise<Build>;
  /** Undefined where there is no such file. */
  find(name: string): Promise<PreparedAnswer | undefined>;
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};
/** A chunk is named after its module, whose name may have a dot. */
const FILE_NAME = /^[\w-]+(?:\.[\w-]+)*\.(js|css)$/;

export function createBuiltFiles<Build extends { readonly folder: string }>(
  logger: Logger,
  app: {
    readonly name: string;
    /** Of the build’s folder, where the files are. */
    readonly subfolder?: string;
    readonly build: () => Promise<Build>;
  },
): BuiltFiles<Build> {
  let building: Promise<Build> | undefined;
  const read = new Map<string, Promise<PreparedAnswer | undefined>>();

  const build = () => {
    building ??= app.build().catch((error: unknown) => {
      building = undefined;
      logger.error({ err: error }, `the ${app.name} cannot be served: it is not built`);
      throw error;
    });
    return building;
  };

  const load = async (name: string): Promise<PreparedAnswer | undefined> => {
    const { folder } = await build();
    try {
      const bytes = await readFile(join(folder, app.subfolder ?? '', name));
      return prepareBytes(bytes, TYPES[name.split('.').at(-1) ?? ''] ?? '');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  };

  return {
    build,
    async find(name) {
      if (!FILE_NAME.test(name)) return undefined;
      const reading = read.get(name) ?? load(name);
      read.set(name, reading);
      const found = await reading.catch((error: unknown) => {
        read.delete(name);
        throw error;
      });
      // Names that lead nowhere are without number.
      if (found === undefined) read.delete(name);
      return found;
    },
  };
}

/** Named for what is in them, so that a browser never asks again. */
export const IMMUTABLE = 'public, max-age=31536000, immutable';

export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: PreparedAnswer,
  caching: string,
): Promise<FastifyReply> {
  const encoding = chooseEncoding(request.headers['accept-encoding'] ?? '');
  await answer.prepare(encoding);
  const { headers, body, etag } = answer.variant(encoding);
  if (caching === 'no-store') {
    const { etag: _, ...without } = headers;
    return reply.headers({ ...without, 'cache-control': caching }).send(body);
  }
  const matched = answer.matchingTag(request.headers['if-none-match'] ?? '');
  if (matched !== undefined) {
    return reply
      .code(304)
      .headers({ 'cache-control': caching, vary: 'accept-encoding', etag: matched })
      .send();
  }
  return reply.headers({ ...headers, etag, 'cache-control': caching }).send(body);
}
