import pg from 'pg';
import { encodeFunctionData, erc20Abi } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContractCall, Hex } from '../../apps/gateway/src/chain/chain-settings.ts';
import { batchCall } from '../../apps/gateway/src/chain/escrow/safe-transaction.ts';
import { inspectOrder } from '../../apps/gateway/src/chain/inspect/inspect-order.ts';
import { closeFinishedWatches } from '../../apps/gateway/src/features/orders/escrow/reconcile-escrows.ts';
import { reconcileAll } from '../../apps/gateway/src/features/reconciliation/reconcile.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import type { ChainDriver } from './chain-driver.ts';
import { escrowOf, ownersMove } from './escrow-owners.ts';
import type { OfframpSteps } from './offramp-steps.ts';
import type { FollowedOrder, OrderBook } from './order-book.ts';
import type { OrdersDriver } from './orders-driver.ts';
import { startOfframpFixture } from './orders-fixture.ts';
import { type ThirdPartySender, thirdPartySender } from './third-party-sender.ts';

const CHAIN = 'base-mainnet';
const DAY_SECONDS = 86_400;

/** What two owners or a wallet have signed, anyone may send: the order ends as it should all the same. */
describe('a third party who is first on chain', () => {
  let gateway: TestGateway;
  let drivers: readonly [OrdersDriver, OrdersDriver];
  let book: OrderBook;
  let steps: OfframpSteps;
  let settlementChain: ChainDriver;
  let owner: pg.Client;
  let thirdParty: ThirdPartySender;

  beforeAll(async () => {
    ({ gateway, drivers, book, steps, settlementChain } = await startOfframpFixture());
    owner = new pg.Client({ connectionString: gateway.databaseUrl });
    await owner.connect();
    thirdParty = await thirdPartySender(gateway, CHAIN);
  }, 120_000);
  afterAll(async () => {
    await owner?.end();
    await gateway?.stop();
  });

  const chain = () => gateway.deps.chains.get(CHAIN);
  const usdc = () => chain().settings.tokens.find(({ code }) => code === 'USDC')!.address;
  const receiptOf = (hash: Hex) => chain().client.getTransactionReceipt({ hash });

  async function ownersMoved(orderId: string, amount: bigint, nonce: bigint): Promise<Hex> {
    const theirs = await thirdParty.send(
      await ownersMove(gateway, orderId, { to: thirdParty.address, amount, nonce }),
    );
    await until('their transaction', () => receiptOf(theirs).catch(() => false));
    return theirs;
  }

  const differencesOf = async (orderId: string) =>
    (await gateway.operator.reconciliation.get({ limit: 1 })).body.data.differences.filter(
      ({ order_id }) => order_id === orderId,
    );

  const confirmable = () => steps.fundedAnd('awaiting_fiat_received_confirmation');

  async function lockedOnramp(): Promise<FollowedOrder> {
    const [driver] = drivers;
    const order = book.follow('onramp', await driver.onrampOrder());
    await order.took('3.1 initiate');
    await driver.event(order.id, 'vendor_accepts');
    await order.took('3.1 vendor accepts');
    await driver.event(order.id, 'escrow_funded');
    await order.took('3.1 crypto locked');
    return order;
  }

  /** The service's own transactions for an order's payout that were mined. */
  async function minedFor(orderId: string): Promise<string[]> {
    const { rows } = await owner.query(
      `SELECT t.status FROM intents i JOIN chain_transactions t
           ON t.effect_key = i.intent_id::text OR t.effect_key LIKE i.intent_id::text || ':%'
        WHERE i.kind LIKE 'escrow.%' AND i.payload->>'order_id' = $1 ORDER BY t.created_at`,
      [orderId],
    );
    return rows.map(({ status }) => status as string);
  }

  it('and deploys the escrow delays a release by one transaction and no more', async () => {
    const order = await confirmable();
    const { deploymentCall } = await escrowOf(gateway, order.id);
    await thirdParty.overtake(
      () => order.driver.act(order.id, 'confirm-fiat-received'),
      () => deploymentCall,
    );
    await order.took('3.2 confirm-fiat-received');
    await order.ended('released');
    expect(await minedFor(order.id)).toEqual(['reverted', 'succeeded']);
  });

  // Proves trap 41.
  it('and executes an off-ramp release has released it, and the order is completed by the third party’s transaction', async () => {
    const order = await confirmable();
    const { theirs } = await thirdParty.overtake(() => order.driver.act(order.id, 'confirm-fiat-received'));
    expect((await order.took('3.2 confirm-fiat-received')).tx_hash).toBe(theirs);
    await order.ended('released');
    expect(await minedFor(order.id)).toEqual(['reverted']);
    const chains = gateway.deps.chains.all.map(({ settings, client }) => ({ ...settings, client }));
    const text = (await inspectOrder({ db: gateway.deps.db, chains }, order.id))?.join('\n');
    expect(text).toContain(`  ${theirs}\n    sent by another account\n    succeeded`);
  });

  it('and clears the service’s transaction from its wallet delays a release by one transaction and no more', async () => {
    const order = await confirmable();
    await thirdParty.displace(() => order.driver.act(order.id, 'confirm-fiat-received'));
    await order.took('3.2 confirm-fiat-received');
    await order.ended('released');
    expect(await minedFor(order.id)).toEqual(['displaced', 'succeeded']);
    expect(await order.driver.escrowBooks(order.id)).toBe(0n);
    expect(await order.driver.escrowBalance(order.id)).toBe(0n);
    await order.driver.booksBalance();
    const { transactions, effects } = (await gateway.operator.orders.get(order.id)).body.data;
    expect(transactions.map(({ status }) => status)).toContain('displaced');
    expect(effects.find(({ kind }) => kind === 'escrow.release')).toMatchObject({ status: 'confirmed' });
  });

  it('and executes a release by hand, with the nonce of the service’s transaction, has released it', async () => {
    const order = await confirmable();
    const { theirs } = await thirdParty.displace(
      () => order.driver.act(order.id, 'confirm-fiat-received'),
      (ours) => ours,
    );
    expect((await order.took('3.2 confirm-fiat-received')).tx_hash).toBe(theirs);
    await order.ended('released');
    expect(await minedFor(order.id)).toEqual(['displaced']);
    expect(await order.driver.escrowBooks(order.id)).toBe(0n);
  });

  it('and executes an on-ramp release among transfers of nothing out of the escrow has released it', async () => {
    const [driver] = drivers;
    const order = await lockedOnramp();
    await driver.act(order.id, 'confirm-payment-sent');
    await order.took('3.1 confirm-payment-sent');
    const { escrow } = await driver.funds(order.id);
    const nothing: ContractCall = {
      to: usdc(),
      value: 0n,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transferFrom',
        args: [escrow.address, thirdParty.address, 0n],
      }),
    };
    const { theirs } = await thirdParty.overtake(
      () => driver.event(order.id, 'vendor_confirms_fiat'),
      (ours) => batchCall([nothing, ours, nothing], chain().settings.contracts.multiSendCallOnly),
    );
    expect((await order.took('3.1 vendor confirms fiat')).tx_hash).toBe(theirs);
    expect(await driver.escrowBooks(order.id)).toBe(0n);
    expect(await driver.escrowBalance(order.id)).toBe(0n);
    await driver.booksBalance();
  });

  it('and executes something else that two owners have signed has not released it: nothing is sent, and the order is held until an operator ends it', async () => {
    const [driver] = drivers;
    const order = await lockedOnramp();
    await driver.act(order.id, 'confirm-payment-sent');
    await order.took('3.1 confirm-payment-sent');
    const theirs = await ownersMoved(order.id, 1n, 0n);

    const told = driver.event(order.id, 'vendor_confirms_fiat');
    await until('the hold', async () => (await driver.funds(order.id)).held_for_review === true);
    expect((await driver.read(order.id)).status).toBe('fiat_received_confirmed');
    const { rows } = await owner.query(
      `SELECT status, last_error FROM intents WHERE kind = 'escrow.release' AND payload->>'order_id' = $1`,
      [order.id],
    );
    expect(rows).toEqual([
      { status: 'failed', last_error: 'another transaction has used the escrow’s nonce' },
    ]);
    expect(await minedFor(order.id)).toEqual([]);
    await told;

    // Releasing the hold only fails again; what is left in the escrow cannot be taken for nothing.
    const decided = (reason: string) => gateway.operator.orders.settleEscrowElsewhere(order.id, { reason });
    const early = await decided('what the owners agreed on');
    expect([early.status, early.body.error.code]).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    expect(early.body.error.message).toContain('still holds');
    expect((await driver.read(order.id)).status).toBe('fiat_received_confirmed');
    const rest = await driver.escrowBalance(order.id);
    await ownersMoved(order.id, rest, 1n);
    const found = async () => (await differencesOf(order.id)).map(({ kind }) => kind);
    await reconcileAll(gateway.deps);
    expect(await found()).toEqual(['escrow_balance']);

    const after = await until('the owners’ transaction to be read', async () => {
      const answer = await decided('what the owners agreed on');
      return answer.status === 200 && answer;
    });
    expect(after.body.data).toEqual({ order_id: order.id, status: 'failed' });
    const ended = await driver.read(order.id);
    expect(ended).toMatchObject({
      status: 'failed',
      failure: { code: 'ESCROW_SETTLED_ELSEWHERE', retryable: false },
      allowed_actions: [],
    });
    expect((await driver.published(order.id)).at(-1)).toBe('failed');
    expect(await driver.funds(order.id)).toMatchObject({
      summary: 'Two owners of the escrow have moved the crypto themselves. The order needs no action.',
      held_for_review: false,
      waiting_for: null,
      escrow: { state: 'emptied', booked_amount: '0.000000', balance_on_chain: '0.000000' },
    });
    expect(await driver.escrowBooks(order.id)).toBe(0n);
    await driver.booksBalance();
    const { entries } = (await gateway.operator.audit.list({ subject: `orders/${order.id}` })).body.data;
    expect(entries[0]).toMatchObject({
      action: 'order.escrow.settled-elsewhere',
      after: { status: 'failed', escrow: 'emptied', tx_hashes: [ended.tx_hash, theirs] },
    });
    await reconcileAll(gateway.deps);
    expect(await found()).toEqual([]);
    expect((await decided('again')).body.error.code).toBe('INVALID_STATUS');
  });

  // Proves trap 41.
  it('and executes the refund that a partner signed has refunded it', async () => {
    const order = await steps.fund();
    await order.driver.act(order.id, 'cancel', { reason: 'changed my mind' });
    await order.took('3.2 cancelled with a deposit', { refundOwed: true });
    const { theirs } = await thirdParty.overtake(() => order.driver.refund(order.id));
    await until('the refund', async () => (await order.driver.funds(order.id)).escrow.state === 'emptied');
    expect((await order.is('cancelled')).tx_hash).toBe(theirs);
    await order.ended('returned');
  });

  it('and executes the return of a vendor’s crypto has returned it', async () => {
    const [driver] = drivers;
    const order = await lockedOnramp();
    const { theirs } = await thirdParty.overtake(() =>
      driver.act(order.id, 'cancel', { reason: 'a scenario' }),
    );
    await until('the return', async () => (await driver.funds(order.id)).escrow.state === 'emptied');
    expect((await driver.read(order.id)).tx_hash).toBe(theirs);
    await order.ended('returned');
    expect((await driver.funds(order.id)).held_for_review).toBe(false);
  });

  // Proves trap 19, trap 41.
  it('and executes a partner’s forward request has funded its order', async () => {
    const order = await steps.open();
    const { theirs } = await thirdParty.overtake(() => order.driver.fund(order.id));
    expect((await order.took('3.2 authorize-crypto-transfer')).tx_hash).toBe(theirs);
    await order.ended('locked');
    const { rows } = await owner.query(
      `SELECT status, succeeded, tx_hash FROM forward_authorizations WHERE order_id = $1 AND status <> 'issued'`,
      [order.id],
    );
    expect(rows).toEqual([{ status: 'spent', succeeded: true, tx_hash: theirs }]);
  });

  it('pays into the escrow of a finished order and is seen for 30 days, and after that by the reconciliation', async () => {
    const order = await confirmable();
    await order.driver.act(order.id, 'confirm-fiat-received');
    await order.took('3.2 confirm-fiat-received');
    const { escrow } = await order.driver.funds(order.id);
    const isOpen = async () =>
      (
        await owner.query('SELECT closed_at IS NULL AS open FROM escrow_watches WHERE order_id = $1', [
          order.id,
        ])
      ).rows[0].open as boolean;
    const strays = async () =>
      (
        await owner.query(
          `SELECT amount::text FROM deposit_observations WHERE order_id = $1 AND kind = 'double' ORDER BY amount`,
          [order.id],
        )
      ).rows.map(({ amount }) => amount as string);
    const waiting = await steps.fund();
    while ((await closeFinishedWatches(gateway.deps)) > 0);
    expect(await isOpen()).toBe(false);
    const { rows } = await owner.query('SELECT closed_at FROM escrow_watches WHERE order_id = $1', [
      waiting.id,
    ]);
    expect(rows).toEqual([{ closed_at: null }]);

    const [partner] = gateway.partners;
    await gateway.partner.sandbox.advanceClock({ seconds: 29 * DAY_SECONDS });
    await settlementChain.pay(partner, escrow.address, 29n);
    await until('the stray deposit', async () => (await strays()).length === 1);

    await gateway.partner.sandbox.advanceClock({ seconds: 2 * DAY_SECONDS });
    await settlementChain.pay(partner, escrow.address, 31n);
    // What is paid after it to an order that is not over has been read, so its block has been, too.
    const { escrow: open } = await waiting.driver.funds(waiting.id);
    await settlementChain.pay(partner, open.address, 1n);
    await until('the block to be read', async () => {
      const { rowCount } = await owner.query(
        `SELECT FROM deposit_observations WHERE order_id = $1 AND kind = 'double'`,
        [waiting.id],
      );
      return rowCount === 1;
    });
    expect(await strays()).toEqual(['29']);
    await reconcileAll(gateway.deps);
    await until('what was paid later', async () => (await strays()).length === 2);
    expect(await strays()).toEqual(['29', '31']);
    expect(await isOpen()).toBe(true);
  });
});
