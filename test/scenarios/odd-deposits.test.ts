import { randomUUID } from 'node:crypto';
import { getAddress, numberToHex, parseGwei } from 'viem';
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenBalance } from '../../apps/gateway/src/chain/token-reads.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { accountBalances } from '../../apps/gateway/src/engine/ledger.ts';
import { listSimulatedVendors } from '../../apps/gateway/src/features/vendors/simulated-vendor.ts';
import { callRpc } from '../../apps/gateway/src/local/chain-rpc.ts';
import { type Answer, startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { type ChainHands, chainHands } from './chain-hands.ts';
import { atomic, type OrdersDesk, ordersDesk } from './orders-desk.ts';
import { type OrderParties, orderParties, signSafeTransaction } from './orders-parties.ts';

type Hex = `0x${string}`;
const CHAIN = 'base-mainnet';
const REASON = { reason: 'ticket 13' };
const BLOCKED = getAddress('0x000000000000000000000000000000000b10c4ed');
const code = ({ status, body }: Answer) => [status, body.error?.code];
/** Far above what the service offers: in such a block only the stranger's transaction is mined. */
const DEAR = parseGwei('5000');

const openTransaction = statement<[since: Date], { tx_hash: Hex; to_address: Hex; data: Hex }>(
  'test.open_transaction',
  `SELECT v.tx_hash, t.to_address, t.data FROM chain_transactions t
     JOIN chain_signed_versions v USING (transaction_id)
    WHERE t.status = 'open' AND t.created_at >= $1 ORDER BY t.created_at DESC LIMIT 1`,
);

/** More than the tolerance of these tests. */
const MISSING = 1_000_000n;
const NOT_ALLOWED = [409, 'OPERATION_NOT_ALLOWED'];

// biome-ignore lint/suspicious/noExplicitAny: deposits are read as the wire has them
type Deposit = any;

describe('a payment into an escrow that is not exactly what was awaited', () => {
  let gateway: TestGateway;
  let desk: OrdersDesk;
  let parties: OrderParties;
  let hands: ChainHands;
  let tokens: Record<string, Hex>;

  beforeAll(async () => {
    gateway = await startGateway({
      chains: true,
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '100000', DEPOSIT_TOLERANCE_PCT: '0.01' },
    });
    desk = ordersDesk(gateway);
    parties = orderParties(gateway);
    hands = chainHands(gateway);
    const { settings } = gateway.deps.chains.get(CHAIN);
    tokens = Object.fromEntries(settings.tokens.map(({ code: name, address }) => [name, address]));
    await gateway.call('PUT', '/api/v1/sandbox/settings', { body: { auto_advance: false } });
  });
  afterAll(() => gateway?.stop());

  const operate = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
    gateway.call(method, `/api/v1/operator/${path}`, {
      key: gateway.sandbox.operatorKey,
      ...(body ? { body } : {}),
      ...(headers ? { headers } : {}),
    });
  const decide = (depositId: string, decision: string, more: object = {}) =>
    operate('POST', `deposits/${depositId}/decision`, { decision, ...REASON, ...more });
  const depositsOf = async (orderId: string): Promise<Deposit[]> =>
    (await operate('GET', `deposits?order_id=${orderId}`)).body.data.deposits;
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
    const orderId = await desk.offrampOrder();
    const { escrow } = await until('the escrow', async () => {
      const funds = await desk.funds(orderId);
      return funds.escrow !== null && funds;
    });
    return { orderId, escrow: escrow.address, expected: atomic(escrow.expected_amount) };
  }

  const pathOf = (depositId: string) => `/api/v1/partner/deposits/${depositId}`;

  async function signature(depositId: string): Promise<Hex> {
    const asked = await gateway.call('GET', `${pathOf(depositId)}/return-authorization-parameters`);
    expect(asked.body).toMatchObject({ success: true });
    return signSafeTransaction(gateway.partners[0].walletPrivateKey as Hex, asked.body.data.typed_data);
  }
  const handIn = (depositId: string, given: Hex, headers?: Record<string, string>) =>
    gateway.call('POST', `${pathOf(depositId)}/authorize-return`, {
      body: { signature: given },
      ...(headers ? { headers } : {}),
    });
  async function sendBack(orderId: string, depositId: string): Promise<Deposit> {
    expect((await handIn(depositId, await signature(depositId))).body.data).toEqual({
      deposit_id: depositId,
      status: 'returning',
    });
    return reaches(orderId, depositId, 'returned');
  }
  async function refunded(orderId: string): Promise<void> {
    expect((await desk.act(orderId, 'cancel')).status).toBe(200);
    expect((await desk.refund(orderId)).status).toBe(200);
    await until('the refund', async () => (await desk.funds(orderId)).escrow.state === 'emptied');
  }

  /** Books, chain and /funds say the same, and the reconciliation finds nothing. */
  async function agrees(orderId: string): Promise<void> {
    const onChain = await desk.escrowBalance(orderId);
    const [held] = await gateway.deps.db.query(SYSTEM, accountBalances, [`held:${orderId}`]);
    expect((await desk.escrowBooks(orderId)) + BigInt(held?.balance ?? 0)).toBe(onChain);
    const { escrow } = await desk.funds(orderId);
    expect(atomic(escrow.balance_on_chain)).toBe(onChain);
    expect(atomic(escrow.booked_amount) + atomic(escrow.held_amount)).toBe(onChain);
    await desk.booksBalance();
    const { escrows, books } = (await operate('GET', 'reconciliation?scope=all&limit=500')).body.data;
    expect(escrows.different).toEqual([]);
    expect(books.filter(({ balanced }: { balanced: boolean }) => !balanced)).toEqual([]);
  }

  it('too short: it is shown, cannot be accepted alone, and with what was missing the order goes on', async () => {
    const { orderId, escrow, expected } = await awaiting();
    await hands.pay(gateway.partners[0], escrow, expected - MISSING);
    const [short] = await seen(orderId);
    expect(short).toMatchObject({
      status: 'held_for_review',
      kind: 'short',
      sender: desk.wallet,
      token: 'USDC',
      amount_atomic: `${expected - MISSING}`,
      expected: { sender: desk.wallet, token: 'USDC' },
      order_status: 'awaiting_crypto_transfer_authorization',
      return: null,
    });
    const funds = await desk.funds(orderId);
    expect(funds.summary).not.toContain('Nothing has been paid');
    expect(funds.summary).toContain(short.amount);
    expect(funds.escrow.balances).toMatchObject([{ token: 'USDC', amount_atomic: `${expected - MISSING}` }]);
    expect(funds.deposits).toMatchObject([{ deposit_id: short.deposit_id, status: 'held_for_review' }]);
    await agrees(orderId);
    expect(code(await decide(short.deposit_id, 'accept'))).toEqual(NOT_ALLOWED);

    await hands.pay(gateway.partners[0], escrow, MISSING);
    await seen(orderId, 2);
    const decided = await decide(short.deposit_id, 'accept');
    expect(decided.body.data).toMatchObject({ status: 'accepted', credited_atomic: `${expected - MISSING}` });
    expect((await depositsOf(orderId)).map(({ status }) => status)).toEqual(['accepted', 'accepted']);
    expect((await desk.read(orderId)).status).not.toBe('awaiting_crypto_transfer_authorization');
    expect(await desk.published(orderId)).toContain('crypto_received');
    await agrees(orderId);
    expect(code(await decide(short.deposit_id, 'return'))).toEqual([409, 'INVALID_STATUS']);
    await refunded(orderId);
    await agrees(orderId);
    expect(await holds(tokens.USDC!, escrow)).toBe(0n);
  });

  it('one unit short is within the tolerance: the order goes on, and the platform’s fee alone bears the unit', async () => {
    const { treasury } = gateway.deps.chains.get(CHAIN).settings;
    const { orderId, escrow, expected } = await awaiting();
    await hands.pay(gateway.partners[0], escrow, expected - 1n);
    const [{ deposit_id: id }] = await seen(orderId);
    expect((await decide(id, 'accept')).body.data).toMatchObject({
      status: 'accepted',
      credited_atomic: `${expected - 1n}`,
    });
    await desk.reaches(orderId, 'crypto_received');
    await agrees(orderId);
    const vendor = await parties.vendorOf(orderId);
    const before = await Promise.all([treasury, vendor.wallet, desk.wallet].map((one) => desk.balance(one)));
    for (const event of ['buyer_submits_proof', 'admin_reviews_proof', 'proof_accepted']) {
      expect((await desk.event(orderId, event)).status).toBe(200);
    }
    expect((await desk.act(orderId, 'confirm-fiat-received')).status).toBe(200);
    await desk.reaches(orderId, 'completed');
    const { amounts, fee_breakdown: fees } = await desk.read(orderId);
    const [platformFee, partnerFee] = [atomic(fees.platform_fee), atomic(fees.partner_fee)];
    const after = await Promise.all([treasury, vendor.wallet, desk.wallet].map((one) => desk.balance(one)));
    expect(after.map((balance, position) => balance - before[position]!)).toEqual([
      platformFee - 1n,
      atomic(amounts.crypto_amount) - platformFee,
      partnerFee,
    ]);
    expect(await holds(tokens.USDC!, escrow)).toBe(0n);
    await agrees(orderId);

    const refundedOrder = await awaiting();
    await hands.pay(gateway.partners[0], refundedOrder.escrow, refundedOrder.expected - 1n);
    const [other] = await seen(refundedOrder.orderId);
    await decide(other.deposit_id, 'accept');
    await refunded(refundedOrder.orderId);
    expect(await holds(tokens.USDC!, refundedOrder.escrow)).toBe(0n);
    await agrees(refundedOrder.orderId);
  });

  it('one unit short of an order that is cancelled goes back to its payer, out of an escrow that was never deployed', async () => {
    const { orderId, escrow, expected } = await awaiting();
    const before = await desk.balance(desk.wallet);
    await hands.pay(gateway.partners[0], escrow, expected - 1n);
    const [{ deposit_id: id }] = await seen(orderId);
    expect((await decide(id, 'return')).body.data).toMatchObject({ status: 'return_pending' });
    expect((await depositsOf(orderId))[0].return.waiting_for).toBe('order');
    const params = `${pathOf(id)}/return-authorization-parameters`;
    expect(code(await gateway.call('GET', params))).toEqual(NOT_ALLOWED);
    await desk.act(orderId, 'cancel');
    expect((await depositsOf(orderId))[0].return.waiting_for).toBe('signature');
    const back = await sendBack(orderId, id);
    expect(back.return).toMatchObject({ recipient_address: desk.wallet, waiting_for: null });
    expect(back.return.tx_hash).toMatch(/^0x/);
    expect(await desk.balance(desk.wallet)).toBe(before);
    await agrees(orderId);

    // The escrow's first nonce is used: an exact deposit that comes now cannot be refunded as the order's.
    await hands.pay(gateway.partners[0], escrow, expected);
    const [, late] = await seen(orderId, 2);
    expect(late).toMatchObject({ kind: 'exact', status: 'held_for_review' });
    await agrees(orderId);
    await decide(late.deposit_id, 'return');
    await sendBack(orderId, late.deposit_id);
    expect(await desk.balance(desk.wallet)).toBe(before);
    await agrees(orderId);
  });

  it('one unit over: accepted, the order goes on, and the unit goes back after the order’s own payout', async () => {
    const { orderId, escrow, expected } = await awaiting();
    const before = await desk.balance(desk.wallet);
    await hands.pay(gateway.partners[0], escrow, expected + 1n);
    const [{ deposit_id: id, kind }] = await seen(orderId);
    expect(kind).toBe('excess');
    expect((await decide(id, 'accept')).body.data).toMatchObject({
      status: 'return_pending',
      credited_atomic: `${expected}`,
      return_to: desk.wallet,
      return_atomic: '1',
    });
    expect(await desk.published(orderId)).toContain('crypto_received');
    await agrees(orderId);
    expect(code(await decide(id, 'hold'))).toEqual(NOT_ALLOWED);
    const params = `${pathOf(id)}/return-authorization-parameters`;
    expect(code(await gateway.call('GET', params))).toEqual(NOT_ALLOWED);
    await refunded(orderId);
    expect(await holds(tokens.USDC!, escrow)).toBe(1n);
    await sendBack(orderId, id);
    expect(await desk.balance(desk.wallet)).toBe(before);
    await agrees(orderId);
  });

  it('paid twice: the second payment goes back once the order has its own', async () => {
    const { orderId, escrow, expected } = await awaiting();
    await desk.fund(orderId);
    await desk.reaches(orderId, 'crypto_received');
    await hands.pay(gateway.partners[0], escrow, expected);
    const double = (await seen(orderId, 2)).find(({ kind }) => kind === 'double');
    expect((await desk.funds(orderId)).summary).toContain('double');
    expect(code(await decide(double.deposit_id, 'accept'))).toEqual(NOT_ALLOWED);
    await decide(double.deposit_id, 'return');
    await agrees(orderId);
    await refunded(orderId);
    await sendBack(orderId, double.deposit_id);
    expect(await holds(tokens.USDC!, escrow)).toBe(0n);
    await agrees(orderId);
  });

  it('the wrong token is never accepted and goes back', async () => {
    const { orderId, escrow } = await awaiting();
    const before = await holds(tokens.USDT!, desk.wallet);
    await hands.transfer(gateway.partners[0].walletPrivateKey, escrow, 5_000_001n, tokens.USDT);
    const [{ deposit_id: id, kind }] = await seen(orderId);
    expect(kind).toBe('wrong_token');
    expect((await desk.funds(orderId)).escrow.balances).toMatchObject([
      { token: 'USDT', amount: '5.000001' },
    ]);
    expect(code(await decide(id, 'accept'))).toEqual(NOT_ALLOWED);
    expect(code(await decide(id, 'dismiss'))).toEqual(NOT_ALLOWED);
    await desk.act(orderId, 'cancel');
    await decide(id, 'return');
    await sendBack(orderId, id);
    expect(await holds(tokens.USDT!, desk.wallet)).toBe(before);
    await agrees(orderId);
  });

  it('a foreign sender’s payment is accepted, or goes back to that sender', async () => {
    const stranger = gateway.partners[1];
    const accepted = await awaiting();
    await hands.pay(stranger, accepted.escrow, accepted.expected);
    const [one] = await seen(accepted.orderId);
    expect(one).toMatchObject({ kind: 'foreign_sender', sender: stranger.walletAddress });
    expect((await decide(one.deposit_id, 'accept')).body.data).toMatchObject({ status: 'accepted' });
    await desk.reaches(accepted.orderId, 'crypto_received');
    await refunded(accepted.orderId);
    await agrees(accepted.orderId);

    const returned = await awaiting();
    const before = await holds(tokens.USDC!, stranger.walletAddress);
    await hands.pay(stranger, returned.escrow, returned.expected);
    const [other] = await seen(returned.orderId);
    await desk.act(returned.orderId, 'cancel');
    await decide(other.deposit_id, 'return');
    await sendBack(returned.orderId, other.deposit_id);
    expect(await holds(tokens.USDC!, stranger.walletAddress)).toBe(before);
    await agrees(returned.orderId);
  });

  it('a late payment after the cancellation goes back; with two, one after the other', async () => {
    const { orderId, escrow } = await awaiting();
    await desk.act(orderId, 'cancel');
    await hands.pay(gateway.partners[0], escrow, 7n);
    await hands.pay(gateway.partners[0], escrow, 8n);
    const [first, second] = await seen(orderId, 2);
    for (const { deposit_id } of [first, second]) await decide(deposit_id, 'return');
    // Both are signed for the nonce that is next: only one of them can have it.
    const signatures = [await signature(first.deposit_id), await signature(second.deposit_id)];
    const answers = await Promise.all([
      handIn(first.deposit_id, signatures[0]!),
      handIn(second.deposit_id, signatures[1]!),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    const [now, later] = answers[0].status === 200 ? [first, second] : [second, first];
    await reaches(orderId, now.deposit_id, 'returned');
    await sendBack(orderId, later.deposit_id);
    expect(await holds(tokens.USDC!, escrow)).toBe(0n);
    await agrees(orderId);
  });

  it('a token that nobody knows is rescued, or dismissed', async () => {
    const { orderId, escrow } = await awaiting();
    const { walletPrivateKey } = gateway.partners[1];
    const stray = await hands.deployToken(walletPrivateKey, 1_000n);
    await hands.transfer(walletPrivateKey, escrow, 400n, stray);
    await hands.transfer(walletPrivateKey, escrow, 1n, stray);
    const [large, dust] = await seen(orderId, 2);
    expect(large).toMatchObject({ kind: 'wrong_token', token: null, amount: null, amount_atomic: '400' });
    expect((await desk.funds(orderId)).escrow.balances).toMatchObject([
      { token_address: stray, token: null, amount_atomic: '401' },
    ]);
    expect((await decide(dust.deposit_id, 'dismiss')).body.data).toMatchObject({ status: 'dismissed' });
    await desk.act(orderId, 'cancel');
    await decide(large.deposit_id, 'return');
    await sendBack(orderId, large.deposit_id);
    expect(await holds(stray, gateway.partners[1].walletAddress)).toBe(999n);
    const { movements } = await desk.funds(orderId);
    expect(movements.map(({ kind }: { kind: string }) => kind)).toEqual(['deposit_held', 'deposit_returned']);
    await agrees(orderId);
  });

  it('on-ramp: what the vendor paid too much goes back to it after the order, signed by the partner', async () => {
    const orderId = await desk.onrampOrder();
    await desk.event(orderId, 'vendor_accepts');
    const vendorId = await parties.vendorId(orderId);
    const vendors = await listSimulatedVendors(gateway.deps.db, gateway.deps.sealer);
    const vendor = vendors.find(({ row }) => row.vendor_id === vendorId)!;
    const { escrow } = await desk.funds(orderId);
    const expected = atomic(escrow.expected_amount);
    await hands.transfer(vendor.privateKey, escrow.address, expected + 3n);
    const [{ deposit_id: id }] = await seen(orderId);
    await decide(id, 'accept');
    await desk.reaches(orderId, 'awaiting_fiat_transfer');
    await agrees(orderId);
    await desk.act(orderId, 'cancel');
    await until('the return', async () => (await desk.funds(orderId)).escrow.state === 'emptied');
    const before = await holds(tokens.USDC!, vendor.row.wallet_address);
    await sendBack(orderId, id);
    expect(await holds(tokens.USDC!, vendor.row.wallet_address)).toBe(before + 3n);
    await agrees(orderId);
  });

  describe('decisions and signatures', () => {
    async function lateDeposit() {
      const { orderId, escrow } = await awaiting();
      await desk.act(orderId, 'cancel');
      await hands.pay(gateway.partners[0], escrow, 1_000n);
      const [{ deposit_id: id }] = await seen(orderId);
      return { orderId, escrow, id: id as string };
    }

    it('of two at once one wins, and the audit log says who, why and what', async () => {
      const { orderId, id } = await lateDeposit();
      const answers = await Promise.all([decide(id, 'return'), decide(id, 'return'), decide(id, 'accept')]);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      const { entries } = (await operate('GET', `audit?subject=deposits/${id}`)).body.data;
      expect(entries).toMatchObject([
        { action: 'deposit.return', reason: REASON.reason, after: { return_to: desk.wallet } },
      ]);
      const given = await signature(id);
      const signed = await Promise.all([handIn(id, given), handIn(id, given)]);
      expect(signed.map(({ status }) => status).sort()).toEqual([200, 409]);
      await reaches(orderId, id, 'returned');
      await agrees(orderId);
    });

    it('are answered once a key, also after the money has moved', async () => {
      const { orderId, id } = await lateDeposit();
      const key = { 'Idempotency-Key': randomUUID() };
      const path = `deposits/${id}/decision`;
      const body = { decision: 'return', ...REASON };
      const first = await operate('POST', path, body, key);
      expect((await operate('POST', path, body, key)).text).toBe(first.text);
      const once = { 'Idempotency-Key': randomUUID() };
      const given = await signature(id);
      const signed = await handIn(id, given, once);
      await reaches(orderId, id, 'returned');
      expect((await handIn(id, given, once)).text).toBe(signed.text);
      expect((await operate('POST', path, body, key)).text).toBe(first.text);
    });

    it('of an unknown deposit, a stranger’s and a malformed one are refused', async () => {
      const { orderId, id } = await lateDeposit();
      expect(code(await decide(randomUUID(), 'return'))).toEqual([404, 'DEPOSIT_NOT_FOUND']);
      expect(code(await decide('x', 'return'))).toEqual([400, 'VALIDATION_ERROR']);
      expect(code(await decide(id, 'burn'))).toEqual([400, 'VALIDATION_ERROR']);
      expect(code(await decide(id, 'accept', { return_to: desk.wallet }))).toEqual([400, 'VALIDATION_ERROR']);
      await decide(id, 'return');
      const other = ordersDesk(gateway, gateway.partners[1]);
      const ask = (path: string) => gateway.call('GET', path, { key: other.apiKey });
      const what = 'return-authorization-parameters';
      const theirs = await ask(`${pathOf(id)}/${what}`);
      const nobodys = await ask(`${pathOf(randomUUID())}/${what}`);
      expect([code(theirs), theirs.text]).toEqual([[404, 'DEPOSIT_NOT_FOUND'], nobodys.text]);
      const stranger = await signSafeTransaction(
        gateway.partners[1].walletPrivateKey as Hex,
        (await gateway.call('GET', `${pathOf(id)}/${what}`)).body.data.typed_data,
      );
      expect(code(await handIn(id, stranger))).toEqual([502, 'ESCROW_SIGNER_MISMATCH']);
      expect((await depositsOf(orderId))[0].status).toBe('return_pending');
    });

    it('never pay a wallet that is not cleared, and an override is on record', async () => {
      const { orderId, id } = await lateDeposit();
      expect(code(await decide(id, 'return', { return_to: BLOCKED }))).toEqual([422, 'WALLET_NOT_CLEARED']);
      expect((await depositsOf(orderId))[0].status).toBe('held_for_review');
      const payee = privateKeyToAddress(`0x${'77'.repeat(32)}`);
      expect((await decide(id, 'return', { return_to: payee })).body.data).toMatchObject({
        return_to: payee,
      });
      expect((await decide(id, 'hold')).body.data).toMatchObject({
        status: 'held_for_review',
        return_to: null,
      });
      await decide(id, 'return', { return_to: payee });
      const { entries } = (await operate('GET', `audit?subject=deposits/${id}`)).body.data;
      expect(entries[0]).toMatchObject({ action: 'deposit.return', after: { return_to: payee } });
      const asked = await operate('GET', `deposits/${id}/signing-parameters`);
      const vendor = await parties.vendorOf(orderId);
      expect(asked.body.data.signer_addresses).toEqual([desk.wallet, vendor.wallet]);
      const vendors = await listSimulatedVendors(gateway.deps.db, gateway.deps.sealer);
      const { privateKey } = vendors.find(({ row }) => row.wallet_address === vendor.wallet)!;
      const given = await signSafeTransaction(privateKey, asked.body.data.typed_data);
      const carried = await operate('POST', `deposits/${id}/signature`, { signature: given, ...REASON });
      expect(carried.body.data).toMatchObject({ status: 'returning' });
      await reaches(orderId, id, 'returned');
      expect(await holds(tokens.USDC!, payee)).toBe(1_000n);
      await agrees(orderId);
    });

    it('that a stranger sends before the service does are settled from the chain, and once', async () => {
      const { orderId, escrow, id } = await lateDeposit();
      const before = await desk.balance(desk.wallet);
      await decide(id, 'return');
      const given = await signature(id);
      const { client, settings } = gateway.deps.chains.get(CHAIN);
      const rpc = (method: string, params: readonly unknown[]) => callRpc(settings.rpcUrl, method, params);
      const stranger = privateKeyToAccount(generatePrivateKey());
      await rpc('hardhat_setBalance', [stranger.address, numberToHex(10n ** 21n)]);
      const since = gateway.deps.clock.date();
      await rpc('evm_setAutomine', [false]);
      await handIn(id, given);
      const ours = await until('our transaction in the pool', async () => {
        const [row] = await gateway.deps.db.query(SYSTEM, openTransaction, [since]);
        return row && (await rpc('eth_getTransactionByHash', [row.tx_hash])) ? row : false;
      });
      const signed = await stranger.signTransaction({
        to: ours.to_address,
        data: ours.data,
        chainId: settings.chainId,
        type: 'eip1559',
        maxFeePerGas: DEAR * 4n,
        maxPriorityFeePerGas: DEAR,
        nonce: await client.getTransactionCount({ address: stranger.address }),
        gas: 3_000_000n,
      });
      const theirs = await client.sendRawTransaction({ serializedTransaction: signed });
      await rpc('hardhat_setNextBlockBaseFeePerGas', [numberToHex(DEAR)]);
      await rpc('hardhat_mine', [numberToHex(1)]);
      await rpc('evm_setAutomine', [true]);
      await rpc('hardhat_setNextBlockBaseFeePerGas', [numberToHex(parseGwei('1'))]);
      await rpc('hardhat_mine', [numberToHex(1)]);
      expect((await client.getTransactionReceipt({ hash: theirs })).status).toBe('success');
      const reverted = await until('ours in a block', () =>
        client.getTransactionReceipt({ hash: ours.tx_hash }).catch(() => false as const),
      );
      expect(reverted.status).toBe('reverted');
      expect((await reaches(orderId, id, 'returned')).return.tx_hash).toBe(theirs);
      expect(await desk.balance(desk.wallet)).toBe(before + 1_000n);
      expect(await holds(tokens.USDC!, escrow)).toBe(0n);
      await agrees(orderId);
    });

    it('queue by status, kind, order and partner, page by page', async () => {
      const { orderId, id } = await lateDeposit();
      const ids = async (query: string) =>
        (await operate('GET', `deposits?limit=100&${query}`)).body.data.deposits.map(
          ({ deposit_id }: Deposit) => deposit_id,
        );
      expect(await ids('status=held_for_review')).toContain(id);
      expect(await ids('status=returned')).not.toContain(id);
      expect(await ids(`order_id=${orderId}&kind=short`)).toEqual([id]);
      expect(await ids(`partner_id=${randomUUID()}`)).toEqual([]);
      const { pagination } = (await operate('GET', 'deposits?limit=1&status=held_for_review')).body.data;
      expect(pagination).toMatchObject({ limit: 1, offset: 0 });
      expect(code(await operate('GET', 'deposits?status=odd'))).toEqual([400, 'VALIDATION_ERROR']);
    });
  });
});
