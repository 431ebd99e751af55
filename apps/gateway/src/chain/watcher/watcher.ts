import { SYSTEM } from '../../db/database.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import { smaller } from '../../lib/bigints.ts';
import { machineNow } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { giveWay } from '../../lib/slices.ts';
import type { ChainSettings } from '../chain-settings.ts';
import { awaitedForwards, listSigners, recordExecutions } from '../escrow/executions.store.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import { answered, ChainUnavailableError } from '../transactions/transaction-rpc.ts';
import {
  type ChainFact,
  type ChainFactHandler,
  classifyDeposit,
  type Deposit,
  type EscrowWatch,
} from './chain-facts.ts';
import { factReader, inChainOrder, type LogFact, type UnclassifiedDeposit } from './chain-logs.ts';
import type { BlockRange } from './log-reader.ts';
import {
  type Cursor,
  finishCatchingUp,
  holdCursor,
  listNewWatches,
  listWatches,
  moveCursor,
  readCursor,
  readKnown,
  recordDeposits,
  startCursor,
} from './watch.store.ts';

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
  readonly limits?: Partial<WatcherLimits>;
  /** A local chain that lost its last blocks in a crash is read again from further back; a real one never does that. */
  readonly rewindsAfterRollback?: boolean;
}

interface WatcherLimits {
  /** Blocks read in one step; halved while the node does not answer. */
  readonly maxRangeBlocks: number;
  /** How far back the first start, and each new escrow, is looked through. */
  readonly lookBackBlocks: number;
}

/** The chain no longer has a block that was final. Nothing is read until a person has looked. */
export class FinalityBrokenError extends Error {
  override readonly name = 'FinalityBrokenError';
}

const DEFAULT_LIMITS: WatcherLimits = {
  maxRangeBlocks: 1_000,
  lookBackBlocks: 5_000,
};
const NEW_WATCHES_A_STEP = 200;
/** Statements that facts bring about are sent before they are more than this. */
const DEFERRED_AT_ONCE = 100;
/** How long the escrow of a finished order is watched for stray deposits. */
const AFTERLIFE_MS = 30 * 24 * 3_600_000;

/** Escrows that were closed before then are no longer watched. */
export function watchedSince(nowMs: number): Date {
  return new Date(nowMs - AFTERLIFE_MS);
}

