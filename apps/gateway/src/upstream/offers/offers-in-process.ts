import { type Offer, OfferBook, type Vendor } from '@causeway/offers';
import { type Database, SYSTEM } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import { coalesce } from '../../lib/coalesce.ts';
import type { Logger } from '../../lib/logger.ts';
import { type Offers, offersUnavailable } from '../../ports/offers.ts';
import {
  allVendors,
  type ChangedOfferRow,
  changedOffers,
  consumeReservation,
  endReservations,
  endReservationsOfQuotes,
  type OfferBookRow,
  offerOf,
  offersById,
  releaseReservation,
  reserveOffer,
  vendorOf,
} from './offers.store.ts';

export interface InProcessOffersOptions {
  readonly db: Database;
  /** Not started yet: what is listened for is named before it connects. */
  readonly listener: Listener;
  readonly logger: Logger;
  /** A change whose announcement was lost, with the process that made it, is seen by then. */
  readonly lookMs?: number;
}

/** Every order changes the balance of an offer; on a busy day they are read together. */
const REFRESH_SPACING_MS = 200;
const DEFAULT_LOOK_MS = 5_000;
/** Before every transaction there ever was. */
const BEGINNING = '0';

/** The default adapter: vendors and offers are in PostgreSQL, notifications say which offer to look at again. */
export function createInProcessOffers(options: InProcessOffersOptions): Offers {
  const { db, listener, logger, lookMs = DEFAULT_LOOK_MS } = options;
  const reactions: (() => void)[] = [];
  let book: OfferBook | undefined;
  let since = BEGINNING;
  let told = new Set<string>();
  /** Not only what was told: at first, after a lost connection, where vendors or offers are new, and now and then. */
  let wantsAll = true;
  let looking: NodeJS.Timeout | undefined;

  /** Offers before vendors: a vendor is there before its offers, so every offer finds its vendor. */
  async function readChanges(): Promise<{ rows: readonly OfferBookRow[]; vendors: readonly Vendor[] }> {
    const [isForAll, ids] = [wantsAll, [...told]];
    wantsAll = false;
    told = new Set();
    try {
      if (!isForAll) {
        const rows = ids.length === 0 ? [] : await db.query(SYSTEM, offersById, [ids]);
        return { rows, vendors: [] };
      }
      const changed = await db.query(SYSTEM, changedOffers, [since]);
      const vendors = (await db.query(SYSTEM, allVendors, [])).map(vendorOf);
      since = changed[0]?.horizon ?? since;
      return { rows: changed.filter(isOffer), vendors };
    } catch (error) {
      wantsAll = true;
      throw error;
    }
  }

  const load = coalesce(async () => {
    const { rows, vendors } = await readChanges();
    const before = book ?? OfferBook.empty;
    const changes = {
      vendors: vendors.filter((vendor) => !isSameVendor(before.vendor(vendor.vendorId), vendor)),
      offers: rows
        .filter(({ withdrawn }) => !withdrawn)
        .map(offerOf)
        .filter((offer) => !isSameOffer(before.offer(offer.offerId), offer)),
      removedOfferIds: rows
        .filter(({ withdrawn, offer_id }) => withdrawn && before.offer(offer_id) !== undefined)
        .map(({ offer_id }) => offer_id),
    };
    const isUnchanged = changes.vendors.length + changes.offers.length + changes.removedOfferIds.length === 0;
    if (book !== undefined && isUnchanged) return;
    book = before.withChanged(changes);
    reportProblems(book, changes.offers);
    for (const react of reactions) react();
  }, REFRESH_SPACING_MS);

  function reportProblems(loaded: OfferBook, offers: readonly Offer[]): void {
    const ids = new Set(offers.map(({ offerId }) => offerId));
    const problems = loaded.problems().filter(({ offerId }) => ids.has(offerId));
    if (problems.length > 0) logger.warn({ problems }, 'offers that cannot be used');
  }

  function refresh(): void {
    // The last good book stays in use; reservations are judged by the database in any case.
    load().catch((error) => logger.error({ err: error }, 'refreshing offers failed'));
  }

  function refreshAll(): void {
    wantsAll = true;
    refresh();
  }

  listener.on('offers_changed', (offerId) => {
    // A new offer seldom comes alone, and may be of a new vendor.
    if (book?.offer(offerId) === undefined) wantsAll = true;
    else told.add(offerId);
    refresh();
  });
  listener.onConnected(refreshAll);

  return {
    book() {
      if (book === undefined) throw offersUnavailable();
      return book;
    },
    onChange(react) {
      reactions.push(react);
    },
    start() {
      looking = setInterval(refreshAll, lookMs).unref();
      // A connection may have been there before the offers.
      wantsAll = true;
      return load();
    },
    async stop() {
      clearInterval(looking);
    },
    reservations: {
      async reserve(quoteId, offerId, crypto) {
        const [row] = await db.query(SYSTEM, reserveOffer, [quoteId, offerId, crypto]);
        return row?.reserved === true;
      },
      async release(quoteId, offerId) {
        await db.query(SYSTEM, releaseReservation, [quoteId, offerId]);
      },
      async consume(quoteId, offerId) {
        await db.query(SYSTEM, consumeReservation, [quoteId, offerId]);
      },
      async endFinished({ settled, stopped, abandonedAfterMs, limit, quoteIds }) {
        const [row] =
          quoteIds === undefined
            ? await db.query(SYSTEM, endReservations, [settled, stopped, abandonedAfterMs, limit])
            : await db.query(SYSTEM, endReservationsOfQuotes, [settled, stopped, abandonedAfterMs, quoteIds]);
        return Number(row?.ended ?? 0);
      },
    },
    ownsOffers: true,
  };
}

function isOffer(row: ChangedOfferRow): row is OfferBookRow & ChangedOfferRow {
  return row.offer_id !== null;
}

/** The look-back overlaps: most of what it brings is known already. */
function isSameOffer(known: Offer | undefined, offer: Offer): boolean {
  return known?.version === offer.version;
}

function isSameVendor(known: Vendor | undefined, vendor: Vendor): boolean {
  return JSON.stringify(known) === JSON.stringify(vendor);
}
