import { expect } from 'vitest';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { type FiatDriver, fiatDriver } from './fiat-driver.ts';
import { type FollowedOrder, type OrderBook, openOrderBook } from './order-book.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';

/** A customer with an account that can be paid into. */
export interface Holder {
  readonly userId: string;
  readonly accountId: string;
  pay(amount: string, more?: object): ReturnType<FiatDriver['deposit']>;
  payments(): ReturnType<FiatDriver['payments']>;
}

/** A gateway where customers pay from accounts of their own, and every order is followed. */
export interface OwnIbanFixture {
  readonly gateway: TestGateway;
  readonly driver: OrdersDriver;
  readonly fiat: FiatDriver;
  readonly book: OrderBook;
  holder(): Promise<Holder>;
  /** An order whose crypto is locked and that waits for the customer's deposit. */
  locked(holder: Holder, fiatAmount?: string): Promise<FollowedOrder>;
  /** The vendor has the fiat of an order that was paid. */
  completed(order: FollowedOrder): Promise<void>;
  cancelled(order: FollowedOrder): Promise<void>;
}

export async function openOwnIbanFixture(): Promise<OwnIbanFixture> {
  const gateway = await startGateway({ chains: true, env: { RATE_LIMIT_PARTNER_PER_MINUTE: '1000000' } });
  const driver = ordersDriver(gateway);
  const fiat = fiatDriver(gateway);
  await driver.sdk.sandbox.setSettings({ auto_advance: false });
  const book = await openOrderBook(gateway, driver);
  return {
    gateway,
    driver,
    fiat,
    book,

    async holder() {
      const userId = await fiat.customer();
      const accountId = await fiat.account(userId);
      return {
        userId,
        accountId,
        pay: (amount, more = {}) => fiat.deposit(userId, accountId, { amount, ...more }),
        payments: () => fiat.payments(userId, accountId),
      };
    },

    async locked({ userId }, fiatAmount = '100.00') {
      const id = await driver.onrampOrder({ user_uuid: userId, fiat_amount: fiatAmount });
      const order = book.follow('onramp', id);
      expect(await order.took('3.1 initiate')).toMatchObject({ fiat_funding_source: 'own_iban' });
      expect((await driver.event(order.id, 'vendor_accepts')).status).toBe(200);
      await order.took('3.1 vendor accepts');
      expect((await driver.event(order.id, 'escrow_funded')).status).toBe(200);
      await order.took('3.1 crypto locked', { ownIban: true });
      return order;
    },

    async completed(order) {
      expect((await driver.event(order.id, 'vendor_confirms_fiat')).status).toBe(200);
      await order.took('3.1 vendor confirms fiat');
      await order.ended('released');
    },

    async cancelled(order) {
      await order.took('cancelled before the payment');
      await order.ended('returned');
    },
  };
}
