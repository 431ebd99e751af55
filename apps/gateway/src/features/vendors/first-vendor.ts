import { CausewayError } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { listVendors } from './vendor.store.ts';

/** Who serves the walking skeleton's corridor; the offers backend replaces this file. Read once. */
export function firstVendorId(db: Database): () => Promise<string> {
  let known: string | undefined;
  return async () => {
    known ??= (await db.query(SYSTEM, listVendors, []))[0]?.vendor_id;
    if (known === undefined) throw new CausewayError('NO_OFFERS_AVAILABLE');
    return known;
  };
}
