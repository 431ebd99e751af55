import type { RateReading } from '@causeway/currencies';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { type Dispatcher, request } from 'undici';
import { parsePublishedLegs } from './published-legs.ts';

/** One question to a remote currencies backend, and its answer read with distrust. */
export interface SnapshotQuestion {
  readonly url: string;
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly knownReference: string | undefined;
  readonly etag: string | undefined;
}

export interface ReceivedSnapshot {
  readonly etag: string | undefined;
  readonly referenceVersion: string;
  /** Null where the version is the known one. Not validated yet. */
  readonly reference: object | null;
  readonly legs: readonly RateReading[];
}

const snapshotBody = Compile(
  Type.Object({
    reference_version: Type.String({ minLength: 1, maxLength: 200 }),
    reference: Type.Union([Type.Object({}), Type.Null()]),
    legs: Type.Array(Type.Unknown()),
  }),
);

/** Answers `unchanged`, a snapshot, or an error for the log. */
export async function askForSnapshot(question: SnapshotQuestion): Promise<ReceivedSnapshot | 'unchanged'> {
  const { timeoutMs, knownReference, etag } = question;
  const known = knownReference === undefined ? '' : `?known_reference=${encodeURIComponent(knownReference)}`;
  const response = await request(`${question.url}${known}`, {
    dispatcher: question.dispatcher,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    // The whole call, however slowly the bytes come.
    signal: AbortSignal.any([question.signal, AbortSignal.timeout(timeoutMs)]),
    headers: { accept: 'application/json', ...(etag === undefined ? {} : { 'if-none-match': etag }) },
  });
  if (response.statusCode === 304 && knownReference !== undefined) {
    await response.body.dump();
    return 'unchanged';
  }
  if (response.statusCode !== 200) {
    await response.body.dump();
    throw new Error(`the currencies backend answered ${response.statusCode}`);
  }
  const text = await readCapped(response.body, question.maxBytes);
  const { etag: tag } = response.headers;
  return readSnapshot(text, typeof tag === 'string' ? tag : undefined);
}

function readSnapshot(text: string, etag: string | undefined): ReceivedSnapshot {
  const body: unknown = JSON.parse(text);
  if (snapshotBody.Check(body)) {
    const legs = parsePublishedLegs(body.legs);
    if (legs !== undefined) {
      return { etag, referenceVersion: body.reference_version, reference: body.reference, legs };
    }
  }
  throw new Error('the currencies backend answered something that is no snapshot');
}

async function readCapped(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the currencies backend answered more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
