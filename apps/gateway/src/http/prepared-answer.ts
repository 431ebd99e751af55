import { hash } from 'node:crypto';
import type { OutgoingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { NoteAnswer } from './measurement.ts';

/**
 * An answer that is serialised once and sent many times. Compressed forms are made when they are first asked for
 * them; each form is a representation of its own and has a strong ETag of its own.
 */
export interface PreparedAnswer {
  readonly byteLength: number;
  variant(encoding: Encoding): Variant;
  /** Makes that form beside the main thread: for a body so large that others would wait for it. */
  prepare(encoding: Encoding): Promise<void>;
  /** The tag in an If-None-Match list that names one of our forms, if any does. */
  matchingTag(ifNoneMatch: string): string | undefined;
}

export interface PreparedReading {
  readonly answer: PreparedAnswer;
  /** How old the data is when it should have been refreshed and was not; 0 when it is current. */
  readonly ageSeconds: number;
}

export type Encoding = 'identity' | 'gzip' | 'br';

interface Variant {
  readonly body: Buffer;
  /**
   * A short body as text, a character a byte: the server then writes head and body at once instead of gathering two
   * buffers. A longer one costs more to copy than that saves.
   */
  readonly text: string | undefined;
  readonly etag: string;
  readonly encoding: Encoding;
  /** All that its answers have in common. */
  readonly headers: Readonly<Record<string, string>>;
}

const SHARED_HEADERS = { 'cache-control': 'public, max-age=0, must-revalidate', vary: 'accept-encoding' };
const SHORT_BYTES = 4_096;
/** Below this size a compressed answer fits in no fewer packets. */
const WORTH_COMPRESSING_BYTES = 1_024;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const TAG_LENGTH = 27;

export function prepareAnswer(data: unknown): PreparedAnswer {
  return prepareBytes(
    Buffer.from(JSON.stringify({ success: true, data })),
    'application/json; charset=utf-8',
  );
}

export function prepareBytes(body: Buffer, contentType: string): PreparedAnswer {
  const tag = hash('sha256', body, 'base64url').slice(0, TAG_LENGTH);
  const identity = variantOf(body, `"${tag}"`, 'identity', contentType);
  const compressed = new Map<Encoding, Variant>();
  const tags = new Set([identity.etag, `"${tag}-gzip"`, `"${tag}-br"`]);
  const isShort = body.length < WORTH_COMPRESSING_BYTES;
  const keep = (encoding: Encoding, bytes: Buffer) => {
    const variant = variantOf(bytes, `"${tag}-${encoding}"`, encoding, contentType);
    compressed.set(encoding, variant);
    return variant;
  };

  return {
    byteLength: body.length,
    variant(encoding) {
      if (encoding === 'identity' || isShort) return identity;
      return compressed.get(encoding) ?? keep(encoding, compress(body, encoding));
    },
    async prepare(encoding) {
      if (encoding === 'identity' || isShort || compressed.has(encoding)) return;
      keep(encoding, encoding === 'gzip' ? await gzipAside(body) : await brotliAside(body, BROTLI));
    },
    matchingTag(ifNoneMatch) {
      for (const part of ifNoneMatch.split(',')) {
        const candidate = part.trim().replace(/^W\//, '');
        if (tags.has(candidate)) return candidate;
      }
      return ifNoneMatch.trim() === '*' ? identity.etag : undefined;
    },
  };
}

function variantOf(body: Buffer, etag: string, encoding: Encoding, contentType: string): Variant {
  const headers = {
    ...SHARED_HEADERS,
    etag,
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    'content-type': contentType,
    'content-length': String(body.length),
  };
  return {
    body,
    text: body.length <= SHORT_BYTES ? body.toString('latin1') : undefined,
    etag,
    encoding,
    headers,
  };
}

function compress(body: Buffer, encoding: 'gzip' | 'br'): Buffer {
  if (encoding === 'gzip') return gzipSync(body);
  return brotliCompressSync(body, BROTLI);
}

const gzipAside = promisify(gzip) as (body: Buffer) => Promise<Buffer>;
const brotliAside = promisify(brotliCompress) as (body: Buffer, options: object) => Promise<Buffer>;

const EXPOSED_HEADERS =
  'etag, age, x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset';

/** Public reads are open to pages of any origin; set before anything can fail, so that errors are readable too. */
export function openToAnyOrigin(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*');
  // Only a page has an origin, and only a page has to be told which headers it may see.
  if (request.headers.origin !== undefined) reply.header('access-control-expose-headers', EXPOSED_HEADERS);
}

/**
 * Answers with what the client does not have yet. The whole head of such an answer is known, so it is written at once with
 * what the hooks have put on the reply; Fastify would look at each header and at the body again.
 */
export function sendPrepared(
  request: FastifyRequest,
  reply: FastifyReply,
  { answer, ageSeconds }: PreparedReading,
  noteAnswer: NoteAnswer,
): void {
  const { headers: asked } = request;
  const ifNoneMatch = asked['if-none-match'];
  const matched = ifNoneMatch === undefined ? undefined : answer.matchingTag(ifNoneMatch);
  const acceptEncoding = asked['accept-encoding'];
  const variant = answer.variant(acceptEncoding === undefined ? 'identity' : chooseEncoding(acceptEncoding));
  if (ageSeconds > 0) reply.header('age', ageSeconds);
  if (matched !== undefined) {
    reply.code(304).headers(SHARED_HEADERS).header('etag', matched).send();
    return;
  }
  if (request.method !== 'GET') {
    reply.headers(variant.headers).send(variant.body);
    return;
  }
  const head = { ...(reply.getHeaders() as OutgoingHttpHeaders), ...variant.headers };
  reply.hijack();
  reply.raw.writeHead(200, head);
  if (variant.text === undefined) reply.raw.end(variant.body);
  else reply.raw.end(variant.text, 'latin1');
  noteAnswer(request, 200);
}

const chosen = new Map<string, Encoding>();
const MAX_REMEMBERED_HEADERS = 200;

/** The smallest form the client takes. Clients send the same few headers over and over, so choices are remembered. */
export function chooseEncoding(acceptEncoding: string): Encoding {
  const known = chosen.get(acceptEncoding);
  if (known !== undefined) return known;
  const choice = readAcceptEncoding(acceptEncoding);
  if (chosen.size >= MAX_REMEMBERED_HEADERS) chosen.clear();
  chosen.set(acceptEncoding, choice);
  return choice;
}

function readAcceptEncoding(header: string): Encoding {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    if (name !== '') weights.set(name, Number(weight) || 0);
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const best = weightOf('br') >= weightOf('gzip') ? 'br' : 'gzip';
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : 'identity';
}
