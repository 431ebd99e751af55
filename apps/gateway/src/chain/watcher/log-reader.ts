import type { Log } from 'viem';
import { smaller } from '../../lib/bigints.ts';
import type { Hex } from '../chain-settings.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import { answered, ChainUnavailableError } from '../transactions/transaction-rpc.ts';

export interface BlockRange {
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

/** Which logs are wanted: those of some subjects (addresses, or values of a topic), in a way that can be asked in parts. */
export interface LogQuestion<Found> {
  /** What is asked about; nodes limit how many one question may name. */
  readonly subjects: readonly Hex[];
  ask(subjects: readonly Hex[], range: BlockRange): Promise<Found[]>;
  /** The same out of everything that a transaction logged. */
  pick(logs: readonly Log[], subjects: readonly Hex[]): Found[] | Promise<Found[]>;
}

export type LogReader = <Found>(question: LogQuestion<Found>, range: BlockRange) => Promise<Found[]>;

const SUBJECTS_A_QUERY = 400;
const RECEIPTS_AT_ONCE = 10;

/**
 * Reads all logs of a range, whatever the node finds too much to answer at once. A refused question is asked for fewer
 * blocks; about one block it is asked for fewer subjects; about one subject in one block the receipts of the block's
 * transactions are read instead, which no node limits. So there is no block that cannot be read.
 *
 * Keep one reader a kind of question: it remembers how many blocks the node last answered for.
 */
export function logReader(client: ChainClient, maxRangeBlocks: number): LogReader {
  let rangeBlocks = BigInt(maxRangeBlocks);

  async function scan<Found>(
    question: LogQuestion<Found>,
    subjects: readonly Hex[],
    range: BlockRange,
  ): Promise<Found[]> {
    const parts: Found[][] = [];
    let { fromBlock } = range;
    while (fromBlock <= range.toBlock) {
      const toBlock = smaller(fromBlock + rangeBlocks - 1n, range.toBlock);
      const found = await unlessRefused(question.ask(subjects, { fromBlock, toBlock }));
      if (found === undefined && toBlock > fromBlock) {
        rangeBlocks = (toBlock - fromBlock + 1n) / 2n;
        continue;
      }
      parts.push(found ?? (await readRefusedBlock(question, subjects, fromBlock)));
      rangeBlocks = smaller(rangeBlocks * 2n, BigInt(maxRangeBlocks));
      fromBlock = toBlock + 1n;
    }
    return parts.flat();
  }

  async function readRefusedBlock<Found>(
    question: LogQuestion<Found>,
    subjects: readonly Hex[],
    blockNumber: bigint,
  ): Promise<Found[]> {
    if (subjects.length === 1) {
      return question.pick(await logsOfReceipts(client, blockNumber), subjects);
    }
    const parts: Found[][] = [];
    const middle = subjects.length >> 1;
    for (const half of [subjects.slice(0, middle), subjects.slice(middle)]) {
      const found = await unlessRefused(question.ask(half, { fromBlock: blockNumber, toBlock: blockNumber }));
      parts.push(found ?? (await readRefusedBlock(question, half, blockNumber)));
    }
    return parts.flat();
  }

  return async (question, range) => {
    const parts = [];
    for (let start = 0; start < question.subjects.length; start += SUBJECTS_A_QUERY) {
      parts.push(await scan(question, question.subjects.slice(start, start + SUBJECTS_A_QUERY), range));
    }
    return parts.flat();
  };
}

/** Undefined where the node answered that it would not: silence is thrown, because asking for less does not end it. */
async function unlessRefused<T>(question: Promise<T>): Promise<T | undefined> {
  try {
    return await answered(question);
  } catch (error) {
    if (error instanceof ChainUnavailableError && error.isRefusal) return undefined;
    throw error;
  }
}

async function logsOfReceipts(client: ChainClient, blockNumber: bigint): Promise<Log[]> {
  const { hash: blockHash, transactions } = await answered(client.getBlock({ blockNumber }));
  const parts: Log[][] = [];
  for (let start = 0; start < transactions.length; start += RECEIPTS_AT_ONCE) {
    const some = transactions.slice(start, start + RECEIPTS_AT_ONCE);
    const receipts = await answered(Promise.all(some.map((hash) => client.getTransactionReceipt({ hash }))));
    if (receipts.some((receipt) => receipt.blockHash !== blockHash)) {
      throw new ChainUnavailableError('the chain changed while it was read');
    }
    parts.push(...receipts.map(({ logs }) => logs));
  }
  return parts.flat();
}
