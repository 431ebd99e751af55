import { SYSTEM } from '../../db/database.ts';
import { type UnitDeps, unitOfWork } from '../../engine/unit-of-work.ts';
import { smaller } from '../../lib/bigints.ts';
import { machineNow } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ChainSettings } from '../chain-settings.ts';
import { listSigners } from '../escrow/executions.store.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import { answered, ChainUnavailableError } from '../transactions/transaction-rpc.ts';
import type { ChainFactHandler, HeldDepositsHandler } from './chain-facts.ts';
import { type FactReader, factReader, inChainOrder, type LogFact } from './chain-logs.ts';
import type { BlockRange } from './log-reader.ts';
import { reportFacts } from './report-facts.ts';
import {
  type Cursor,
  catchUpAgain,
  finishCatchingUp,
  holdCursor,
  listNewWatches,
  moveCursor,
  readCursor,
  startCursor,
} from './watch.store.ts';
import { createWatchedEscrows, type WatchedEscrows } from './watched-escrows.ts';

/**
 * Reads the chain once it cannot change any more. Only blocks at the configured depth are read, so a reorganisation
 * above them is never noticed; the hash of the last block read is kept and compared, so one below them is. The cursor
 * moves in the transaction that records what was found: every fact is reported, none is lost, whatever stops.
 */
export interface Watcher {
  /** Reads what has become final since, in as many steps as it takes. Several processes may do so at once. */
  catchUp(): Promise<void>;
}

export interface WatcherDeps extends UnitDeps {
  readonly logger: Logger;
  readonly settings: Pick<ChainSettings, 'slug' | 'chainId' | 'confirmations' | 'contracts' | 'tokens'>;
  readonly client: ChainClient;
  readonly handlers: readonly ChainFactHandler[];
  readonly bookHeldDeposits: HeldDepositsHandler;
  readonly limits?: Partial<WatcherLimits>;
  /** A local chain that lost its last blocks in a crash is read again from further back; a real one never does that. */
  readonly rewindsAfterRollback?: boolean;
}

interface WatcherLimits {
  /** Blocks read in one step; halved while the node does not answer. */
  readonly maxRangeBlocks: number;
  /** How far back the first start, and each new escrow, is looked through at least. */
  readonly lookBackBlocks: number;
  /** For escrows that are known for no longer, that is far enough on every chain. */
  readonly recentMs: number;
}

/** The chain no longer has a block that was final. Nothing is read until a person has looked. */
export class FinalityBrokenError extends Error {
  override readonly name = 'FinalityBrokenError';
}

const DEFAULT_LIMITS: WatcherLimits = {
  maxRangeBlocks: 1_000,
  lookBackBlocks: 5_000,
  recentMs: 10 * 60 * 1_000,
};
const NEW_WATCHES_A_STEP = 200;
/** A watcher at work. */
interface Watching extends WatcherDeps {
  readonly limits: WatcherLimits;
  readonly chainId: number;
  readonly reader: FactReader;
  readonly escrows: WatchedEscrows;
  /** How many blocks are read in one step just now. */
  rangeBlocks: bigint;
}

export function createWatcher(deps: WatcherDeps): Watcher {
  const { db, client, settings } = deps;
  const { chainId } = settings;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const watching: Watching = {
    ...deps,
    limits,
    chainId,
    reader: factReader(client, settings, limits.maxRangeBlocks),
    escrows: createWatchedEscrows(deps, chainId),
    rangeBlocks: BigInt(limits.maxRangeBlocks),
  };
  return {
    async catchUp() {
      const final = await finalHead(watching);
      if (final < 0n) return;
      const stored = await readCursor(db, chainId);
      if (stored === undefined) {
        await begin(watching, final);
        return;
      }
      let cursor = await verified(watching, stored, final);
      if (cursor.blockNumber > final) return;
      await shrinking(watching, () => catchUpNewWatches(watching, cursor));
      while (cursor.blockNumber < final)
        cursor = await shrinking(watching, () => step(watching, cursor, final));
    },
  };
}

// The cursor.

async function finalHead({ client, settings }: Watching): Promise<bigint> {
  const head = await answered(client.getBlockNumber({ cacheTime: 0 }));
  return head - BigInt(settings.confirmations) + 1n;
}

async function cursorAt({ client }: Watching, blockNumber: bigint): Promise<Cursor> {
  return { blockNumber, blockHash: await answered(client.agreedBlockHash(blockNumber)) };
}

function lookedBack({ limits }: Watching, from: bigint): bigint {
  const start = from - BigInt(limits.lookBackBlocks);
  return start > 0n ? start : 0n;
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
      `${watching.settings.slug} no longer has block ${cursor.blockNumber} as it was read`,
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

/** The logs of a range that is the same chain before and after they were read. */
async function readRange(
  watching: Watching,
  range: BlockRange,
  read: () => Promise<LogFact[]>,
): Promise<{ facts: LogFact[]; end: Cursor }> {
  const end = await cursorAt(watching, range.toBlock);
  const facts = await answered(read());
  if ((await cursorAt(watching, range.toBlock)).blockHash !== end.blockHash) {
    throw new ChainUnavailableError('the chain changed while it was read');
  }
  return { facts: facts.sort(inChainOrder), end };
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

/** Escrows that became known after some blocks had been read: those blocks are searched for them alone. */
async function catchUpNewWatches(watching: Watching, cursor: Cursor): Promise<void> {
  const { db, chainId, reader, rangeBlocks } = watching;
  const watches = await listNewWatches(db, chainId, NEW_WATCHES_A_STEP);
  if (watches.length === 0) return;
  const parts: LogFact[][] = [];
  let fromBlock = await searchedFrom(watching, cursor, watches);
  while (fromBlock <= cursor.blockNumber) {
    const range = { fromBlock, toBlock: smaller(fromBlock + rangeBlocks - 1n, cursor.blockNumber) };
    parts.push((await readRange(watching, range, () => reader.escrowFacts(watches, range))).facts);
    fromBlock = range.toBlock + 1n;
  }
  await unitOfWork(watching, SYSTEM, async (unit) => {
    if (!(await holdCursor(unit, chainId, cursor))) return;
    await reportFacts(watching, unit, parts.flat(), watches);
    finishCatchingUp(unit, chainId, watches);
  });
}

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

/** What a node refuses for its size is asked in parts where it is read. Silence may mean the same, so less is asked next. */
async function shrinking<T>(watching: Watching, read: () => Promise<T>): Promise<T> {
  try {
    const result = await read();
    watching.rangeBlocks = smaller(watching.rangeBlocks * 2n, BigInt(watching.limits.maxRangeBlocks));
    return result;
  } catch (error) {
    if (error instanceof ChainUnavailableError && watching.rangeBlocks > 1n) {
      watching.rangeBlocks = watching.rangeBlocks / 2n;
    }
    throw error;
  }
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/** One turn of watching a chain, to be called often. After a failure it rests, longer each time, and says so once a turn. */
export function watchTurn(deps: WatcherDeps, onCaughtUp: () => void = () => {}): () => Promise<void> {
  const watcher = createWatcher(deps);
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
