import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer, TestGateway } from '../harness/gateway.ts';
import { holdRow } from '../harness/held-row.ts';
import type { FiatDriver } from './fiat-driver.ts';
import type { FollowedOrder } from './order-book.ts';
import type { OrdersDriver } from './orders-driver.ts';
import { type OwnIbanFixture, openOwnIbanFixture } from './own-iban-fixture.ts';

const AT_ONCE = 64;
const ROUNDS = 4;

describe('deposits that meet each other, and cancellations', () => {
  let fixture: OwnIbanFixture;
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let fiat: FiatDriver;

  beforeAll(async () => {
    fixture = await openOwnIbanFixture();
    ({ gateway, driver, fiat } = fixture);
  });
  afterAll(() => gateway?.stop());

  // Proves trap 28.
  it('a transfer is taken once, however often and by how many at once it is reported', async () => {
    const ada = await fixture.holder();
    const order = await fixture.locked(ada, '55.55');
    // Several are under way before the first can be finished.
    const row = await holdRow(gateway, order.id);
    const running = Array.from({ length: AT_ONCE }, () => ada.pay('55.55', { transaction_id: 'E2E-1' }));
    await row.waiters(4);
    await row.letGo();
    const reports = await Promise.all(running);
    expect(new Set(reports.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(reports.map(({ body }) => `${body.data.id} ${body.data.order_id}`)).size).toBe(1);
    await order.took('3.1 deposit matched');
    expect(await ada.payments()).toHaveLength(1);
    expect(await fiat.ledger(ada.userId, ada.accountId)).toMatchObject({
      balance: '0.00',
      pagination: { total: 2 },
    });
    // Reported once more, by the bank itself and with another amount: it is the same transfer.
    expect((await ada.pay('66.66', { transaction_id: 'E2E-1' })).body.data).toMatchObject({
      amount: '55.55',
    });
    expect(await ada.payments()).toHaveLength(1);
    await fixture.completed(order);
    await driver.booksBalance();
  });

  it('different transfers at once pay an order once, and the rest stays', async () => {
    const ada = await fixture.holder();
    const order = await fixture.locked(ada, '77.00');
    const answers = await Promise.all(Array.from({ length: 8 }, () => ada.pay('77.00')));
    const statuses = answers.map(({ body }) => body.data.status).sort();
    expect(statuses).toEqual(['matched', ...Array(7).fill('received')]);
    await order.took('3.1 deposit matched');
    expect(await fiat.ledger(ada.userId, ada.accountId)).toMatchObject({ balance: '539.00' });
    await fixture.completed(order);
  });

  it.each([
    ['a deposit', 'a cancellation', true],
    ['a cancellation', 'a deposit', false],
  ])('%s that comes just before %s wins, and no money is lost', async (_first, _second, depositFirst) => {
    const ada = await fixture.holder();
    const order = await fixture.locked(ada, '21.00');
    // Both wait for the same row, in the order in which they came.
    const row = await holdRow(gateway, order.id);
    const acts = {
      pay: () => ada.pay('21.00'),
      cancel: () => driver.act(order.id, 'cancel'),
    };
    const running: Partial<Record<keyof typeof acts, Promise<Answer>>> = {};
    for (const act of depositFirst ? (['pay', 'cancel'] as const) : (['cancel', 'pay'] as const)) {
      running[act] = acts[act]();
      await row.waiters(Object.keys(running).length);
    }
    await row.letGo();
    const [paid, stopped] = [await running.pay!, await running.cancel!];
    expect([paid.body.data.status, stopped.status]).toEqual(
      depositFirst ? ['matched', 409] : ['received', 200],
    );
    if (depositFirst) {
      await order.took('3.1 deposit matched');
      await fixture.completed(order);
    } else {
      await fixture.cancelled(order);
    }
    expect((await fiat.ledger(ada.userId, ada.accountId)).balance).toBe(depositFirst ? '0.00' : '21.00');
    await driver.booksBalance();
  });

  it('deposits and cancellations at once have one winner each', async () => {
    const ada = await fixture.holder();
    const amounts = Array.from({ length: ROUNDS }, (_, round) => `${30 + round}.00`);
    const orders: FollowedOrder[] = [];
    for (const amount of amounts) orders.push(await fixture.locked(ada, amount));
    const outcomes = await Promise.all(
      orders.map(async (order, index) => {
        const [paid, stopped] = await Promise.all([ada.pay(amounts[index]!), driver.act(order.id, 'cancel')]);
        return [paid.body.data.status, stopped.status] as const;
      }),
    );
    let left = 0;
    for (const [index, [status, stopped]] of outcomes.entries()) {
      const order = orders[index]!;
      expect([status, stopped]).toEqual(status === 'matched' ? ['matched', 409] : ['received', 200]);
      if (status === 'received') left += Number(amounts[index]);
      if (status === 'received') await fixture.cancelled(order);
      else {
        await order.took('3.1 deposit matched');
        await fixture.completed(order);
      }
    }
    expect(Number((await fiat.ledger(ada.userId, ada.accountId)).balance)).toBe(left);
    await driver.booksBalance();
  });

  it('two operators who match one payment with two orders pay one of them', async () => {
    const ada = await fixture.holder();
    const orders = [await fixture.locked(ada, '44.00'), await fixture.locked(ada, '44.00')];
    const { id: paymentId, status } = (await ada.pay('44.00')).body.data;
    expect(status).toBe('held_for_review');
    const decisions = await Promise.all(
      orders.map((order) =>
        gateway.operator.fiatPayments.decide(paymentId, {
          decision: 'match',
          order_id: order.id,
          reason: 'ticket 9',
        }),
      ),
    );
    expect(decisions.map((answer) => answer.status).sort()).toEqual([200, 409]);
    const paid = decisions[0]?.status === 200 ? 0 : 1;
    await orders[paid]!.took('3.1 deposit matched');
    await fixture.completed(orders[paid]!);
    const other = orders[1 - paid]!;
    await other.is('awaiting_fiat_transfer', { ownIban: true, wasHeld: true });
    expect((await driver.act(other.id, 'cancel')).status).toBe(200);
    await fixture.cancelled(other);
    expect((await fiat.ledger(ada.userId, ada.accountId)).balance).toBe('0.00');
    await driver.booksBalance();
  });

  it('wallets of partner, vendors and treasury changed by exactly what the orders moved', () =>
    fixture.book.checkWallets());
});
