import { randomBytes } from 'node:crypto';
import { erc2771Forwarder, testToken } from '@causeway/contracts';
import pg from 'pg';
import { createTestClient, encodeFunctionData, erc20Abi, http, walletActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  forwardCall,
  fundEscrowData,
  hashForwardRequest,
  routerRequest,
} from '../../apps/gateway/src/chain/authorization/forward-request.ts';
import { forwarderNonce } from '../../apps/gateway/src/chain/authorization/issue-authorization.ts';
import type { ContractCall, Hex } from '../../apps/gateway/src/chain/chain-settings.ts';
import { inspectOrder } from '../../apps/gateway/src/chain/inspect/inspect-order.ts';
import { createChainClient } from '../../apps/gateway/src/chain/rpc/chain-client.ts';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { untyped } from '../harness/sdk.ts';
import { until } from '../harness/until.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';

const QUOTE_SECONDS = 15 * 60;
const GRACE_SECONDS = 1_800;

describe('a send-out whose bridge does not answer', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let owner: pg.Client;
  let orders: string[];

  beforeAll(async () => {
    gateway = await startGateway({
      chains: true,
      env: { BRIDGE_REVIEW_AFTER_SECONDS: `${GRACE_SECONDS}` },
    });
    driver = ordersDriver(gateway);
    owner = new pg.Client({ connectionString: gateway.databaseUrl });
    await owner.connect();
    // The solver takes deposits and then waits to be told what to do.
    await gateway.sdk().sandbox.setSettings({ auto_advance: false });
    orders = await Promise.all(Array.from({ length: 5 }, completed));
  }, 120_000);
  afterAll(async () => {
    await owner?.end();
    await gateway?.stop();
  });

  async function completed(): Promise<string> {
    const orderId = await driver.onrampOrder();
    await driver.event(orderId, 'vendor_accepts');
    await driver.event(orderId, 'escrow_funded');
    await driver.act(orderId, 'confirm-payment-sent');
    expect((await driver.event(orderId, 'vendor_confirms_fiat')).body.data.status).toBe('completed');
    return orderId;
  }
  const nextOrder = () => orders.pop() ?? completed();
  const newAddress = (): Hex => `0x${randomBytes(20).toString('hex')}`;
  const advance = (seconds: number) => gateway.partner.sandbox.advanceClock({ seconds });
  const isHeld = async (orderId: string): Promise<boolean> =>
    (await owner.query(`SELECT facts->>'held' AS held FROM orders WHERE order_id = $1`, [orderId])).rows[0]
      .held === 'true';
  const sendOutOf = async (orderId: string) =>
    (
      await owner.query(
        `SELECT status, deposit_tx_hash, bridge->>'quoteId' AS quote_id, deadline FROM forward_authorizations
          WHERE order_id = $1 AND purpose = 'bridge' AND status <> 'issued'`,
        [orderId],
      )
    ).rows[0] as { status: string; deposit_tx_hash: string | null; quote_id: string; deadline: string };
  const trackingOf = async (orderId: string) =>
    (
      await owner.query(
        `SELECT status, last_error FROM intents WHERE kind = 'bridge.track' AND payload->>'order_id' = $1`,
        [orderId],
      )
    ).rows[0] as { status: string; last_error: string | null } | undefined;

  /** What the partner is told who asks for a second send-out. */
  async function refusalOf(orderId: string, to: Hex): Promise<[number, string]> {
    const destination = { destination_chain: 'arbitrum-one', destination_address: to };
    const answer = await gateway.partner.orders.bridgeParameters(orderId, destination);
    return [answer.status, answer.body.error?.code];
  }

  async function paid(orderId: string, to: Hex): Promise<void> {
    expect((await driver.sendOut(orderId, to)).body.data.status).toBe('send_out_pending');
    await until('the deposit', async () => (await sendOutOf(orderId)).deposit_tx_hash !== null);
  }

  it('and was paid is held for the operator after the quote’s expiry and the grace, never failed, and completes when the bridge pays', async () => {
    const [orderId, other] = [await nextOrder(), await nextOrder()];
    const [to, otherTo] = [newAddress(), newAddress()];
    const before = await driver.balance(driver.wallet);
    await paid(orderId, to);
    await paid(other, otherTo);
    await advance(QUOTE_SECONDS + GRACE_SECONDS - 120);
    await until('another look', async () => (await trackingOf(orderId))?.status === 'unknown');
    expect(await isHeld(orderId)).toBe(false);

    await advance(180);
    await until('the hold', () => isHeld(orderId));
    await until('the other’s hold', () => isHeld(other));
    expect(await driver.read(orderId)).toMatchObject({
      status: 'send_out_pending',
      allowed_actions: [],
      hold: { reason: 'SETTLEMENT_REVIEW' },
    });
    await until('the reason', async () => (await trackingOf(orderId))?.last_error?.includes('overdue'));
    expect(await refusalOf(orderId, to)).toEqual([409, 'SEND_OUT_IN_PROGRESS']);

    // The operator lets it go on: it is not held a second time for the same silence.
    await driver.event(orderId, 'release_hold');
    await advance(60);
    expect((await driver.event(orderId, 'bridge_settles')).body.data.status).toBe('send_out_completed');
    expect(await isHeld(orderId)).toBe(false);
    expect(await driver.balance(to, 'arbitrum-one')).toBeGreaterThan(0n);

    expect((await driver.event(other, 'bridge_fails')).body.data.status).toBe('send_out_failed');
    const sent = before - (await driver.balance(driver.wallet));
    expect(await driver.balance(otherTo, 'arbitrum-one')).toBe(0n);
    expect(sent).toBeGreaterThan(0n);
    expect(await refusalOf(other, otherTo)).toEqual([409, 'OPERATION_NOT_ALLOWED']);
    await driver.event(other, 'release_hold');
    expect((await driver.sendOut(other, otherTo)).status).toBe(200);
    await driver.booksBalance();
  });

  /** The bridge pays without reporting it. */
  async function payout(to: Hex, amount: bigint): Promise<Hex> {
    const { settings, client } = gateway.deps.chains.get('arbitrum-one');
    const { address } = settings.tokens.find(({ code }) => code === 'USDC')!;
    const minter = await client.readContract({ address, abi: testToken.abi, functionName: 'owner' });
    const control = createTestClient({ mode: 'hardhat', transport: http(settings.rpcUrl) }).extend(
      walletActions,
    );
    await control.impersonateAccount({ address: minter });
    const hash = await control.sendTransaction({
      account: minter,
      chain: null,
      to: address,
      data: encodeFunctionData({ abi: testToken.abi, functionName: 'mint', args: [to, amount] }),
    });
    await control.mine({ blocks: settings.confirmations + 1 });
    return hash;
  }

  async function toAmountOf(orderId: string): Promise<bigint> {
    const { rows } = await owner.query(
      `SELECT bridge->>'toAmount' AS amount FROM forward_authorizations
        WHERE order_id = $1 AND purpose = 'bridge' AND status <> 'issued'`,
      [orderId],
    );
    return BigInt(rows[0].amount);
  }

  it('but names a payout that the other chain does not show is not believed', async () => {
    const orderId = await nextOrder();
    await paid(orderId, newAddress());
    const { quote_id: quoteId } = await sendOutOf(orderId);
    await owner.query(
      `UPDATE simulated_bridge_quotes SET status = 'settled', payout_tx_hash = $2 WHERE quote_id = $1`,
      [quoteId, `0x${'ab'.repeat(32)}`],
    );
    await advance(QUOTE_SECONDS + GRACE_SECONDS + 60);
    await until('the hold', () => isHeld(orderId));
    // The hold is committed before the look that placed it is: its words come a moment later.
    await until('the reason', async () =>
      (await trackingOf(orderId))?.last_error?.includes('does not show the payout'),
    );
    expect((await driver.read(orderId)).status).toBe('send_out_pending');
    await inspected(orderId);
  });

  it('but names one payout for two equal send-outs has ended one of them; the other is held for the operator', async () => {
    const to = newAddress();
    const orders = [await nextOrder(), await nextOrder()];
    for (const orderId of orders) await paid(orderId, to);
    const [amount, other] = [await toAmountOf(orders[0]!), await toAmountOf(orders[1]!)];
    expect(other).toBe(amount);
    const once = await payout(to, amount);
    // Both at the same moment, so that both find the payout unclaimed.
    const quotes = await Promise.all(orders.map(async (orderId) => (await sendOutOf(orderId)).quote_id));
    await owner.query(
      `UPDATE simulated_bridge_quotes SET status = 'settled', payout_tx_hash = $2 WHERE quote_id = ANY($1)`,
      [quotes, once],
    );
    const statuses = () =>
      Promise.all(orders.map(async (orderId) => (await driver.read(orderId)).status as string));
    await until('one of them', async () => (await statuses()).includes('send_out_completed'));
    await advance(QUOTE_SECONDS + GRACE_SECONDS + 60);
    const left = orders[(await statuses()).indexOf('send_out_pending')]!;
    await until('the hold', () => isHeld(left));
    await until('the reason', async () =>
      (await trackingOf(left))?.last_error?.includes('counted for another send-out'),
    );
    expect((await statuses()).toSorted()).toEqual(['send_out_completed', 'send_out_pending']);
    const settled = await owner.query(
      `SELECT count(*)::integer AS entries FROM ledger_entries WHERE kind = 'send_out_settled' AND order_id = ANY($1)`,
      [orders],
    );
    expect(settled.rows).toEqual([{ entries: 1 }]);

    // Paid after all, by another transaction: that one counts.
    const second = await payout(to, amount);
    await owner.query(`UPDATE simulated_bridge_quotes SET payout_tx_hash = $2 WHERE quote_id = $1`, [
      (await sendOutOf(left)).quote_id,
      second,
    ]);
    await advance(60);
    await until('the other', async () => (await driver.read(left)).status === 'send_out_completed');
    expect((await driver.read(left)).send_out_tx_hash).toBe(second);
    await driver.booksBalance();
  });

  describe('at all is ended by an operator', () => {
    const operate = (orderId: string, body: object, idempotencyKey?: string) =>
      gateway.operator.orders.decideSendOut(
        orderId,
        untyped({ reason: 'ticket 31', ...body }),
        idempotencyKey === undefined ? {} : { idempotencyKey },
      );
    const said = ({ status, body }: Answer) => [status, body.error?.code ?? body.data.status];
    const REFUSED = [409, 'OPERATION_NOT_ALLOWED'];
    const auditTrail = async (orderId: string) => (await gateway.operator.orders.get(orderId)).body.data;
    const bookings = async (orderId: string) =>
      (
        await owner.query(
          `SELECT p.account, p.amount::text FROM ledger_entries e JOIN ledger_postings p USING (entry_id)
            WHERE e.order_id = $1 AND e.kind = 'send_out_settled' ORDER BY p.amount`,
          [orderId],
        )
      ).rows as { account: string; amount: string }[];

    async function silent(to: Hex): Promise<string> {
      const orderId = await nextOrder();
      await paid(orderId, to);
      return orderId;
    }

    it('with a payout that the other chain shows, once; or as failed, after which it is sent out anew', async () => {
      const to = newAddress();
      const [arrived, lost, farAway] = [await silent(to), await silent(to), await silent(newAddress())];
      const tooEarly = await operate(arrived, { outcome: 'failed' });
      expect(said(tooEarly)).toEqual(REFUSED);
      // Held for another reason, while the bridge still has time: it is asked, not overruled.
      await driver.event(lost, 'hold_for_review');
      const inTime = await operate(lost, { outcome: 'failed' });
      expect([...said(inTime), inTime.body.error.message]).toEqual([
        ...REFUSED,
        'The bridge still has time to answer.',
      ]);
      expect((await driver.read(lost)).status).toBe('send_out_pending');
      await driver.event(lost, 'release_hold');
      await advance(QUOTE_SECONDS + GRACE_SECONDS + 60);
      for (const orderId of [arrived, lost, farAway]) await until('the hold', () => isHeld(orderId));

      const stray = `0x${'cd'.repeat(32)}`;
      expect(said(await operate(arrived, { outcome: 'settled', tx_hash: stray }))).toEqual(REFUSED);
      const short = await payout(to, (await toAmountOf(arrived)) - 1n);
      expect(said(await operate(arrived, { outcome: 'settled', tx_hash: short }))).toEqual(REFUSED);
      for (const body of [
        { outcome: 'settled' },
        { outcome: 'failed', tx_hash: stray },
        { outcome: 'odd' },
      ]) {
        expect((await operate(arrived, body)).status).toBe(400);
      }
      expect((await driver.read(arrived)).status).toBe('send_out_pending');
      expect(await bookings(arrived)).toEqual([]);
      expect((await trackingOf(arrived))?.status).toBe('unknown');

      const txHash = await payout(to, await toAmountOf(arrived));
      const settle = () => operate(arrived, { outcome: 'settled', tx_hash: txHash }, `settle-${arrived}`);
      const [one, two] = [await settle(), await settle()];
      expect(said(one)).toEqual([200, 'send_out_completed']);
      expect([two.text, two.headers.get('idempotency-replayed')]).toEqual([one.text, 'true']);
      const told = await auditTrail(arrived);
      expect(told.order).toMatchObject({ send_out_tx_hash: txHash, held_for_review: true });
      expect(told.audit).toMatchObject([{ action: 'order.send-out.settled', reason: 'ticket 31' }]);
      expect((await trackingOf(arrived))?.status).toBe('confirmed');
      const [minus, plus] = await bookings(arrived);
      expect([minus?.account, plus?.account]).toEqual([
        expect.stringMatching(/^outside:partner:/),
        expect.stringMatching(/^outside:bridge:/),
      ]);
      expect((await driver.published(arrived)).at(-1)).toBe('send_out_completed');
      await driver.event(arrived, 'release_hold');
      expect(await isHeld(arrived)).toBe(false);

      // The same payout does not count for a second order to the same wallet.
      expect(said(await operate(lost, { outcome: 'settled', tx_hash: txHash }))).toEqual(REFUSED);
      expect(said(await operate(lost, { outcome: 'failed' }))).toEqual([200, 'send_out_failed']);
      expect(said(await operate(lost, { outcome: 'failed' }))).toEqual([409, 'INVALID_STATUS']);
      expect(await bookings(lost)).toEqual([]);
      await driver.event(lost, 'release_hold');
      const { quote_id: first } = await sendOutOf(lost);
      expect((await driver.sendOut(lost, to)).body.data.status).toBe('send_out_pending');
      // Paid by the first bridge after all: not taken for the second send-out’s end.
      await owner.query(
        `UPDATE simulated_bridge_quotes SET status = 'settled', payout_tx_hash = $2 WHERE quote_id = $1`,
        [first, txHash],
      );
      await advance(60);
      expect((await driver.event(lost, 'bridge_settles')).body.data.status).toBe('send_out_completed');
      expect((await auditTrail(lost)).order.send_out_tx_hash).not.toBe(txHash);

      await owner.query(
        `UPDATE forward_authorizations SET bridge = jsonb_set(bridge, '{destinationChain}', '"far-away"')
          WHERE order_id = $1`,
        [farAway],
      );
      const word = await operate(farAway, { outcome: 'settled', tx_hash: stray });
      expect(said(word)).toEqual([200, 'send_out_completed']);
      const { rows } = await owner.query(
        `SELECT "after" FROM operator_audit WHERE subject = $1 AND action = 'order.send-out.settled'`,
        [`orders/${farAway}`],
      );
      expect(rows[0].after).toMatchObject({ tx_hash: stray, verified: false });
      expect(said(await operate(crypto.randomUUID(), { outcome: 'failed' }))).toEqual([
        404,
        'ORDER_NOT_FOUND',
      ]);
      await driver.booksBalance();
    });
  });

  /** What the operator reads who looks into it. */
  async function inspected(orderId: string): Promise<void> {
    const chains = gateway.deps.chains.all.map(({ settings, client }) => ({ ...settings, client }));
    const look = async (known: typeof chains, id = orderId) =>
      (await inspectOrder({ db: gateway.deps.db, chains: known }, id))?.join('\n');
    const text = await look(chains);
    expect(text).toContain('send_out_pending, HELD FOR REVIEW, settles in USDC on base-mainnet');
    expect(text).toContain('holds 0.000000 USDC now');
    expect(text).toMatch(/\d+\.\d{6} USDC from vendor: exact, credited/);
    expect(text).toMatch(/→ \d+\.\d{6} USDC from escrow to partner/);
    expect(text).toMatch(/→ \d+\.\d{6} USDC from escrow to treasury/);
    expect(text).toMatch(/→ \d+\.\d{6} USDC from partner to bridge solver/);
    expect(text).toMatch(/the bridge was paid by 0x[0-9a-f]{64}/);
    expect(text).toContain('OVERDUE since');
    expect(text).toContain('bridge.track: unknown');
    const gone = chains.map((chain) => ({
      ...chain,
      client: createChainClient({ ...chain, rpcUrl: 'http://127.0.0.1:9', rpcUrls: ['http://127.0.0.1:9'] }),
    }));
    const withoutChain = await look(gone);
    expect(withoutChain).toContain('base-mainnet CANNOT BE REACHED: this part is from our records alone');
    expect(withoutChain).not.toContain('127.0.0.1');
    expect(await look([])).toContain('is not configured here');
    expect(await look(chains, crypto.randomUUID())).toBeUndefined();
  }

  describe('because it could not be paid', () => {
    const chain = () => gateway.deps.chains.get('base-mainnet');
    const usdc = () => chain().settings.tokens.find(({ code }) => code === 'USDC')!.address;
    const usdt = () => chain().settings.tokens.find(({ code }) => code === 'USDT')!.address;
    const account = () => privateKeyToAccount(gateway.partners[0].walletPrivateKey as Hex);

    async function submit(call: ContractCall): Promise<void> {
      const { client, settings } = chain();
      const signed = await account().signTransaction({
        ...call,
        ...(await client.estimateFeesPerGas()),
        chainId: settings.chainId,
        type: 'eip1559',
        nonce: await client.getTransactionCount({ address: account().address }),
        gas: 2_000_000n,
      });
      const hash = await client.sendRawTransaction({ serializedTransaction: signed });
      expect((await client.waitForTransactionReceipt({ hash })).status).toBe('success');
    }

    const allow = (amount: bigint) =>
      submit({
        to: usdc(),
        value: 0n,
        data: encodeFunctionData({
          abi: erc20Abi,
          functionName: 'approve',
          args: [chain().settings.contracts.router, amount],
        }),
      });

    /** Signed while the wallet could pay, handed in when it no longer can. */
    async function authorizedInVain(orderId: string, to: Hex) {
      const signed = await driver.signedSendOut(orderId, {
        destination_chain: 'arbitrum-one',
        destination_address: to,
      });
      await allow(0n);
      expect((await driver.act(orderId, 'authorize-bridge', signed)).body.data.status).toBe(
        'send_out_pending',
      );
      return signed as { forward_request: Record<string, string>; signature: Hex };
    }

    it('stays pending while its signed request can still execute, and fails for good once the chain is past its deadline', async () => {
      const [orderId, to] = [await nextOrder(), newAddress()];
      await authorizedInVain(orderId, to);
      await advance(QUOTE_SECONDS + GRACE_SECONDS + 3_600);
      const { deadline } = await sendOutOf(orderId);
      const control = createTestClient({ mode: 'hardhat', transport: http(chain().settings.rpcUrl) });
      await control.setNextBlockTimestamp({ timestamp: BigInt(deadline) });
      await control.mine({ blocks: 3, interval: 0 });
      expect(await driver.read(orderId)).toMatchObject({ status: 'send_out_pending', allowed_actions: [] });
      expect(await isHeld(orderId)).toBe(false);

      await control.mine({ blocks: 3, interval: 1 });
      expect(await driver.reaches(orderId, 'send_out_failed')).toMatchObject({
        allowed_actions: ['authorize-bridge'],
      });
      await allow(2n ** 200n);
      await paid(orderId, to);
    });

    it('fails as soon as its nonce is spent without a deposit, by a third party’s batch or by another request', async () => {
      const { settings, client } = chain();
      const { forwarder } = settings.contracts;
      const orderId = await nextOrder();
      const { forward_request: request, signature } = await authorizedInVain(orderId, newAddress());
      await submit({
        to: forwarder,
        value: 0n,
        data: encodeFunctionData({
          abi: erc2771Forwarder.abi,
          functionName: 'executeBatch',
          args: [
            [
              {
                from: request.from as Hex,
                to: request.to as Hex,
                value: 0n,
                gas: BigInt(request.gas!),
                deadline: Number(request.deadline),
                data: request.data as Hex,
                signature,
              },
            ],
            account().address,
          ],
        }),
      });
      await driver.reaches(orderId, 'send_out_failed');
      expect((await sendOutOf(orderId)).status).toBe('spent');

      await allow(2n ** 200n);
      await authorizedInVain(orderId, newAddress());
      const other = routerRequest(settings, {
        from: account().address,
        nonce: await forwarderNonce(client, forwarder, account().address),
        deadline: Number((await client.getBlock()).timestamp) + 600,
        gas: 300_000n,
        data: fundEscrowData({
          orderId: crypto.randomUUID(),
          token: usdt(),
          escrow: newAddress(),
          amount: 1n,
        }),
      });
      const otherSignature = await account().sign({ hash: hashForwardRequest(settings, other) });
      await submit(forwardCall(settings, other, otherSignature));
      expect(await driver.reaches(orderId, 'send_out_failed')).toMatchObject({
        allowed_actions: ['authorize-bridge'],
      });
      await allow(2n ** 200n);
    });
  });
});
