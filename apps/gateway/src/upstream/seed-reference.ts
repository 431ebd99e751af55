import { loadReferenceFiles } from '@causeway/currencies';
import { type Database, SYSTEM } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import {
  keepSeededDigest,
  lockReference,
  removeUnseededRecords,
  seededDigest,
  seedReferenceRecords,
} from './reference.store.ts';
import { digestOf, recordsOf } from './reference-records.ts';

/**
 * Brings the reference data of the files into the database at start. Several processes may start at once; what an
 * operator has changed stays. Answers whether anything was written.
 */
export async function seedReference(db: Database, clock: Clock): Promise<boolean> {
  const records = recordsOf(loadReferenceFiles());
  const digest = digestOf(records);
  return db.transaction(SYSTEM, async (tx) => {
    const [, [seeded]] = await tx.queryBoth(lockReference, [], seededDigest, ['reference_seed']);
    if (seeded?.digest === digest) return false;
    const at = clock.date();
    const kinds = records.map(({ kind }) => kind);
    const ids = records.map(({ id }) => id);
    const positions = records.map((_record, index) => index);
    const data = records.map((record) => JSON.stringify(record.data));
    tx.defer(seedReferenceRecords, [kinds, ids, positions, data, at]);
    tx.defer(removeUnseededRecords, [kinds, ids]);
    await tx.query(keepSeededDigest, ['reference_seed', digest, at]);
    return true;
  });
}