export function createWatcher(deps: WatcherDeps): Watcher {
  const { db, clock, logger, client, settings, handlers } = deps;
  const { chainId } = settings;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
  const reader = factReader(client, settings, limits.maxRangeBlocks);
  let rangeBlocks = BigInt(limits.maxRangeBlocks);

  async function finalHead(): Promise<bigint> {
    const head = await answered(client.getBlockNumber({ cacheTime: 0 }));
    return head - BigInt(settings.confirmations) + 1n;
  }

  async function cursorAt(blockNumber: bigint): Promise<Cursor> {
    return { blockNumber, blockHash: await answered(client.agreedBlockHash(blockNumber)) };
  }

  async function begin(final: bigint): Promise<void> {
    await startCursor(db, chainId, await cursorAt(lookedBack(final)), clock.date());
  }

  function lookedBack(from: bigint): bigint {
    const start = from - BigInt(limits.lookBackBlocks);
    return start > 0n ? start : 0n;
  }

  /** Answers where to go on from, or throws where what was final is gone. */
  async function verified(cursor: Cursor, final: bigint): Promise<Cursor> {
    const isStillThere =
      cursor.blockNumber <= final && (await cursorAt(cursor.blockNumber)).blockHash === cursor.blockHash;
    if (isStillThere) return cursor;
    // The nodes may only be behind the one that was asked before.
    if (cursor.blockNumber > final && !deps.rewindsAfterRollback) return cursor;
    if (!deps.rewindsAfterRollback) {
      throw new FinalityBrokenError(
        `${settings.slug} no longer has block ${cursor.blockNumber} as it was read`,
      );
    }
    return rewind(cursor, final);
  }

  async function rewind(cursor: Cursor, final: bigint): Promise<Cursor> {
    const earlier = await cursorAt(lookedBack(final < cursor.blockNumber ? final : cursor.blockNumber));
    logger.warn(
      { chain: settings.slug, from: `${cursor.blockNumber}`, to: `${earlier.blockNumber}` },
      'the local chain was rolled back; reading it again',
    );
    await unitOfWork(deps, SYSTEM, async (unit) => {
      if (await holdCursor(unit, chainId, cursor)) moveCursor(unit, chainId, earlier);
    });
    return earlier;
  }

  /** The logs of a range that is the same chain before and after they were read. */
  async function readRange(
    range: BlockRange,
    read: () => Promise<LogFact[]>,
  ): Promise<{ facts: LogFact[]; end: Cursor }> {
    const end = await cursorAt(range.toBlock);
    const facts = await answered(read());
    if ((await cursorAt(range.toBlock)).blockHash !== end.blockHash) {
      throw new ChainUnavailableError('the chain changed while it was read');
    }
    return { facts: facts.sort(inChainOrder), end };
  }

  /** All that is needed to judge the facts is read at once, and all that is recorded is written at once. */
  async function report(unit: UnitOfWork, facts: readonly LogFact[], watches: readonly EscrowWatch[]) {
    if (facts.length === 0) return;
    const deposits = await classified(unit, facts.filter(isDeposit), watches);
    const forwards = facts.filter((fact) => fact.type === 'forward_executed');
    const awaited = await awaitedForwards(unit, chainId, settings.contracts.forwarder, forwards);
    await recordDeposits(unit, chainId, [...deposits.values()]);
    recordExecutions(
      unit,
      chainId,
      facts.filter((fact) => fact.type === 'escrow_executed'),
    );
    for (const [n, fact] of facts.entries()) {
      await giveWay(n);
      await unit.tx.sendDeferred(DEFERRED_AT_ONCE);
      if (fact.type === 'forward_executed' && !awaited.has(fact)) continue;
      const told: ChainFact | undefined = isDeposit(fact) ? deposits.get(fact) : fact;
      if (told === undefined) continue;
      for (const handle of handlers) await handle(told, unit);
    }
    warnOfHeld([...deposits.values()]);
  }

  /** Catching up and going on overlap where an escrow is new; a deposit is told once. */
  async function classified(
    unit: UnitOfWork,
    paid: readonly UnclassifiedDeposit[],
    watches: readonly EscrowWatch[],
  ): Promise<ReadonlyMap<UnclassifiedDeposit, Deposit>> {
    const deposits = new Map<UnclassifiedDeposit, Deposit>();
    if (paid.length === 0) return deposits;
    const byAddress = new Map(watches.map((watch) => [watch.address, watch]));
    const { funded, isKnown } = await readKnown(unit, chainId, paid);
    for (const [n, fact] of paid.entries()) {
      await giveWay(n);
      const watch = byAddress.get(fact.escrow);
      if (watch === undefined || isKnown(fact)) continue;
      const kind = classifyDeposit(watch, fact, funded.has(fact.escrow));
      if (kind === 'exact') funded.add(fact.escrow);
      deposits.set(fact, { ...fact, kind, depositId: unit.ids.uuid() });
    }
    return deposits;
  }

  /** One line an order and kind, however many there are. */
  function warnOfHeld(deposits: readonly Deposit[]): void {
    const held = deposits.filter(({ kind }) => kind !== 'exact');
    for (const same of Map.groupBy(held, ({ orderId, kind }) => `${orderId} ${kind}`).values()) {
      const [{ orderId, kind, txHash }] = same as [Deposit, ...Deposit[]];
      logger.warn(
        { chain: settings.slug, order_id: orderId, kind, tx_hash: txHash, deposits: same.length },
        'deposit held for review',
      );
    }
  }

  /** Escrows that became known after some blocks had been read: those blocks are searched for them alone. */
  async function catchUpNewWatches(cursor: Cursor): Promise<void> {
    const watches = await listNewWatches(db, chainId, NEW_WATCHES_A_STEP);
    if (watches.length === 0) return;
    const parts: LogFact[][] = [];
    let fromBlock = lookedBack(cursor.blockNumber);
    while (fromBlock <= cursor.blockNumber) {
      const range = { fromBlock, toBlock: smaller(fromBlock + rangeBlocks - 1n, cursor.blockNumber) };
      parts.push((await readRange(range, () => reader.escrowFacts(watches, range))).facts);
      fromBlock = range.toBlock + 1n;
    }
    await unitOfWork(deps, SYSTEM, async (unit) => {
      if (!(await holdCursor(unit, chainId, cursor))) return;
      await report(unit, parts.flat(), watches);
      finishCatchingUp(unit, chainId, watches);
    });
  }

  async function step(cursor: Cursor, final: bigint): Promise<Cursor> {
    const fromBlock = cursor.blockNumber + 1n;
    const range = { fromBlock, toBlock: smaller(cursor.blockNumber + rangeBlocks, final) };
    // Asked after the head: whoever pays an address has learnt it from a registration that is committed by now.
    const [watches, signers] = await Promise.all([
      listWatches(db, chainId, watchedSince(clock.now())),
      listSigners(db, chainId, settings.contracts.forwarder),
    ]);
    const { facts, end } = await readRange(range, async () =>
      (await Promise.all([reader.escrowFacts(watches, range), reader.contractFacts(signers, range)])).flat(),
    );
    const isMoved = await unitOfWork(deps, SYSTEM, async (unit) => {
      if (!(await holdCursor(unit, chainId, cursor))) return false;
      await report(unit, facts, watches);
      moveCursor(unit, chainId, end);
      return true;
    });
    return isMoved ? end : ((await readCursor(db, chainId)) ?? end);
  }

  /** What a node refuses for its size is asked in parts where it is read. Silence may mean the same, so less is asked next. */
  async function shrinking<T>(read: () => Promise<T>): Promise<T> {
    try {
      const result = await read();
      rangeBlocks = smaller(rangeBlocks * 2n, BigInt(limits.maxRangeBlocks));
      return result;
    } catch (error) {
      if (error instanceof ChainUnavailableError && rangeBlocks > 1n) rangeBlocks = rangeBlocks / 2n;
      throw error;
    }
  }

  return {
    async catchUp() {
      const final = await finalHead();
      if (final < 0n) return;
      const stored = await readCursor(db, chainId);
      if (stored === undefined) {
        await begin(final);
        return;
      }
      let cursor = await verified(stored, final);
      if (cursor.blockNumber > final) return;
      await shrinking(() => catchUpNewWatches(cursor));
      while (cursor.blockNumber < final) cursor = await shrinking(() => step(cursor, final));
    },
  };
}

function isDeposit(fact: LogFact): fact is UnclassifiedDeposit {
  return fact.type === 'deposit';
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
