import { formatFixed } from '@causeway/protocol';
import type { TransactionReceipt } from 'viem';
import { SYSTEM } from '../../db/database.ts';
import { recordAction } from '../../engine/audit.ts';
import { type UnitDeps, unitOfWork } from '../../engine/unit-of-work.ts';
import type { ChainSettings, Hex } from '../chain-settings.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import { answered, findReceipt, isFinal } from '../transactions/transaction-rpc.ts';
import { sameAddress } from './chain-facts.ts';
import { transferIn } from './chain-logs.ts';
import {
  depositsAfter,
  moveDeposits,
  type RecordedBlock,
  type RecordedDeposit,
  type RecordedTransaction,
  recordedBlocks,
  transactionsAfter,
} from './lost-blocks.store.ts';
import { type Cursor, holdCursor, moveCursor, readCursor } from './watch.store.ts';
import { LOOK_BACK_BLOCKS } from './watching.ts';

/**
 * For a chain that has lost blocks which were final: what was recorded from them, and going on from the last block that is
 * still the same. A person decides that; by itself the watcher only stops.
 */

export interface ReadChain {
  readonly settings: Pick<ChainSettings, 'slug' | 'chainId' | 'confirmations' | 'tokens'>;
  readonly client: ChainClient;
}

/** Where the chain has a transaction now; null where it does not have it. */
type Location = {
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
  readonly logIndex: number;
  readonly isFinal: boolean;
} | null;

export interface LostBlocks {
  readonly read: Cursor;
  /** What the chain has in the place of the block that was read last. */
  readonly now: Hex;
  /** From where it is read again. */
  readonly common: Cursor;
  /** Whether the common block was recorded with this hash; else it is only far enough back. */
  readonly isCommonCertain: boolean;
  readonly deposits: readonly { readonly row: RecordedDeposit; readonly now: Location }[];
  readonly transactions: readonly { readonly row: RecordedTransaction; readonly now: Location }[];
}

export type ChainStanding =
  | { readonly state: 'never_read' | 'as_read' }
  /** The nodes have not reached the block that was read last. */
  | { readonly state: 'behind'; readonly read: Cursor; readonly head: bigint }
  | { readonly state: 'lost'; readonly lost: LostBlocks };

const BLOCKS_AT_ONCE = 200;

export async function standingOf(deps: Pick<UnitDeps, 'db'>, chain: ReadChain): Promise<ChainStanding> {
  const { client, settings } = chain;
  const read = await readCursor(deps.db, settings.chainId);
  if (read === undefined) return { state: 'never_read' };
  const head = await answered(client.getBlockNumber({ cacheTime: 0 }));
  if (read.blockNumber > head) return { state: 'behind', read, head };
  const now = await hashNow(chain, read.blockNumber);
  if (now === read.blockHash) return { state: 'as_read' };

  const { common, isCommonCertain } = await lastCommon(deps, chain, read);
  const [deposits, transactions] = await Promise.all([
    depositsAfter(deps.db, settings.chainId, common.blockNumber),
    transactionsAfter(deps.db, settings.chainId, common.blockNumber),
  ]);
  const lost: LostBlocks = {
    read,
    now,
    common,
    isCommonCertain,
    deposits: await locatedDeposits(chain, deposits),
    transactions: await displaced(chain, transactions, ({ mined_hash }) => mined_hash),
  };
  return { state: 'lost', lost };
}

const hashNow = ({ client }: ReadChain, block: bigint) => answered(client.agreedBlockHash(block));

/**
 * The newest block that was recorded with the hash it still has: all before it are the same, too. Where nothing was recorded
 * for long, as many blocks back as are read at a first start, or before all that is known to be gone.
 */
async function lastCommon(deps: Pick<UnitDeps, 'db'>, chain: ReadChain, read: Cursor) {
  const { chainId } = chain.settings;
  let oldestGone = read.blockNumber;
  for (;;) {
    const recorded = await recordedBlocks(deps.db, chainId, oldestGone, BLOCKS_AT_ONCE);
    const same = await firstSame(chain, recorded);
    if (same !== undefined) {
      const common = { blockNumber: same.number, blockHash: same.hash };
      return { common, isCommonCertain: true };
    }
    oldestGone = recorded.at(-1)?.number ?? oldestGone;
    if (recorded.length < BLOCKS_AT_ONCE) break;
  }
  const back = oldestGone - BigInt(LOOK_BACK_BLOCKS);
  const blockNumber = back > 0n ? back : 0n;
  return { common: { blockNumber, blockHash: await hashNow(chain, blockNumber) }, isCommonCertain: false };
}

async function firstSame(
  chain: ReadChain,
  recorded: readonly RecordedBlock[],
): Promise<RecordedBlock | undefined> {
  for (const block of recorded) {
    if ((await hashNow(chain, block.number)) === block.hash) return block;
  }
  return undefined;
}

/** Those that are not where they were. */
async function displaced<Row extends { readonly block_hash: Hex }>(
  chain: ReadChain,
  rows: readonly Row[],
  hashOf: (row: Row) => Hex,
  logIn: (row: Row, receipt: TransactionReceipt) => number | undefined = () => 0,
): Promise<{ row: Row; now: Location }[]> {
  const found = [];
  for (const row of rows) {
    const receipt = await findReceipt(chain.client, [hashOf(row)]);
    if (receipt?.blockHash === row.block_hash) continue;
    found.push({ row, now: await locationOf(chain, receipt, receipt && logIn(row, receipt)) });
  }
  return found;
}

