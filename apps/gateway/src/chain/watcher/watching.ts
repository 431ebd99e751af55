import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { smaller } from '../../lib/bigints.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ChainSettings } from '../chain-settings.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import { answered, ChainUnavailableError } from '../transactions/transaction-rpc.ts';
import type { ChainFactHandler, EscrowWatch, HeldDepositsHandler } from './chain-facts.ts';
import { type FactReader, inChainOrder, type LogFact } from './chain-logs.ts';
import type { BlockRange } from './log-reader.ts';
import type { Cursor } from './watch.store.ts';
import type { WatchedEscrows } from './watched-escrows.ts';

/** What going on and looking back share: how ranges of final blocks are read. */

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

/** How far back the blocks of a chain are searched at least: every node must have them. */
export const LOOK_BACK_BLOCKS = 5_000;

export interface WatcherLimits {
  /** Blocks read in one step; halved while the node does not answer. */
  readonly maxRangeBlocks: number;
  /** How far back the first start, and each new escrow, is looked through at least. */
  readonly lookBackBlocks: number;
  /** For escrows that are known for no longer, that is far enough on every chain. */
  readonly recentMs: number;
  /** While no further block becomes final, how long nothing is looked at again. */
  readonly unchangedMs: number;
}

/** How many blocks are read in one step just now. */
export interface RangeSize {
  rangeBlocks: bigint;
}

/** A search for escrows in blocks that had been read before. Only a new process begins it anew. */
export interface LookBack extends RangeSize {
  readonly watches: readonly (EscrowWatch & { readonly knownSince: Date })[];
  nextBlock: bigint;
  /** The last block that was searched: where the chain no longer has it, the search begins anew. */
  reached: Cursor | undefined;
}

/** A watcher at work. */
export interface Watching extends WatcherDeps, RangeSize {
  readonly limits: WatcherLimits;
  readonly chainId: number;
  readonly reader: FactReader;
  readonly escrows: WatchedEscrows;
  /**
   * For escrows that became known after some blocks had been read, and for those that are searched again: the second may
   * take hours on an old chain, and new ones must not wait for it.
   */
  readonly lookBacks: { first: LookBack | undefined; again: LookBack | undefined };
  /** Up to where the last look had read everything, and when. */
  lastLook: { readonly final: bigint; readonly at: number } | undefined;
}

export async function cursorAt({ client }: Watching, blockNumber: bigint): Promise<Cursor> {
  return { blockNumber, blockHash: await answered(client.agreedBlockHash(blockNumber)) };
}

export function lookedBack({ limits }: Watching, from: bigint): bigint {
  const start = from - BigInt(limits.lookBackBlocks);
  return start > 0n ? start : 0n;
}

/** The logs of a range that is the same chain before and after they were read. */
export async function readRange(
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

/** What a node refuses for its size is asked in parts where it is read. Silence may mean the same, so less is asked next. */
export async function shrinking<T>(
  size: RangeSize,
  { maxRangeBlocks }: WatcherLimits,
  read: () => Promise<T>,
): Promise<T> {
  try {
    const result = await read();
    size.rangeBlocks = smaller(size.rangeBlocks * 2n, BigInt(maxRangeBlocks));
    return result;
  } catch (error) {
    if (error instanceof ChainUnavailableError && size.rangeBlocks > 1n) {
      size.rangeBlocks = size.rangeBlocks / 2n;
    }
    throw error;
  }
}
