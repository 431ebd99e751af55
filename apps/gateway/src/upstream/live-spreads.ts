import { type Database, SYSTEM } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import type { Logger } from '../lib/logger.ts';
import { coalesce } from './coalesce.ts';
import { allReferenceRecords } from './reference.store.ts';
import { loadSpreadRecords, SpreadTable } from './spreads.ts';

export interface LiveSpreads {
  /** Another object after every change. */
  current(): SpreadTable;
  start(): Promise<void>;
}

/** The spreads as the operator last set them, in every process within a second. */
export function createLiveSpreads(db: Database, listener: Listener, logger: Logger): LiveSpreads {
  let table = new SpreadTable(loadSpreadRecords());
  let known = '';

  const load = coalesce(async () => {
    const rows = (await db.query(SYSTEM, allReferenceRecords, [])).filter(({ kind }) => kind === 'spreads');
    const text = JSON.stringify(rows);
    if (rows.length === 0 || text === known) return;
    table = new SpreadTable(rows);
    known = text;
  });

  const refresh = () => {
    load().catch((error) => logger.error({ err: error }, 'refreshing spreads failed'));
  };
  listener.on('reference_changed', refresh);
  listener.onConnected(refresh);

  return { current: () => table, start: load };
}
