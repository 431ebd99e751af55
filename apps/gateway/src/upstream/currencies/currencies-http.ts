import {
  buildCatalogue,
  type CatalogueOptions,
  parseReferenceData,
  type RateReading,
} from '@causeway/currencies';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { Agent, type Dispatcher, request } from 'undici';
import type { Logger } from '../../lib/logger.ts';
import {
  type Currencies,
  type CurrenciesSnapshot,
  currenciesUnavailable,
  type ReferenceSnapshot,
} from '../../ports/currencies.ts';
import { parsePublishedLegs } from '../rates/rate-publisher.ts';
import { RateTable } from '../rates/rate-table.ts';
import { DEFAULT_MAX_RATE_AGE_MS } from './currencies-in-process.ts';

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

export interface HttpCurrenciesOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly logger: Logger;
  /** Machine time. */
  readonly wall: () => number;
  readonly catalogue?: CatalogueOptions;
  readonly pollMs?: number;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly maxRateAgeMs?: number;
}

const DEFAULT_POLL_MS = 1_000;
const DEFAULT_TIMEOUT_MS = 2_000;
const DEFAULT_MAX_BYTES = 32 * 1_024 * 1_024;
/** A few missed polls are nothing to tell anybody. */
const TOLD_AGE_SECONDS = 5;

/**
 * A currencies backend of its own, reached over HTTP and asked every second. While it is slow, down or talks
 * nonsense the last good snapshot stays in use and grows old; its texts go to the log and nowhere else.
 */
export function createHttpCurrencies(options: HttpCurrenciesOptions): Currencies {
  const { logger, wall } = options;
  const pollMs = options.pollMs ?? DEFAULT_POLL_MS;
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const maxRateAgeMs = options.maxRateAgeMs ?? DEFAULT_MAX_RATE_AGE_MS;
  const agent = new Agent({ connections: 1, connect: { timeout: timeoutMs } });
  const stopping = new AbortController();
  const reactions: (() => void)[] = [];
  let reference: ReferenceSnapshot | undefined;
  let rates = RateTable.empty;
  let etag: string | undefined;
  let confirmedAt = 0;
  let failing = false;
  let snapshot: CurrenciesSnapshot | undefined;
  let timer: NodeJS.Timeout | undefined;
  let polling: Promise<void> = Promise.resolve();

  async function pull(): Promise<void> {
    const received = await askForSnapshot({
      url: `${options.baseUrl}/snapshot`,
      dispatcher: agent,
      signal: stopping.signal,
      timeoutMs,
      maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
      knownReference: reference?.version,
      etag,
    });
    if (received === 'unchanged') confirmedAt = wall();
    else take(received);
  }

  function take(received: ReceivedSnapshot): void {
    const next = referenceOf(received);
    confirmedAt = wall();
    etag = received.etag;
    const ratesMoved = JSON.stringify(received.legs) !== JSON.stringify(rates.legs);
    // Our own time of receipt: the clock of the other machine may be wrong.
    if (ratesMoved) rates = new RateTable({ publishedAt: wall(), legs: received.legs });
    if (!ratesMoved && next === reference) return;
    reference = next;
    snapshot = undefined;
    for (const react of reactions) react();
  }

  function referenceOf({ referenceVersion: version, reference: data }: ReceivedSnapshot): ReferenceSnapshot {
    if (reference?.version === version) return reference;
    if (data === null)
      throw new Error('the currencies backend left out reference data that is not known here');
    return { version, catalogue: buildCatalogue(parseReferenceData(data), options.catalogue) };
  }

  async function poll(): Promise<void> {
    try {
      await pull();
      if (failing) logger.info('the currencies backend answers again');
      failing = false;
    } catch (error) {
      if (stopping.signal.aborted) return;
      // Once for each outage, not once a second.
      if (!failing)
        logger.error({ err: error }, 'the currencies backend failed; the last snapshot stays in use');
      failing = true;
    }
  }

  function schedule(): void {
    if (stopping.signal.aborted) return;
    timer = setTimeout(() => {
      polling = poll().finally(schedule);
    }, pollMs);
    timer.unref();
  }

  return {
    current() {
      if (reference === undefined) throw currenciesUnavailable();
      const age = Math.floor((wall() - confirmedAt) / 1_000);
      const ageSeconds = age > TOLD_AGE_SECONDS ? age : 0;
      const standing = wall() - confirmedAt > maxRateAgeMs ? rates.outdated() : rates;
      if (snapshot === undefined || snapshot.rates !== standing || snapshot.ageSeconds !== ageSeconds) {
        snapshot = { reference, rates: standing, ageSeconds };
      }
      return snapshot;
    },
    onChange(react) {
      reactions.push(react);
    },
    async start() {
      polling = poll();
      await polling;
      schedule();
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await polling;
      await agent.destroy();
    },
  };
}
