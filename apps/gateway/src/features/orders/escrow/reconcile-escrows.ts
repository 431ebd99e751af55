import {
  formatFixed,
  isTerminal,
  ORDER_MACHINES,
  ORDER_STATUSES,
  type ReconciliationVerdict,
} from '@causeway/protocol';
import { tokenByCode } from '../../../chain/chain-settings.ts';
import type { Chains } from '../../../chain/chains.ts';
import { tokenBalance } from '../../../chain/token-reads.ts';
import { readCursor, searchAgain, stopWatching } from '../../../chain/watcher/watch.store.ts';
import { type Database, SYSTEM } from '../../../db/database.ts';
import { type Difference, difference, type ReconciliationPart } from '../../../engine/reconciliation-part.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../../engine/unit-of-work.ts';
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
  readonly verdict: ReconciliationVerdict;
}

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
    compared.push(...(await Promise.all(some.map((row) => compare({ db, chains }, row)))));
  }
  return compared;
}

/** The escrow of one order; null where it has none. */
export async function compareEscrow(
  { db, chains }: ReconcileDeps,
  orderId: string,
): Promise<EscrowComparison | null> {
  const [row] = await db.query(SYSTEM, bookedEscrow, [orderId]);
  return row === undefined ? null : compare({ db, chains }, row);
}

async function compare(deps: ReconcileDeps, row: BookedEscrowRow): Promise<EscrowComparison> {
  const onChain = await balanceOf(deps.chains, row);
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
    verdict: await verdictOn(deps, row, booked, onChain),
  };
}

/** in_flight: the chain is ahead of the books, which follow once it is final. unreachable: no node answered. */
async function verdictOn(
  deps: ReconcileDeps,
  row: BookedEscrowRow,
  booked: bigint,
  onChain: bigint | null,
): Promise<ReconciliationVerdict> {
  if (onChain === null) return 'unreachable';
  if (onChain === booked) return 'equal';
  // A payout is booked when it is final, and so is a deposit; until then the chain knows more.
  const isLeaving = row.escrow_state === 'releasing' || row.escrow_state === 'refunding';
  const returning = BigInt(row.returning);
  if (isLeaving && onChain === 0n) return 'in_flight';
  if (returning > 0n && onChain === booked - returning) return 'in_flight';
  const isArriving = row.escrow_state === 'none' && (OPEN_STATUSES as readonly string[]).includes(row.status);
  return isArriving && !(await isPassedOver(deps, row)) ? 'in_flight' : 'different';
}

/** Whether the watcher has read the block in which the escrow had more than the books say, where the nodes still know. */
async function isPassedOver({ db, chains }: ReconcileDeps, row: BookedEscrowRow): Promise<boolean> {
  const { chainId } = chains.get(row.chain).settings;
  const cursor = await readCursor(db, chainId);
  // What was found up to there is booked in the transaction that moves the cursor there.
  const [after] = await db.query(SYSTEM, bookedEscrow, [row.order_id]);
  if (cursor === undefined || after === undefined) return false;
  const final = await balanceOf(chains, row, cursor.blockNumber);
  return final !== null && final > BigInt(after.booked);
}

/** Null where the chain is no longer configured or no node answers: the rest of the page is still worth reading. */
async function balanceOf(chains: Chains, row: BookedEscrowRow, blockNumber?: bigint): Promise<bigint | null> {
  try {
    const { client, settings } = chains.get(row.chain);
    const token = tokenByCode(settings, row.crypto_currency).address;
    return await tokenBalance(client, token, row.address, blockNumber);
  } catch {
    return null;
  }
}

/** Pages of open escrows are all looked at in a run, of finished ones so many: each asks a node. */
const PAGE = 200;

function ofEscrow(one: EscrowComparison): Difference {
  return difference('escrow_balance', one.order_id, {
    orderId: one.order_id,
    asset: one.asset,
    escrowAddress: one.escrow_address,
    expected: one.booked,
    found: one.on_chain ?? '0',
    difference: one.difference,
  });
}

/** The blocks behind the watcher are searched once more for the escrow that differs. Null where it is none. */
export async function searchEscrowAgain(
  unit: UnitOfWork,
  { orderId, escrowAddress, found }: Pick<Difference, 'orderId' | 'escrowAddress' | 'found'>,
  how: { readonly anew: boolean },
): Promise<Date | null> {
  if (orderId === null || escrowAddress === null) return null;
  return searchAgain(unit, { orderId, address: escrowAddress, balance: found }, how);
}

/** What the books say each escrow holds against the chain: those in use in every run, the finished ones by and by. */
export function escrowPart(deps: ReconcileDeps): ReconciliationPart {
  return {
    name: 'escrows',
    kinds: ['escrow_balance'],
    async sweep(cursor) {
      const compared: EscrowComparison[] = [];
      for (let after: string | null = null; ; ) {
        const page: EscrowComparison[] = await compareEscrows(deps, 'open', { after, limit: PAGE });
        compared.push(...page);
        after = page.at(-1)?.order_id ?? null;
        if (page.length < PAGE) break;
      }
      const others = await compareEscrows(deps, 'all', { after: cursor, limit: PAGE });
      const inUse = new Set(compared.map(({ order_id }) => order_id));
      compared.push(...others.filter(({ order_id }) => !inUse.has(order_id)));
      return {
        checked: compared.length,
        found: compared.filter(({ verdict }) => verdict === 'different').map(ofEscrow),
        unreachable: compared.filter(({ verdict }) => verdict === 'unreachable').length,
        next: others.length < PAGE ? null : (others.at(-1)?.order_id ?? null),
      };
    },
    async again(subject) {
      const compared = await compareEscrow(deps, subject);
      const verdict = compared?.verdict ?? 'equal';
      return compared !== null && verdict === 'different'
        ? { verdict, found: ofEscrow(compared) }
        : { verdict };
    },
    async mend(unit, found) {
      await searchEscrowAgain(unit, found, { anew: false });
    },
  };
}

/** The books against themselves. */
export function bookPart({ db }: Pick<ReconcileDeps, 'db'>): ReconciliationPart {
  const look = async () =>
    (await checkBooks(db))
      .filter(({ balanced }) => !balanced)
      .map(({ asset, sum }) =>
        difference('books_unbalanced', asset, { asset, expected: '0', found: sum, difference: sum }),
      );
  return {
    name: 'books',
    kinds: ['books_unbalanced'],
    sweep: async () => ({ checked: 1, found: await look(), unreachable: 0, next: null }),
    async again(subject) {
      const found = (await look()).find((one) => one.subject === subject);
      return found === undefined ? { verdict: 'equal' } : { verdict: 'different', found };
    },
  };
}
