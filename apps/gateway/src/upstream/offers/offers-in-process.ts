import { type Offer, OfferBook, type Vendor } from '@causeway/offers';
import { type Database, SYSTEM, violatedConstraint } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import { coalesce } from '../../lib/coalesce.ts';
import type { Logger } from '../../lib/logger.ts';
import { type Offers, offersUnavailable } from '../../ports/offers.ts';
import {
  allVendors,
  changedOffers,
  consumeReservation,
  endReservations,
  endReservationsOfQuotes,
  type OfferBookRow,
  offerOf,
  releaseReservation,
  reserveOffer,
  vendorOf,
} from './offers.store.ts';

export interface InProcessOffersOptions {
  readonly db: Database;
  /** Not started yet: what is listened for is named before it connects. */
  readonly listener: Listener;
  readonly logger: Logger;
}

/** Every order changes the balance of an offer; on a busy day they are read together. */
const REFRESH_SPACING_MS = 200;
/** Before every transaction there ever was. */
const BEGINNING = '0';

/** The default adapter: vendors and offers are in PostgreSQL, notifications say when to look again. */
export function createInProcessOffers({ db, listener, logger }: InProcessOffersOptions): Offers {
  const reactions: (() => void)[] = [];
  let book: OfferBook | undefined;
  let since = BEGINNING;

  const load = coalesce(async () => {
    // Offers first: a vendor is there before its offers, so every offer finds its vendor.
    const rows = await db.query(SYSTEM, changedOffers, [since]);
    const vendors = (await db.query(SYSTEM, allVendors, [])).map(vendorOf);
    const before = book ?? OfferBook.empty;
    const changed = rows.filter(isOffer).filter(({ withdrawn }) => !withdrawn);
    const changes = {
      vendors: vendors.filter((vendor) => !isSameVendor(before.vendor(vendor.vendorId), vendor)),
      offers: changed.map(offerOf).filter((offer) => !isSameOffer(before.offer(offer.offerId), offer)),
      removedOfferIds: rows
        .filter(isOffer)
        .filter(({ withdrawn, offer_id }) => withdrawn && before.offer(offer_id) !== undefined)
        .map(({ offer_id }) => offer_id),
    };
    since = rows[0]?.horizon ?? since;
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

  listener.on('offers_changed', refresh);
  listener.onConnected(refresh);

  return {
    book() {
      if (book === undefined) throw offersUnavailable();
      return book;
    },
    onChange(react) {
      reactions.push(react);
    },
    start: load,
    async stop() {},
    reservations: {
      async reserve(quoteId, offerId, crypto) {
        const reserve = () => db.query(SYSTEM, reserveOffer, [quoteId, offerId, crypto]);
        const [row] = await reserve().catch((error: unknown) => {
          if (violatedConstraint(error) !== 'offer_reservations_pkey') throw error;
          // The same quote was reserved for at the same moment; that reservation is found now.
          return reserve();
        });
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

function isOffer(row: OfferBookRow): row is OfferBookRow & { offer_id: string } {
  return row.offer_id !== null;
}

/** The look-back overlaps: most of what it brings is known already. */
function isSameOffer(known: Offer | undefined, offer: Offer): boolean {
  return known?.version === offer.version;
}

function isSameVendor(known: Vendor | undefined, vendor: Vendor): boolean {
  return JSON.stringify(known) === JSON.stringify(vendor);
}
