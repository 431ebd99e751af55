import { SYSTEM } from '../../db/database.ts';
import { unitOfWork } from '../../engine/unit-of-work.ts';
import { smaller } from '../../lib/bigints.ts';
import { machineNow } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { listSigners } from '../escrow/executions.store.ts';
import { answered, ChainUnavailableError } from '../transactions/transaction-rpc.ts';
import { factReader } from './chain-logs.ts';
import { lookBackFurther } from './look-back.ts';
import { reportFacts } from './report-facts.ts';
import { type Cursor, catchUpAgain, holdCursor, moveCursor, readCursor, startCursor } from './watch.store.ts';
import { createWatchedEscrows } from './watched-escrows.ts';
import {
  cursorAt,
  LOOK_BACK_BLOCKS,
  lookedBack,
  readRange,
  shrinking,
  type WatcherDeps,
  type WatcherLimits,
  type Watching,
} from './watching.ts';

/**
 * Reads the chain once it cannot change any more. Only blocks at the configured depth are read, so a reorganisation
 * above them is never noticed; the hash of the last block read is kept and compared, so one below them is. The cursor
 * moves in the transaction that records what was found: every fact is reported, none is lost, whatever stops.
 */
export interface Watcher {
  /** Reads what has become final since, in as many steps as it takes. Several processes may do so at once. */
  catchUp(): Promise<void>;
}

/** The chain no longer has a block that was final. Nothing is read until a person has looked. */
export class FinalityBrokenError extends Error {
  override readonly name = 'FinalityBrokenError';
}

const DEFAULT_LIMITS: WatcherLimits = {
  maxRangeBlocks: 1_000,
  lookBackBlocks: LOOK_BACK_BLOCKS,
  recentMs: 10 * 60 * 1_000,
  unchangedMs: 0,
};

export function createWatcher(deps: WatcherDeps): Watcher {
  const { client, settings } = deps;
  const { chainId } = settings;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const watching: Watching = {
    ...deps,
    limits,
    chainId,
    reader: factReader(client, settings, limits.maxRangeBlocks),
    escrows: createWatchedEscrows(deps, chainId),
    rangeBlocks: BigInt(limits.maxRangeBlocks),
    lookBacks: { first: undefined, again: undefined },
    lastLook: undefined,
  };
  return {
    async catchUp() {
      while (!(await lookOnce(watching))) {
        // What is looked back for is searched a part at a time, and what has become final meanwhile comes between.
      }
    },
  };
}

/** False where old blocks are still to be searched for new escrows. */
async function lookOnce(watching: Watching): Promise<boolean> {
  const { db, chainId } = watching;
  const final = await finalHead(watching);
  if (final < 0n || isUnchanged(watching, final)) return true;
  const stored = await readCursor(db, chainId);
  if (stored === undefined) {
    await begin(watching, final);
    return true;
  }
  let cursor = await verified(watching, stored, final);
  if (cursor.blockNumber > final) return true;
  const searched = await lookBackOrWhyNot(watching, cursor);
  while (cursor.blockNumber < final) {
    cursor = await shrinking(watching, watching.limits, () => step(watching, cursor, final));
  }
  if (searched instanceof ChainUnavailableError) throw searched;
  if (searched.first && searched.again) watching.lastLook = { final, at: machineNow() };
  // What is searched again goes on with the next call: it may be months of blocks.
  return searched.first;
}

/** Then only an escrow that has become known since could have something to be read, and that may wait a little. */
function isUnchanged({ lastLook, limits }: Watching, final: bigint): boolean {
  return lastLook?.final === final && machineNow() - lastLook.at < limits.unchangedMs;
}

/** Old blocks that a node does not answer for, or no longer has, must not keep anybody from reading the new ones. */
async function lookBackOrWhyNot(
  watching: Watching,
  cursor: Cursor,
): Promise<{ first: boolean; again: boolean } | ChainUnavailableError> {
  try {
    const first = await lookBackFurther(watching, 'first', cursor);
    return { first, again: await lookBackFurther(watching, 'again', cursor) };
  } catch (error) {
    if (error instanceof ChainUnavailableError) return error;
    throw error;
  }
}

// The cursor.

