import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { type ChainDriver, chainDriver } from './chain-driver.ts';
import { type OfframpSteps, offrampSteps } from './offramp-steps.ts';
import { type OrderBook, openOrderBook } from './order-book.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { type OrderParties, orderParties } from './orders-parties.ts';

/** A gateway with chains, in which nothing happens but what a test does: the simulated actors are off. */
export interface OrdersFixture {
  readonly gateway: TestGateway;
  /** Of the first partner. */
  readonly driver: OrdersDriver;
  readonly parties: OrderParties;
}

export async function startOrdersFixture(env: Readonly<Record<string, string>> = {}): Promise<OrdersFixture> {
  const gateway = await startGateway({ chains: true, env });
  await stopSimulatedActors(gateway, 0);
  return { gateway, driver: ordersDriver(gateway), parties: orderParties(gateway) };
}

/** For off-ramp orders that are followed step by step, of both partners in turn. */
export interface OfframpFixture {
  readonly gateway: TestGateway;
  readonly drivers: readonly [OrdersDriver, OrdersDriver];
  readonly book: OrderBook;
  readonly steps: OfframpSteps;
  readonly settlementChain: ChainDriver;
}

export async function startOfframpFixture(): Promise<OfframpFixture> {
  const gateway = await startGateway({ chains: true, env: { RATE_LIMIT_PARTNER_PER_MINUTE: '1000000' } });
  const drivers = [ordersDriver(gateway), ordersDriver(gateway, gateway.partners[1])] as const;
  await Promise.all([stopSimulatedActors(gateway, 0), stopSimulatedActors(gateway, 1)]);
  const book = await openOrderBook(gateway, drivers[0]);
  return {
    gateway,
    drivers,
    book,
    steps: offrampSteps(book, drivers),
    settlementChain: chainDriver(gateway),
  };
}

async function stopSimulatedActors(gateway: TestGateway, partner: 0 | 1): Promise<void> {
  await gateway.sdk(gateway.partners[partner].apiKey).sandbox.setSettings({ auto_advance: false });
}

const WITHOUT_TREASURY = statement<[orderId: string]>(
  'test.forget_treasury',
  `UPDATE orders SET escrow = escrow - 'treasury' WHERE order_id = $1`,
);

/** As an order was before escrows kept it: the release then pays the treasury that the chains file names. */
export async function forgetTreasury({ gateway }: OrdersFixture, orderId: string): Promise<void> {
  await gateway.deps.db.query(SYSTEM, WITHOUT_TREASURY, [orderId]);
}
