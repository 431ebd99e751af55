import {
  buildCatalogue,
  type CatalogueOptions,
  parseReferenceData,
  type RateReading,
} from '@causeway/currencies';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Logger } from '../../lib/logger.ts';
import {
  type Currencies,
  type CurrenciesSnapshot,
  currenciesUnavailable,
  type ReferenceSnapshot,
} from '../../ports/currencies.ts';
import { parsePublishedLegs } from '../rates/rate-publisher.ts';
import { RateTable } from '../rates/rate-table.ts';
import { createSnapshotClient } from '../snapshot-client.ts';
import { DEFAULT_MAX_RATE_AGE_MS } from './currencies-in-process.ts';

interface ReceivedSnapshot {
  readonly reference: ReferenceSnapshot;
  readonly legs: readonly RateReading[];
}

const snapshotBody = Compile(
  Type.Object({
    reference_version: Type.String({ minLength: 1, maxLength: 200 }),
    /** Null where the version is the known one. */
    reference: Type.Union([Type.Object({}), Type.Null()]),
    legs: Type.Array(Type.Unknown()),
  }),
);

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
/** A few missed polls are not worth a log line. */
const TOLD_AGE_SECONDS = 5;

/** A currencies backend of its own, reached over HTTP and asked every second. */
export function createHttpCurrencies(options: HttpCurrenciesOptions): Currencies {
  const { logger, wall, baseUrl } = options;
  const maxRateAgeMs = options.maxRateAgeMs ?? DEFAULT_MAX_RATE_AGE_MS;
  const reactions: (() => void)[] = [];
  let reference: ReferenceSnapshot | undefined;
  let rates = RateTable.empty;
  let snapshot: CurrenciesSnapshot | undefined;

  const client = createSnapshotClient<ReceivedSnapshot>({
    backend: 'the currencies backend',
    url() {
      const known =
        reference === undefined ? '' : `?known_reference=${encodeURIComponent(reference.version)}`;
      return `${baseUrl}/snapshot${known}`;
    },
    logger,
    wall,
    pollMs: options.pollMs ?? DEFAULT_POLL_MS,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
    read: (body) => readSnapshot(body, reference, options.catalogue),
    use(received) {
      const ratesMoved = JSON.stringify(received.legs) !== JSON.stringify(rates.legs);
      // Our own time of receipt: the clock of the other machine may be wrong.
      if (ratesMoved) rates = new RateTable({ publishedAt: wall(), legs: received.legs });
      if (!ratesMoved && received.reference === reference) return;
      reference = received.reference;
      snapshot = undefined;
      for (const react of reactions) react();
    },
  });

  return {
    current() {
      if (reference === undefined) throw currenciesUnavailable();
      const ageMs = wall() - client.confirmedAt();
      const age = Math.floor(ageMs / 1_000);
      const ageSeconds = age > TOLD_AGE_SECONDS ? age : 0;
      const standing = ageMs > maxRateAgeMs ? rates.outdated() : rates;
      if (snapshot === undefined || snapshot.rates !== standing || snapshot.ageSeconds !== ageSeconds) {
        snapshot = { reference, rates: standing, ageSeconds };
      }
      return snapshot;
    },
    onChange(react) {
      reactions.push(react);
    },
    start: client.start,
    stop: client.stop,
  };
}

/** Read with distrust: what does not hold together is no snapshot. */
function readSnapshot(
  body: unknown,
  known: ReferenceSnapshot | undefined,
  catalogue: CatalogueOptions | undefined,
): ReceivedSnapshot {
  if (!snapshotBody.Check(body)) throw noSnapshot();
  const { reference_version: version, reference: data } = body;
  const legs = parsePublishedLegs(body.legs);
  if (legs === undefined) throw noSnapshot();
  if (known?.version === version) return { reference: known, legs };
  if (data === null) {
    throw new Error('the currencies backend left out reference data that is not known here');
  }
  return { reference: { version, catalogue: buildCatalogue(parseReferenceData(data), catalogue) }, legs };
}

function noSnapshot(): Error {
  return new Error('the currencies backend answered something that is no snapshot');
}
