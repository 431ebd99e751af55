import { formatFixed, isTerminal, ORDER_MACHINES, ORDER_STATUSES } from '@causeway/protocol';
import { tokenByCode } from '../../../chain/chain-settings.ts';
import type { Chains } from '../../../chain/chains.ts';
import { tokenBalance } from '../../../chain/token-reads.ts';
import { stopWatching } from '../../../chain/watcher/watch.store.ts';
import { type Database, SYSTEM } from '../../../db/database.ts';
import { type UnitDeps, unitOfWork } from '../../../engine/unit-of-work.ts';
import {
  type BookedEscrowRow,
  bookedEscrow,
  bookedEscrows,
  bookSums,
  overWithOpenWatch,
} from './escrow.store.ts';

interface ReconcileDeps {
  readonly db: Database;
  readonly chains: Chains;
}

export interface EscrowComparison {
  readonly order_id: string;
  readonly partner_id: string;
  readonly status: string;
  readonly escrow_address: string;
  readonly escrow_state: BookedEscrowRow['escrow_state'];
  readonly asset: string;
  readonly booked: string;
  readonly on_chain: string | null;
  readonly difference: string | null;
  readonly verdict: Verdict;
}

/** in_flight: the chain is ahead of the books, which follow once it is final. unreachable: no node answered. */
export type Verdict = 'equal' | 'in_flight' | 'different' | 'unreachable';

/** Nodes are asked for so many balances at once. */
const AT_ONCE = 20;

const OPEN_STATUSES = ORDER_STATUSES.filter((status) =>
  Object.values(ORDER_MACHINES).some((machine) => status in machine.statuses && !isTerminal(machine, status)),
);

/** Every movement is booked on both sides, so each asset sums to zero; anything else is a fault of ours. */
export async function checkBooks(db: Database) {
  const rows = await db.query(SYSTEM, bookSums, []);
  return rows.map(({ asset, sum }) => ({ asset, sum, balanced: sum === '0' }));
}

const WATCHES_AT_ONCE = 500;

/** The escrow of an order that is over is watched for a time from now on, and then no more. */
export async function closeFinishedWatches(deps: UnitDeps): Promise<number> {
  return unitOfWork(deps, SYSTEM, async (unit) => {
    const over = await unit.tx.query(overWithOpenWatch, [OPEN_STATUSES, WATCHES_AT_ONCE]);
    if (over.length > 0) {
      stopWatching(
        unit,
        over.map(({ order_id }) => order_id),
      );
    }
    return over.length;
  });
}

/** One page of escrows: what the books say each holds, beside what the chain says. */
export async function compareEscrows(
  { db, chains }: ReconcileDeps,
  scope: 'open' | 'all',
  page: { readonly after: string | null; readonly limit: number },
): Promise<EscrowComparison[]> {
  const openStatuses = scope === 'open' ? OPEN_STATUSES : null;
  const rows = await db.query(SYSTEM, bookedEscrows, [openStatuses, page.after, page.limit]);
  const compared: EscrowComparison[] = [];
  for (let start = 0; start < rows.length; start += AT_ONCE) {
    const some = rows.slice(start, start + AT_ONCE);
    compared.push(...(await Promise.all(some.map((row) => compare(chains, row)))));
  }
  return compared;
}

/** The escrow of one order; null where it has none. */
export async function compareEscrow(
  { db, chains }: ReconcileDeps,
  orderId: string,
): Promise<EscrowComparison | null> {
  const [row] = await db.query(SYSTEM, bookedEscrow, [orderId]);
  return row === undefined ? null : compare(chains, row);
}

async function compare(chains: Chains, row: BookedEscrowRow): Promise<EscrowComparison> {
  const onChain = await balanceOf(chains, row);
  const booked = BigInt(row.booked);
  const human = (amount: bigint) => formatFixed(amount, row.crypto_decimals);
  return {
    order_id: row.order_id,
    partner_id: row.partner_id,
    status: row.status,
    escrow_address: row.address,
    escrow_state: row.escrow_state,
    asset: `${row.crypto_currency}@${row.chain}`,
    booked: human(booked),
    on_chain: onChain === null ? null : human(onChain),
    difference: onChain === null ? null : human(onChain - booked),
    verdict: verdictOn(row, booked, onChain),
  };
}

function verdictOn(row: BookedEscrowRow, booked: bigint, onChain: bigint | null): Verdict {
  if (onChain === null) return 'unreachable';
  if (onChain === booked) return 'equal';
  // A payout is booked when it is final, and so is a deposit; until then the chain knows more.
  const isLeaving = row.escrow_state === 'releasing' || row.escrow_state === 'refunding';
  const returning = BigInt(row.returning);
  if (isLeaving && onChain === 0n) return 'in_flight';
  if (returning > 0n && onChain === booked - returning) return 'in_flight';
  const isArriving = row.escrow_state === 'none' && (OPEN_STATUSES as readonly string[]).includes(row.status);
  return isArriving ? 'in_flight' : 'different';
}

/** Null where the chain is no longer configured or no node answers: the rest of the page is still worth reading. */
async function balanceOf(chains: Chains, row: BookedEscrowRow): Promise<bigint | null> {
  try {
    const { client, settings } = chains.get(row.chain);
    return await tokenBalance(client, tokenByCode(settings, row.crypto_currency).address, row.address);
  } catch {
    return null;
  }
}
