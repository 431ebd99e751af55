import { expect } from 'vitest';
import { until } from '../harness/until.ts';
import type { FollowedOrder, OrderBook } from './order-book.ts';
import type { Situation } from './order-contract.ts';
import type { OrdersDriver } from './orders-driver.ts';

/** An off-ramp order and the partner whose it is. */
export type Followed = FollowedOrder & { readonly driver: OrdersDriver };

export const ANY_SIGNATURE = { signature: `0x${'11'.repeat(65)}` };

/** Opening and paying into orders, for several partners in turn. */
export interface OfframpSteps {
  follow(driver: OrdersDriver, orderId: string): Followed;
  open(fields?: Record<string, unknown>, driver?: OrdersDriver): Promise<Followed>;
  fund(fields?: Record<string, unknown>): Promise<Followed>;
  fundedAnd(status: FundedStatus): Promise<Followed>;
}

export async function prove(order: Followed): Promise<void> {
  expect((await order.driver.event(order.id, 'buyer_submits_proof')).status).toBe(200);
  await order.took('3.2 buyer submits proof');
}

export async function review(order: Followed): Promise<void> {
  expect((await order.driver.event(order.id, 'admin_reviews_proof')).status).toBe(200);
  await order.took('3.2 admin reviews proof');
}

export async function accept(order: Followed, situation?: Situation): Promise<void> {
  expect((await order.driver.event(order.id, 'proof_accepted')).status).toBe(200);
  await order.took('3.2 proof accepted', situation);
}

/** The partner signs the refund that is owed, and there is none after it. */
export async function refunded(order: Followed, status: 'cancelled' | 'failed'): Promise<void> {
  expect((await order.driver.refund(order.id)).status).toBe(200);
  await until('the refund', async () => (await order.driver.funds(order.id)).escrow.state === 'emptied');
  await order.is(status);
  await order.ended('returned');
  const again = await order.driver.act(order.id, 'authorize-refund', ANY_SIGNATURE);
  expect([again.status, again.body.error.code]).toEqual([409, 'INVALID_STATUS']);
}

/** What leads to each status between deposit and payout. */
const LEADS_TO = {
  crypto_received: [],
  fiat_payment_started: [prove],
  fiat_payment_review_started: [prove, review],
  awaiting_fiat_received_confirmation: [prove, review, accept],
} as const satisfies Record<string, readonly ((order: Followed) => Promise<void>)[]>;
export type FundedStatus = keyof typeof LEADS_TO;

export function offrampSteps(book: OrderBook, drivers: readonly [OrdersDriver, OrdersDriver]): OfframpSteps {
  let opened = 0;

  const steps: OfframpSteps = {
    follow: (driver, orderId) => ({ ...book.follow('offramp', orderId, driver), driver }),

    // A wallet's requests are executed one after the other, so the partners take turns.
    async open(fields = {}, driver = drivers[opened++ % 2 === 0 ? 0 : 1]) {
      const order = steps.follow(driver, await driver.offrampOrder(fields));
      await order.took('3.2 initiate');
      return order;
    },

    async fund(fields = {}) {
      const order = await steps.open(fields);
      const { body } = await order.driver.fund(order.id);
      expect(body.data).toEqual({ order_id: order.id, status: 'crypto_transfer_authorization_pending' });
      await order.took('3.2 authorize-crypto-transfer');
      return order;
    },

    async fundedAnd(status) {
      const order = await steps.fund();
      for (const step of LEADS_TO[status]) await step(order);
      return order;
    },
  };
  return steps;
}
