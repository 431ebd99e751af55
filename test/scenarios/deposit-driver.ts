import type { RequestOptions } from '@causeway/sdk';
import { expect } from 'vitest';
import { tokenBalance } from '../../apps/gateway/src/chain/token-reads.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { accountBalances } from '../../apps/gateway/src/engine/ledger.ts';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { type ChainDriver, chainDriver } from './chain-driver.ts';
import { atomic, type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { signSafeTransaction } from './orders-parties.ts';

type Hex = `0x${string}`;
export const CHAIN = 'base-mainnet';
export const REASON = { reason: 'ticket 13' };
export const code = ({ status, body }: Answer) => [status, body.error?.code];

// biome-ignore lint/suspicious/noExplicitAny: deposits are read as the wire has them
export type Deposit = any;

/** A gateway with chains with the simulated actors off. */
export async function startDepositDriver(): Promise<DepositDriver> {
  const gateway = await startGateway({
    chains: true,
    env: { RATE_LIMIT_PARTNER_PER_MINUTE: '100000', DEPOSIT_TOLERANCE_PCT: '0.01' },
  });
  await gateway.sdk().sandbox.setSettings({ auto_advance: false });
  return depositDriver(gateway);
}

export type DepositDriver = ReturnType<typeof depositDriver>;

/** What partner and operator do about odd deposits, and what has to be true after it. */
function depositDriver(gateway: TestGateway) {
  const driver: OrdersDriver = ordersDriver(gateway);
  const settlementChain: ChainDriver = chainDriver(gateway);
  const { settings } = gateway.deps.chains.get(CHAIN);
  const tokens: Record<string, Hex> = Object.fromEntries(
    settings.tokens.map(({ code: name, address }) => [name, address]),
  );

  const { operator } = gateway;
  const sdk = gateway.sdk();
  const decide = (depositId: string, decision: string, more: object = {}) =>
    operator.deposits.decide(depositId, { decision, ...REASON, ...more } as never);
  const depositsOf = async (orderId: string): Promise<Deposit[]> =>
    (await operator.deposits.list({ order_id: orderId })).body.data.deposits;
  const seen = (orderId: string, count = 1): Promise<Deposit[]> =>
    until(`${count} deposits`, async () => {
      const found = await depositsOf(orderId);
      return found.length >= count && found;
    });
  const reaches = (orderId: string, depositId: string, status: string): Promise<Deposit> =>
    until(`a deposit ${status}`, async () =>
      (await depositsOf(orderId)).find((one) => one.deposit_id === depositId && one.status === status),
    );
  const holds = (token: string, holder: string) =>
    tokenBalance(gateway.deps.chains.get(CHAIN).client, token as Hex, holder as Hex);

  /** An off-ramp order that waits for its deposit. */
  async function awaiting(): Promise<{ orderId: string; escrow: Hex; expected: bigint }> {
    const orderId = await driver.offrampOrder();
    const { escrow } = await until('the escrow', async () => {
      const funds = await driver.funds(orderId);
      return funds.escrow !== null && funds;
    });
    return { orderId, escrow: escrow.address, expected: atomic(escrow.expected_amount) };
  }

  async function signature(depositId: string): Promise<Hex> {
    const { typed_data } = await sdk.deposits.returnParameters(depositId);
    return signSafeTransaction(gateway.partners[0].walletPrivateKey as Hex, typed_data);
  }
  const handIn = (depositId: string, given: Hex, options?: RequestOptions) =>
    gateway.partner.deposits.authorizeReturn(depositId, { signature: given }, options);
  async function sendBack(orderId: string, depositId: string): Promise<Deposit> {
    expect((await handIn(depositId, await signature(depositId))).body.data).toEqual({
      deposit_id: depositId,
      status: 'returning',
    });
    return reaches(orderId, depositId, 'returned');
  }
  async function refunded(orderId: string): Promise<void> {
    expect((await driver.act(orderId, 'cancel')).status).toBe(200);
    expect((await driver.refund(orderId)).status).toBe(200);
    await until('the refund', async () => (await driver.funds(orderId)).escrow.state === 'emptied');
  }

  /** Books, chain and /funds say the same, and the reconciliation finds nothing. */
  async function agrees(orderId: string): Promise<void> {
    const onChain = await driver.escrowBalance(orderId);
    const [held] = await gateway.deps.db.query(SYSTEM, accountBalances, [`held:${orderId}`]);
    expect((await driver.escrowBooks(orderId)) + BigInt(held?.balance ?? 0)).toBe(onChain);
    const { escrow } = await driver.funds(orderId);
    expect(atomic(escrow.balance_on_chain)).toBe(onChain);
    expect(atomic(escrow.booked_amount) + atomic(escrow.held_amount)).toBe(onChain);
    await driver.booksBalance();
    const { escrows, books } = (await operator.reconciliation.get({ scope: 'all', limit: 500 })).body.data;
    expect(escrows.different).toEqual([]);
    expect(books.filter(({ balanced }) => !balanced)).toEqual([]);
  }

  return {
    gateway,
    driver,
    settlementChain,
    tokens,
    decide,
    depositsOf,
    seen,
    reaches,
    holds,
    awaiting,
    signature,
    handIn,
    sendBack,
    refunded,
    agrees,
  };
}
