import { buildCatalogue, type CatalogueOptions, parseReferenceData } from '@causeway/currencies';
import { Agent } from 'undici';
import type { Logger } from '../lib/logger.ts';
import {
  type Currencies,
  type CurrenciesSnapshot,
  currenciesUnavailable,
  type ReferenceSnapshot,
} from './currencies.port.ts';
import { askForSnapshot, type ReceivedSnapshot } from './http-snapshot.ts';
import { DEFAULT_MAX_RATE_AGE_MS } from './in-process-currencies.ts';
import { RateTable } from './rate-table.ts';

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
