import { OfferBook, type OfferRows, parseWireRows } from '@causeway/offers';
import { isUuid } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logger.ts';
import { type OfferBooks, offersUnavailable } from '../../ports/offers.ts';
import { createSnapshotClient } from '../snapshot-client.ts';

export interface HttpOffersOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly logger: Logger;
  /** Machine time. */
  readonly wall: () => number;
  /**
   * The vendors this gateway can settle with: it has to know their wallets. Offers of others are left out. Asked with
   * every new snapshot.
   */
  readonly knownVendorIds?: () => Promise<ReadonlySet<string>>;
  readonly pollMs?: number;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly maxAgeMs?: number;
}

const DEFAULT_POLL_MS = 500;
const DEFAULT_TIMEOUT_MS = 2_000;
const DEFAULT_MAX_BYTES = 64 * 1_024 * 1_024;
/** Offers that were not confirmed for so long are not quoted any more. */
const DEFAULT_MAX_AGE_MS = 60_000;
/** In one line of the log. */
const MOST_TOLD = 20;

/** An offers backend of its own, reached over HTTP and asked twice a second. A book that is too old is not quoted from. */
export function createHttpOffers(options: HttpOffersOptions): OfferBooks {
  const { logger, wall } = options;
  const maxAgeMs = options.maxAgeMs ?? DEFAULT_MAX_AGE_MS;
  const reactions: (() => void)[] = [];
  let book: OfferBook | undefined;

  const client = createSnapshotClient<OfferRows>({
    backend: 'the offers backend',
    url: () => `${options.baseUrl}/snapshot`,
    logger,
    wall,
    pollMs: options.pollMs ?? DEFAULT_POLL_MS,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
    read: (body) => settleable(parseWireRows(body)),
    use(rows) {
      book = OfferBook.of(rows);
      const problems = book.problems();
      if (problems.length > 0) logger.warn({ problems }, 'offers that cannot be used');
      for (const react of reactions) react();
    },
  });

  async function settleable(rows: OfferRows): Promise<OfferRows> {
    const known = await options.knownVendorIds?.();
    if (known === undefined) return rows;
    const strangers = rows.vendors.filter(({ vendorId }) => !known.has(vendorId)).map(({ name }) => name);
    if (strangers.length > 0) logger.warn({ vendors: strangers }, 'vendors that this gateway does not know');
    // Quotes and reservations name the offer, and the database has its id as a UUID.
    const unnamed = rows.offers.filter(({ offerId }) => !isUuid(offerId)).map(({ offerId }) => offerId);
    if (unnamed.length > 0)
      logger.warn({ offers: unnamed.slice(0, MOST_TOLD) }, 'offers whose id is not a UUID');
    return {
      vendors: rows.vendors.filter(({ vendorId }) => known.has(vendorId)),
      offers: rows.offers.filter(({ vendorId, offerId }) => known.has(vendorId) && isUuid(offerId)),
    };
  }

  return {
    book() {
      if (book === undefined || wall() - client.confirmedAt() > maxAgeMs) throw offersUnavailable();
      return book;
    },
    onChange(react) {
      reactions.push(react);
    },
    start: client.start,
    stop: client.stop,
  };
}