async function finalHead({ client, settings }: Watching): Promise<bigint> {
  const head = await answered(client.getBlockNumber({ cacheTime: 0 }));
  return head - BigInt(settings.confirmations) + 1n;
}

async function begin(watching: Watching, final: bigint): Promise<void> {
  const start = await cursorAt(watching, lookedBack(watching, final));
  await startCursor(watching.db, watching.chainId, start, watching.clock.date());
}

/** Answers where to go on from, or throws where what was final is gone. */
async function verified(watching: Watching, cursor: Cursor, final: bigint): Promise<Cursor> {
  const isStillThere =
    cursor.blockNumber <= final &&
    (await cursorAt(watching, cursor.blockNumber)).blockHash === cursor.blockHash;
  if (isStillThere) return cursor;
  // The nodes may only be behind the one that was asked before.
  if (cursor.blockNumber > final && !watching.rewindsAfterRollback) return cursor;
  if (!watching.rewindsAfterRollback) {
    throw new FinalityBrokenError(
      `${watching.settings.slug} no longer has block ${cursor.blockNumber} as it was read; npm run chain:resume says what was recorded from it`,
    );
  }
  return rewind(watching, cursor, final);
}

async function rewind(watching: Watching, cursor: Cursor, final: bigint): Promise<Cursor> {
  const { chainId, logger, settings } = watching;
  const earlier = await cursorAt(watching, lookedBack(watching, smaller(final, cursor.blockNumber)));
  logger.warn(
    { chain: settings.slug, from: `${cursor.blockNumber}`, to: `${earlier.blockNumber}` },
    'the local chain was rolled back; reading it again',
  );
  await unitOfWork(watching, SYSTEM, async (unit) => {
    if (await holdCursor(unit, chainId, cursor)) moveCursor(unit, chainId, earlier);
  });
  return earlier;
}

// Reading.

async function step(watching: Watching, cursor: Cursor, final: bigint): Promise<Cursor> {
  const { db, chainId, settings, reader, escrows } = watching;
  const fromBlock = cursor.blockNumber + 1n;
  const range = { fromBlock, toBlock: smaller(cursor.blockNumber + watching.rangeBlocks, final) };
  // Asked after the head. An escrow that is registered later may have been paid all the same: it is caught up with.
  const [watches, signers] = await Promise.all([
    escrows.list(),
    listSigners(db, chainId, settings.contracts.forwarder),
  ]);
  const { facts, end } = await readRange(watching, range, async () =>
    (await Promise.all([reader.escrowFacts(watches, range), reader.contractFacts(signers, range)])).flat(),
  );
  const isMoved = await unitOfWork(watching, SYSTEM, async (unit) => {
    if (!(await holdCursor(unit, chainId, cursor))) return false;
    await reportFacts(watching, unit, facts, watches);
    const passedOver = await escrows.passedOver(unit);
    if (passedOver.length > 0) catchUpAgain(unit, chainId, passedOver);
    moveCursor(unit, chainId, end);
    return true;
  });
  return isMoved ? end : ((await readCursor(db, chainId)) ?? end);
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
const UNCHANGED_MS = 1_000;

/** One turn of watching a chain, to be called often. After a failure it rests, longer each time, and says so once a turn. */
export function watchTurn(deps: WatcherDeps, onCaughtUp: () => void = () => {}): () => Promise<void> {
  const watcher = createWatcher({ ...deps, limits: { unchangedMs: UNCHANGED_MS, ...deps.limits } });
  let pauseMs = 0;
  let restsUntil = 0;
  return async () => {
    if (machineNow() < restsUntil) return;
    try {
      await watcher.catchUp();
      pauseMs = 0;
      onCaughtUp();
    } catch (error) {
      pauseMs = Math.min(Math.max(FIRST_PAUSE_MS, pauseMs * 2), LONGEST_PAUSE_MS);
      restsUntil = machineNow() + pauseMs;
      complain(deps.logger, deps.settings.slug, error);
    }
  };
}

function complain(logger: Logger, chain: string, error: unknown): void {
  if (error instanceof ChainUnavailableError) {
    logger.warn({ chain, reason: error.message }, 'the chain cannot be watched just now');
  } else {
    logger.error({ chain, err: error }, 'watching the chain failed');
  }
}
