import { SaxesParser } from 'saxes';
import { RateFeedError } from './rate-source.port.ts';

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

/** JSON as feeds use it, with every number kept as the text it was written in. */
export type JsonText = string | boolean | null | JsonText[] | { [key: string]: JsonText };

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

// The compiler's library does not know the reviver's third argument yet (ECMAScript 2026); the runtime has it.
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => JsonText;

/**
 * Parses a feed without letting a rate become a float: JSON.parse would read 0.30000000000000004 and 0.3 as it likes and
 * drop digits past the 17th, so each number is replaced by its source text. A number and a string holding the same digits
 * read alike afterwards, which suits feeds: some quote their rates, some do not.
 * Of a key repeated inside one object the last one counts, as in every JSON reader; the guard band catches what matters.
 */
export function parseJsonText(source: string, text: string): JsonText {
  try {
    return parseWithSource(text, (_key, value, context) =>
      typeof value === 'number' ? (context.source ?? '') : value,
    );
  } catch (cause) {
    throw new RateFeedError(source, 'malformed', cause);
  }
}

/** Follows keys (and array indexes written as digits); only own properties count. */
export function valueAt(root: JsonText | undefined, path: readonly string[]): JsonText | undefined {
  let current = root;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, JsonText>)[key];
  }
  return current;
}

export function textAt(root: JsonText | undefined, path: readonly string[]): string | undefined {
  const value = valueAt(root, path);
  return typeof value === 'string' ? value : undefined;
}

export function isJsonObject(value: JsonText | undefined): value is { [key: string]: JsonText } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One start tag of a document, with the names of the elements around it (outermost first). */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly ancestors: readonly string[];
}

export class XmlSyntaxError extends Error {
  override readonly name = 'XmlSyntaxError';
}

const MAX_DEPTH = 32;

/**
 * Lists the elements of a small data document. Less than XML is read: no document type and no CDATA, so nothing can
 * expand or point elsewhere. Every element has to be closed, because a feed cut off in the middle must be refused as a
 * whole and not read up to the cut.
 */
export function listElements(text: string): XmlElement[] {
  const elements: XmlElement[] = [];
  const open: string[] = [];
  const parser = new SaxesParser();
  const refuse = () => {
    throw new XmlSyntaxError('document types and CDATA are not read');
  };
  parser.on('doctype', refuse);
  parser.on('cdata', refuse);
  parser.on('opentag', ({ name, attributes }) => {
    elements.push({ name, attributes, ancestors: [...open] });
    open.push(name);
    if (open.length > MAX_DEPTH) throw new XmlSyntaxError('nested too deeply');
  });
  parser.on('closetag', () => void open.pop());
  try {
    parser.write(text).close();
  } catch (cause) {
    throw cause instanceof XmlSyntaxError ? cause : new XmlSyntaxError('not well-formed', { cause });
  }
  return elements;
}
