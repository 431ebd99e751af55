import { SYSTEM } from '../../db/database.ts';
import { type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import { smaller } from '../../lib/bigints.ts';
import { answered } from '../transactions/transaction-rpc.ts';
import { reportFacts } from './report-facts.ts';
import { type Cursor, finishCatchingUp, holdCursor, listNewWatches } from './watch.store.ts';
import { cursorAt, type LookBack, lookedBack, readRange, shrinking, type Watching } from './watching.ts';

const NEW_WATCHES_AT_ONCE = 200;
/** Then what has become final meanwhile is read: escrows that are watched already must not wait for old blocks. */
const RANGES_AT_ONCE = 20;

/**
 * Escrows that became known after some blocks had been read, or that are searched again: those blocks are searched for them
 * alone, a part at a time. True when nothing is left to search, or another process has moved on and the rest is for the
 * next look.
 */
export async function lookBackFurther(
  watching: Watching,
  search: keyof Watching['lookBacks'],
  cursor: Cursor,
): Promise<boolean> {
  const lookBack = await lookBackUnderWay(watching, search, cursor);
  watching.lookBacks[search] = lookBack;
  if (lookBack === undefined) return true;
  for (let ranges = 0; lookBack.nextBlock <= cursor.blockNumber; ranges++) {
    if (ranges === RANGES_AT_ONCE) return false;
    if (!(await shrinking(lookBack, watching.limits, () => searchRange(watching, lookBack, cursor))))
      return true;
  }
  const isOver = await record(watching, cursor, async (unit) =>
    finishCatchingUp(unit, watching.chainId, lookBack.watches),
  );
  if (isOver) watching.lookBacks[search] = undefined;
  return true;
}

async function lookBackUnderWay(
  watching: Watching,
  search: keyof Watching['lookBacks'],
  cursor: Cursor,
): Promise<LookBack | undefined> {
  const watches = await listNewWatches(watching.db, watching.chainId, search, NEW_WATCHES_AT_ONCE);
  // Another process may have searched for all of them meanwhile.
  if (watches.length === 0) return undefined;
  const { rangeBlocks } = watching;
  const lookBack = watching.lookBacks[search];
  if (lookBack !== undefined && (await isStillThere(watching, lookBack.reached))) return lookBack;
  const nextBlock = await searchedFrom(watching, cursor, watches);
  return { watches, nextBlock, reached: undefined, rangeBlocks };
}

async function isStillThere(watching: Watching, reached: Cursor | undefined): Promise<boolean> {
  if (reached === undefined) return true;
  return (await cursorAt(watching, reached.blockNumber)).blockHash === reached.blockHash;
}

/** One range. False where another process moved the cursor while it was read: it is read again. */
async function searchRange(watching: Watching, lookBack: LookBack, cursor: Cursor): Promise<boolean> {
  const { reader } = watching;
  const { watches, nextBlock: fromBlock, rangeBlocks } = lookBack;
  const range = { fromBlock, toBlock: smaller(fromBlock + rangeBlocks - 1n, cursor.blockNumber) };
  const { facts, end } = await readRange(watching, range, () => reader.escrowFacts(watches, range));
  if (facts.length > 0) {
    const isRecorded = await record(watching, cursor, (unit) => reportFacts(watching, unit, facts, watches));
    if (!isRecorded) return false;
  }
  lookBack.nextBlock = range.toBlock + 1n;
  lookBack.reached = end;
  return true;
}

/** False, and nothing written, where another process has moved the cursor. */
function record(
  watching: Watching,
  cursor: Cursor,
  write: (unit: UnitOfWork) => Promise<void>,
): Promise<boolean> {
  return unitOfWork(watching, SYSTEM, async (unit) => {
    const isHeld = await holdCursor(unit, watching.chainId, cursor);
    if (isHeld) await write(unit);
    return isHeld;
  });
}

/**
 * As many blocks back as a worker is usually behind; further where an escrow is older than that, because the worker was
 * away while the API went on and told people where to pay.
 */
async function searchedFrom(
  watching: Watching,
  { blockNumber }: Cursor,
  watches: readonly { readonly knownSince: Date }[],
): Promise<bigint> {
  const { client, clock, limits } = watching;
  const since = Math.min(...watches.map(({ knownSince }) => knownSince.getTime()));
  let from = lookedBack(watching, blockNumber);
  if (clock.now() - since < limits.recentMs) return from;
  for (let further = BigInt(limits.lookBackBlocks); from > 0n; further *= 2n) {
    const { timestamp } = await answered(client.getBlock({ blockNumber: from }));
    if (Number(timestamp) * 1_000 < since) break;
    from = from > further ? from - further : 0n;
  }
  return from;
}
