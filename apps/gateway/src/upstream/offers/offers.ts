import { type Database, SYSTEM } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Offers } from '../../ports/offers.ts';
import { allVendors } from './offers.store.ts';
import { createHttpOffers } from './offers-http.ts';
import { createInProcessOffers } from './offers-in-process.ts';
import { createRemoteReservations } from './remote-reservations.ts';

export interface OffersPartsOptions {
  readonly db: Database;
  /** Not started yet: what is listened for is named before it connects. */
  readonly listener: Listener;
  readonly logger: Logger;
  /** Machine time. */
  readonly wall: () => number;
  /** A remote backend; without it offers are in the database. */
  readonly offersUrl: string | undefined;
}

export function createOffers({ db, listener, logger, wall, offersUrl }: OffersPartsOptions): Offers {
  if (offersUrl === undefined) return createInProcessOffers({ db, listener, logger });
  const books = createHttpOffers({
    baseUrl: offersUrl,
    logger,
    wall,
    knownVendorIds: async () =>
      new Set((await db.query(SYSTEM, allVendors, [])).map(({ vendor_id }) => vendor_id)),
  });
  const reservations = createRemoteReservations({ db, baseUrl: offersUrl, logger });
  return {
    ...books,
    reservations,
    ownsOffers: false,
    async stop() {
      await books.stop();
      await reservations.close();
    },
  };
}
