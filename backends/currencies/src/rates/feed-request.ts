import { RateFeedError } from './rate-feed.error.ts';

export interface FeedRequest {
  readonly source: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Media types the answer may have, without parameters. */
  readonly contentTypes: readonly string[];
  /** For the whole exchange, body included. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

/**
 * Reads one feed as text. The platform's own `fetch` is used and not undici: a feed is read a few times a minute, so
 * throughput does not matter and this workspace stays without a dependency. What `fetch` lacks is added here: a time limit over headers
 * and body together, a cap on the bytes after decompression, no redirects (a feed that moved is a change of
 * configuration), and strict UTF-8.
 */
export async function readFeed(request: FeedRequest, signal: AbortSignal): Promise<string> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const combined = AbortSignal.any([signal, timeout]);
  const fail = (fallback: 'unreachable' | 'interrupted', cause: unknown): RateFeedError => {
    if (cause instanceof RateFeedError) return cause;
    if (signal.aborted) return new RateFeedError(request.source, 'aborted', cause);
    return new RateFeedError(request.source, timeout.aborted ? 'timeout' : fallback, cause);
  };
  let response: Response;
  try {
    response = await fetch(request.url, {
      headers: { accept: request.contentTypes.join(', '), ...request.headers },
      redirect: 'error',
      signal: combined,
    });
  } catch (cause) {
    throw fail('unreachable', cause);
  }
  try {
    assertAcceptable(request, response);
    return await readCapped(request, response);
  } catch (cause) {
    // A refused answer may still be arriving: letting go of it frees its connection.
    await response.body?.cancel().catch(() => undefined);
    throw fail('interrupted', cause);
  }
}

function assertAcceptable(request: FeedRequest, response: Response): void {
  if (response.status !== 200) throw new RateFeedError(request.source, 'status');
  const mediaType = (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (!request.contentTypes.includes(mediaType)) throw new RateFeedError(request.source, 'content-type');
}

async function readCapped(request: FeedRequest, response: Response): Promise<string> {
  if (response.body === null) throw new RateFeedError(request.source, 'empty');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let received = 0;
  let text = '';
  // Leaving the loop by an exception cancels the stream, so an endless answer stops at the cap.
  for await (const chunk of response.body) {
    received += chunk.byteLength;
    if (received > request.maxBytes) throw new RateFeedError(request.source, 'too-large');
    text += decode(request.source, () => decoder.decode(chunk, { stream: true }));
  }
  return text + decode(request.source, () => decoder.decode());
}

function decode(source: string, read: () => string): string {
  try {
    return read();
  } catch (cause) {
    throw new RateFeedError(source, 'malformed', cause);
  }
}
