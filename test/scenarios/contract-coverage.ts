import { NEW, ORDER_MACHINES, sourcesOf } from '@causeway/protocol';
import { expect } from 'vitest';
import type { OrderBook } from './order-book.ts';
import { CONTRACT_ROWS, type Direction, type RowName } from './order-contract.ts';

/**
 * Steps of the tables that need a chain which fails or a bridge which changes its mind, which a healthy one never does:
 * test/model takes them. A dispute that the operator decides for the buyer, and one on an order that was cancelled while its
 * buyer paid, are followed in orders-disputes.test.ts, an escrow that its owners emptied in third-parties.test.ts.
 */
const TAKEN_ELSEWHERE: Readonly<Record<Direction, readonly string[]>> = {
  onramp: [
    'crypto_release_pending → fiat_received_confirmed',
    'dispute_started → crypto_release_pending',
    'fiat_received_confirmed → failed',
    'send_out_failed → send_out_completed',
  ],
  offramp: [
    'cancelled → dispute_started',
    'crypto_release_pending → fiat_received_confirmed',
    'fiat_received_confirmed → failed',
  ],
};

/** The row on own_iban orders needs customers with accounts: orders-own-iban.test.ts follows it. */
const FOLLOWED_ELSEWHERE: readonly RowName[] = ['3.1 deposit matched'];

/** Fails as soon as the contract or the table has a step that no scenario of this file takes. */
export async function expectEveryRow(book: OrderBook, direction: Direction): Promise<void> {
  const rows = (Object.keys(CONTRACT_ROWS) as RowName[]).filter(
    (name) => CONTRACT_ROWS[name].direction === direction && !FOLLOWED_ELSEWHERE.includes(name),
  );
  expect(rows.filter((name) => !book.taken.has(name))).toEqual([]);
  const seen = await book.pairsSeen(direction);
  const unseen = stepsOf(direction).filter((step) => !seen.has(step));
  expect(unseen.sort()).toEqual([...TAKEN_ELSEWHERE[direction]].sort());
}

/** Every change of status that the machine knows, as the timeline shows it. */
function stepsOf(direction: Direction): string[] {
  const steps = ORDER_MACHINES[direction].transitions.flatMap((transition) =>
    sourcesOf(transition).map((from) => ({ from: from === NEW ? 'new' : from, to: transition.to })),
  );
  const changes = steps.filter(({ from, to }) => from !== to);
  return [...new Set(changes.map(({ from, to }) => `${from} → ${to}`))];
}