async function locationOf(
  { client, settings }: ReadChain,
  receipt: TransactionReceipt | undefined,
  logIndex: number | undefined,
): Promise<Location> {
  if (receipt === undefined || logIndex === undefined) return null;
  const { blockNumber, blockHash } = receipt;
  return {
    blockNumber,
    blockHash,
    logIndex,
    isFinal: await isFinal(client, receipt, settings.confirmations),
  };
}

/** A transaction may pay the same twice: each deposit has a log of its own, in their order. */
function locatedDeposits(chain: ReadChain, deposits: readonly RecordedDeposit[]) {
  const taken = new Set<string>();
  return displaced(
    chain,
    deposits,
    ({ tx_hash }) => tx_hash,
    (row, receipt) => {
      const same = receipt.logs.find((log) => {
        const [transfer] = transferIn(log);
        return (
          transfer !== undefined &&
          !taken.has(`${row.tx_hash}:${transfer.logIndex}`) &&
          sameAddress(transfer.address, row.token) &&
          sameAddress(transfer.args.from, row.sender) &&
          sameAddress(transfer.args.to, row.address) &&
          `${transfer.args.value}` === row.amount
        );
      });
      if (same !== undefined) taken.add(`${row.tx_hash}:${same.logIndex}`);
      return same?.logIndex;
    },
  );
}

/** Why it cannot be gone on yet; null where it can. */
export function obstacleTo({ deposits }: LostBlocks): string | null {
  const unsettled = deposits.filter(({ now }) => now !== null && !now.isFinal).length;
  return unsettled === 0
    ? null
    : `${unsettled} of these deposits are on the chain again and not final yet: try again when they are.`;
}

/** Who acted, in the audit log, when no operator key did. */
const COMMAND_LINE = '00000000-0000-0000-0000-000000000000';

/** False where the watcher's place has changed since it was looked at. */
export function readAgain(
  deps: UnitDeps,
  { settings: { slug, chainId } }: ReadChain,
  lost: LostBlocks,
  reason: string,
): Promise<boolean> {
  const placeOf = ({ blockNumber, blockHash }: Cursor) => ({
    block_number: `${blockNumber}`,
    block_hash: blockHash,
  });
  return unitOfWork(deps, SYSTEM, async (unit) => {
    if (!(await holdCursor(unit, chainId, lost.read))) return false;
    const moved = lost.deposits.flatMap(({ row, now }) =>
      now === null ? [] : [{ depositId: row.deposit_id, to: now }],
    );
    const gone = lost.deposits.filter(({ now }) => now === null);
    moveDeposits(unit, moved);
    moveCursor(unit, chainId, lost.common);
    recordAction(
      unit,
      { keyId: COMMAND_LINE },
      {
        action: 'chain.resume',
        subject: `chains/${slug}`,
        reason,
        before: placeOf(lost.read),
        after: {
          ...placeOf(lost.common),
          moved_deposit_ids: moved.map(({ depositId }) => depositId),
          gone_deposit_ids: gone.map(({ row }) => row.deposit_id),
        },
      },
    );
    return true;
  });
}

export function standingLines(
  { settings }: Pick<ReadChain, 'settings'>,
  standing: ChainStanding,
): readonly string[] {
  const title = `${settings.slug}, chain ${settings.chainId}`;
  switch (standing.state) {
    case 'never_read':
      return [title, '  was never read'];
    case 'as_read':
      return [title, '  is as it was read'];
    case 'behind':
      return [
        title,
        `  was read to block ${standing.read.blockNumber}, and its nodes have come to ${standing.head} only: wait for them`,
      ];
    case 'lost':
      return [title, ...lostLines(settings, standing.lost)];
  }
}

function lostLines(settings: ReadChain['settings'], lost: LostBlocks): string[] {
  const { read, now, common, isCommonCertain, deposits, transactions } = lost;
  const placeOf = (place: Location) =>
    place === null
      ? 'is not on the chain any more'
      : `is in block ${place.blockNumber} now${place.isFinal ? '' : ', not final yet'}`;
  return [
    `  block ${read.blockNumber} was ${read.blockHash}`,
    `  ${' '.repeat(`block ${read.blockNumber}`.length)} is  ${now}`,
    isCommonCertain
      ? `  block ${common.blockNumber} is the last that is known to be the same`
      : `  block ${common.blockNumber} is far enough back; nothing was recorded that tells which is the last one that is the same`,
    deposits.length + transactions.length === 0
      ? '  nothing was recorded from blocks that are gone'
      : '  recorded from blocks that are gone:',
    ...deposits.flatMap(({ row, now: place }) => [
      `    deposit ${row.deposit_id} of order ${row.order_id}: ${amountOf(settings, row)}, ${row.kind}, ${row.disposition.replaceAll('_', ' ')}`,
      `      ${row.tx_hash} of block ${row.block_number} ${placeOf(place)}`,
    ]),
    ...transactions.flatMap(({ row, now: place }) => [
      `    transaction of effect ${row.effect_key}: ${row.status}`,
      `      ${row.mined_hash} of block ${row.block_number} ${placeOf(place)}`,
    ]),
  ];
}

function amountOf({ tokens }: ReadChain['settings'], { token, amount }: RecordedDeposit): string {
  const known = tokens.find(({ address }) => sameAddress(address, token));
  return known === undefined
    ? `${amount} of ${token}`
    : `${formatFixed(BigInt(amount), known.decimals)} ${known.code}`;
}
