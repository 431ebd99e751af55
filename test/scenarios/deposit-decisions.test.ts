import { randomUUID } from 'node:crypto';
import type { ListDepositsQuery } from '@causeway/sdk';
import { getAddress } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { closeFinishedWatches } from '../../apps/gateway/src/features/orders/escrow/reconcile-escrows.ts';
import { listSimulatedVendors } from '../../apps/gateway/src/features/vendors/simulated-vendor.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { untyped } from '../harness/sdk.ts';
import type { ChainDriver } from './chain-driver.ts';
import { CHAIN, code, type DepositDriver, REASON, startDepositDriver } from './deposit-driver.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { type OrderParties, orderParties, signSafeTransaction } from './orders-parties.ts';
import { thirdPartySender } from './third-party-sender.ts';

type Hex = `0x${string}`;
const BLOCKED = getAddress('0x000000000000000000000000000000000b10c4ed');
const readWatch = statement<[orderId: string], { is_open: boolean }>(
  'test.watch_of_order',
  'SELECT closed_at IS NULL AS is_open FROM escrow_watches WHERE order_id = $1',
);

describe('decisions and signatures about odd deposits', () => {
  let at: DepositDriver;
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let settlementChain: ChainDriver;
  let tokens: Record<string, Hex>;
  let parties: OrderParties;

  beforeAll(async () => {
    at = await startDepositDriver();
    ({ gateway, driver, settlementChain, tokens } = at);
    parties = orderParties(gateway);
  });
  afterAll(() => gateway?.stop());

  async function lateDeposit() {
    const { orderId, escrow } = await at.awaiting();
    await driver.act(orderId, 'cancel');
    await settlementChain.pay(gateway.partners[0], escrow, 1_000n);
    const [{ deposit_id: id }] = await at.seen(orderId);
    return { orderId, escrow, id: id as string };
  }

  it('of two at once one wins, and the audit log says who, why and what', async () => {
    const { orderId, id } = await lateDeposit();
    const answers = await Promise.all([
      at.decide(id, 'return'),
      at.decide(id, 'return'),
      at.decide(id, 'accept'),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const { entries } = (await gateway.operator.audit.list({ subject: `deposits/${id}` })).body.data;
    expect(entries).toMatchObject([
      { action: 'deposit.return', reason: REASON.reason, after: { return_to: driver.wallet } },
    ]);
    const given = await at.signature(id);
    const signed = await Promise.all([at.handIn(id, given), at.handIn(id, given)]);
    expect(signed.map(({ status }) => status).sort()).toEqual([200, 409]);
    await at.reaches(orderId, id, 'returned');
    await at.agrees(orderId);
  });

  it('are answered once a key, also after the money has moved', async () => {
    const { orderId, id } = await lateDeposit();
    const key = { idempotencyKey: randomUUID() };
    const body = { decision: 'return', ...REASON } as const;
    const first = await gateway.operator.deposits.decide(id, body, key);
    expect((await gateway.operator.deposits.decide(id, body, key)).text).toBe(first.text);
    const once = { idempotencyKey: randomUUID() };
    const given = await at.signature(id);
    const signed = await at.handIn(id, given, once);
    await at.reaches(orderId, id, 'returned');
    expect((await at.handIn(id, given, once)).text).toBe(signed.text);
    expect((await gateway.operator.deposits.decide(id, body, key)).text).toBe(first.text);
  });

  // Proves C7 DEPOSIT_NOT_FOUND.
  it('of an unknown deposit, another partner’s and a malformed one are refused', async () => {
    const { orderId, id } = await lateDeposit();
    expect(code(await at.decide(randomUUID(), 'return'))).toEqual([404, 'DEPOSIT_NOT_FOUND']);
    expect(code(await at.decide('x', 'return'))).toEqual([400, 'VALIDATION_ERROR']);
    expect(code(await at.decide(id, 'burn'))).toEqual([400, 'VALIDATION_ERROR']);
    expect(code(await at.decide(id, 'accept', { return_to: driver.wallet }))).toEqual([
      400,
      'VALIDATION_ERROR',
    ]);
    await at.decide(id, 'return');
    const other = ordersDriver(gateway, gateway.partners[1]);
    const ask = (depositId: string) => gateway.as(other.apiKey).deposits.returnParameters(depositId);
    const theirs = await ask(id);
    const unknown = await ask(randomUUID());
    expect([code(theirs), theirs.text]).toEqual([[404, 'DEPOSIT_NOT_FOUND'], unknown.text]);
    const foreignSignature = await signSafeTransaction(
      gateway.partners[1].walletPrivateKey as Hex,
      (await driver.sdk.deposits.returnParameters(id)).typed_data,
    );
    expect(code(await at.handIn(id, foreignSignature))).toEqual([502, 'ESCROW_SIGNER_MISMATCH']);
    expect((await at.depositsOf(orderId))[0].status).toBe('return_pending');
  });

  // Proves C7 WALLET_NOT_CLEARED.
  it('never pay a wallet that is not cleared, and an override is on record', async () => {
    const { orderId, id } = await lateDeposit();
    expect(code(await at.decide(id, 'return', { return_to: BLOCKED }))).toEqual([422, 'WALLET_NOT_CLEARED']);
    expect((await at.depositsOf(orderId))[0].status).toBe('held_for_review');
    const payee = privateKeyToAddress(`0x${'77'.repeat(32)}`);
    expect((await at.decide(id, 'return', { return_to: payee })).body.data).toMatchObject({
      return_to: payee,
    });
    expect((await at.decide(id, 'hold')).body.data).toMatchObject({
      status: 'held_for_review',
      return_to: null,
    });
    await at.decide(id, 'return', { return_to: payee });
    const { entries } = (await gateway.operator.audit.list({ subject: `deposits/${id}` })).body.data;
    expect(entries[0]).toMatchObject({ action: 'deposit.return', after: { return_to: payee } });
    const asked = await gateway.operator.deposits.signingParameters(id);
    const vendor = await parties.vendorOf(orderId);
    expect(asked.body.data.signer_addresses).toEqual([driver.wallet, vendor.wallet]);
    const vendors = await listSimulatedVendors(gateway.deps.db, gateway.deps.sealer);
    const { privateKey } = vendors.find(({ row }) => row.wallet_address === vendor.wallet)!;
    const given = await signSafeTransaction(privateKey, asked.body.data.typed_data);
    const carried = await gateway.operator.deposits.submitSignature(id, { signature: given, ...REASON });
    expect(carried.body.data).toMatchObject({ status: 'returning' });
    await at.reaches(orderId, id, 'returned');
    expect(await at.holds(tokens.USDC!, payee)).toBe(1_000n);
    await at.agrees(orderId);
  });

  it('keep the escrow of an order that is over in sight until the deposit is back', async () => {
    const { orderId, id } = await lateDeposit();
    const isWatched = async () => {
      while ((await closeFinishedWatches(gateway.deps)) > 0);
      const [watch] = await gateway.deps.db.query(SYSTEM, readWatch, [orderId]);
      return watch?.is_open;
    };
    await at.decide(id, 'return');
    expect(await isWatched()).toBe(true);
    await at.decide(id, 'hold');
    expect(await isWatched()).toBe(true);
    await at.decide(id, 'return');
    await at.sendBack(orderId, id);
    expect(await isWatched()).toBe(false);
  });

  // Proves trap 41.
  it('that a third party sends before the service does are settled from the chain, and once', async () => {
    const { orderId, escrow, id } = await lateDeposit();
    const before = await driver.balance(driver.wallet);
    await at.decide(id, 'return');
    const given = await at.signature(id);
    const thirdParty = await thirdPartySender(gateway, CHAIN);
    const { theirs } = await thirdParty.overtake(() => at.handIn(id, given));
    expect((await at.reaches(orderId, id, 'returned')).return.tx_hash).toBe(theirs);
    expect(await driver.balance(driver.wallet)).toBe(before + 1_000n);
    expect(await at.holds(tokens.USDC!, escrow)).toBe(0n);
    await at.agrees(orderId);
  });

  it('queue by status, kind, order and partner, page by page', async () => {
    const { orderId, id } = await lateDeposit();
    const ids = async (query: ListDepositsQuery) =>
      (await gateway.operator.deposits.list({ limit: 100, ...query })).body.data.deposits.map(
        ({ deposit_id }) => deposit_id,
      );
    expect(await ids({ status: 'held_for_review' })).toContain(id);
    expect(await ids({ status: 'returned' })).not.toContain(id);
    expect(await ids({ order_id: orderId, kind: 'short' })).toEqual([id]);
    expect(await ids({ partner_id: randomUUID() })).toEqual([]);
    const { pagination } = (await gateway.operator.deposits.list({ limit: 1, status: 'held_for_review' }))
      .body.data;
    expect(pagination).toMatchObject({ limit: 1, offset: 0 });
    expect(code(await gateway.operator.deposits.list(untyped({ status: 'odd' })))).toEqual([
      400,
      'VALIDATION_ERROR',
    ]);
  });
});
