import { SYSTEM } from '../db/database.ts';
import { type UnitOfWork, type UnitTools, unitOfWork } from '../engine/unit-of-work.ts';
import type { Logger } from '../lib/logger.ts';
import type { ChainClient } from './chain-client.ts';
import { type ChainFactHandler, classifyDeposit, type EscrowWatch } from './chain-facts.ts';
import {
  type BlockRange,
  inChainOrder,
  type LogFact,
  readContractLogs,
  readEscrowLogs,
} from './chain-logs.ts';
import type { ChainSettings } from './chain-settings.ts';
import { answered, ChainUnavailableError } from './transaction-rpc.ts';
import {
  type Cursor,
  finishCatchingUp,
  holdCursor,
  isDepositKnown,
  isEscrowFunded,
  listNewWatches,
  listWatches,
  moveCursor,
  readCursor,
  recordDeposit,
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

export interface WatcherDeps extends UnitTools {
  readonly logger: Logger;
  readonly settings: Pick<ChainSettings, 'slug' | 'chainId' | 'confirmations' | 'contracts'>;
  readonly client: ChainClient;
  readonly handlers: readonly ChainFactHandler[];
  readonly limits?: Partial<WatcherLimits>;
  /** A local chain that lost its last blocks in a crash is read again from further back; a real one never does that. */
  readonly rewindsAfterRollback?: boolean;
}

interface WatcherLimits {
  /** Blocks asked for at once; halved while a node finds it too much. */
  readonly maxRangeBlocks: number;
  /** How far back the first start, and each new escrow, is looked through. */
  readonly lookBackBlocks: number;
  /** How long the escrow of a finished order is watched for stray deposits. */
  readonly afterlifeMs: number;
}

/** The chain no longer has a block that was final. Nothing is read until a person has looked. */
export class FinalityBrokenError extends Error {
  override readonly name = 'FinalityBrokenError';
}

const DEFAULT_LIMITS: WatcherLimits = {
  maxRangeBlocks: 1_000,
  lookBackBlocks: 5_000,
  afterlifeMs: 30 * 24 * 3_600_000,
};
const NEW_WATCHES_A_STEP = 200;

export function createWatcher(deps: WatcherDeps): Watcher {
  const { db, clock, logger, client, settings, handlers } = deps;
  const { chainId } = settings;
  const limits = { ...DEFAULT_LIMITS, ...deps.limits };
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

  async function report(unit: UnitOfWork, facts: readonly LogFact[], watches: readonly EscrowWatch[]) {
    const byAddress = new Map(watches.map((watch) => [watch.address, watch]));
    for (const fact of facts) {
      if (fact.type !== 'deposit') {
        for (const handle of handlers) await handle(fact, unit);
        continue;
      }
      const watch = byAddress.get(fact.escrow);
      // Catching up and going on overlap where an escrow is new; a deposit is told once.
      if (watch === undefined || (await isDepositKnown(unit, fact))) continue;
      const kind = classifyDeposit(watch, fact, await isEscrowFunded(unit, chainId, fact.escrow));
      const deposit = { ...fact, kind };
      recordDeposit(unit, deposit);
      if (kind !== 'exact') {
        logger.warn(
          { chain: settings.slug, order_id: fact.orderId, kind, tx_hash: fact.txHash },
          'deposit held for review',
        );
      }
      for (const handle of handlers) await handle(deposit, unit);
    }
  }

  /** Escrows that became known after some blocks had been read: those blocks are searched for them alone. */
  async function catchUpNewWatches(cursor: Cursor): Promise<void> {
    const watches = await listNewWatches(db, chainId, NEW_WATCHES_A_STEP);
    if (watches.length === 0) return;
    const facts: LogFact[] = [];
    let fromBlock = lookedBack(cursor.blockNumber);
    while (fromBlock <= cursor.blockNumber) {
      const range = { fromBlock, toBlock: smaller(fromBlock + rangeBlocks - 1n, cursor.blockNumber) };
      facts.push(...(await readRange(range, () => readEscrowLogs(client, chainId, watches, range))).facts);
      fromBlock = range.toBlock + 1n;
    }
    await unitOfWork(deps, SYSTEM, async (unit) => {
      if (!(await holdCursor(unit, chainId, cursor))) return;
      await report(unit, facts, watches);
      finishCatchingUp(unit, chainId, watches);
    });
  }

  async function step(cursor: Cursor, final: bigint): Promise<Cursor> {
    const fromBlock = cursor.blockNumber + 1n;
    const range = { fromBlock, toBlock: smaller(cursor.blockNumber + rangeBlocks, final) };
    // Asked after the head: whoever pays an address has learnt it from a registration that is committed by now.
    const closedAfter = new Date(clock.now() - limits.afterlifeMs);
    const watches = await listWatches(db, chainId, closedAfter);
    const { facts, end } = await readRange(range, async () => [
      ...(await readEscrowLogs(client, chainId, watches, range)),
      ...(await readContractLogs(client, settings, range)),
    ]);
    const isMoved = await unitOfWork(deps, SYSTEM, async (unit) => {
      if (!(await holdCursor(unit, chainId, cursor))) return false;
      await report(unit, facts, watches);
      moveCursor(unit, chainId, end);
      return true;
    });
    return isMoved ? end : ((await readCursor(db, chainId)) ?? end);
  }

  /**
   * A node may refuse a range for its size in many words, or take too long over it; asking for less answers all of them.
   * Silence is not answered at once: the node may simply be gone.
   */
  async function shrinking<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        const result = await read();
        rangeBlocks = smaller(rangeBlocks * 2n, BigInt(limits.maxRangeBlocks));
        return result;
      } catch (error) {
        if (!(error instanceof ChainUnavailableError) || rangeBlocks === 1n) throw error;
        rangeBlocks = rangeBlocks / 2n;
        if (!error.isRefusal) throw error;
      }
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

function smaller(left: bigint, right: bigint): bigint {
  return left < right ? left : right;
}
