import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * An answer that is serialised once and sent many times. Compressed forms are made when somebody first asks for
 * them; each form is a representation of its own and has a strong ETag of its own.
 */
export interface PreparedAnswer {
  readonly byteLength: number;
  variant(encoding: Encoding): Variant;
  /** The tag in an If-None-Match list that names one of our forms, if any does. */
  matchingTag(ifNoneMatch: string): string | undefined;
}

export type Encoding = 'identity' | 'gzip' | 'br';

interface Variant {
  /** A short plain answer is a string: the server then writes head and body at once instead of gathering two buffers. */
  readonly body: Buffer | string;
  readonly etag: string;
  readonly encoding: Encoding;
}

const SHORT_BYTES = 16_384;
/** Below this size a compressed answer fits in no fewer packets. */
const WORTH_COMPRESSING_BYTES = 1_024;
const BROTLI_QUALITY = 5;
const TAG_LENGTH = 27;

export function prepareAnswer(data: unknown): PreparedAnswer {
  const text = JSON.stringify({ success: true, data });
  const body = Buffer.from(text);
  const tag = createHash('sha256').update(body).digest('base64url').slice(0, TAG_LENGTH);
  const identity: Variant = {
    // As many bytes as characters: plain ASCII, which needs no encoding on the way out.
    body: body.length <= SHORT_BYTES && body.length === text.length ? text : body,
    etag: `"${tag}"`,
    encoding: 'identity',
  };
  const compressed = new Map<Encoding, Variant>();
  const tags = new Set([identity.etag, `"${tag}-gzip"`, `"${tag}-br"`]);

  return {
    byteLength: body.length,
    variant(encoding) {
      if (encoding === 'identity' || body.length < WORTH_COMPRESSING_BYTES) return identity;
      let variant = compressed.get(encoding);
      if (variant === undefined) {
        variant = { body: compress(body, encoding), etag: `"${tag}-${encoding}"`, encoding };
        compressed.set(encoding, variant);
      }
      return variant;
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

function compress(body: Buffer, encoding: 'gzip' | 'br'): Buffer {
  if (encoding === 'gzip') return gzipSync(body);
  return brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}

const CACHE_CONTROL = 'public, max-age=0, must-revalidate';
const EXPOSED_HEADERS =
  'etag, age, x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset';

/** Public reads are open to pages of any origin; set before anything can fail, so that errors are readable too. */
export function openToAnyOrigin(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*');
  // Only a page has an origin, and only a page has to be told which headers it may see.
  if (request.headers.origin !== undefined) reply.header('access-control-expose-headers', EXPOSED_HEADERS);
}

export function sendPrepared(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: PreparedAnswer,
  ageSeconds: number,
): FastifyReply {
  const { headers } = request;
  reply.header('cache-control', CACHE_CONTROL);
  reply.header('vary', 'accept-encoding');
  if (ageSeconds > 0) reply.header('age', ageSeconds);
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch !== undefined) {
    const matched = answer.matchingTag(ifNoneMatch);
    if (matched !== undefined) return reply.code(304).header('etag', matched).send();
  }
  const acceptEncoding = headers['accept-encoding'];
  const variant = answer.variant(acceptEncoding === undefined ? 'identity' : chooseEncoding(acceptEncoding));
  reply.header('etag', variant.etag);
  if (variant.encoding !== 'identity') reply.header('content-encoding', variant.encoding);
  reply.header('content-type', 'application/json; charset=utf-8');
  return reply.send(variant.body);
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
