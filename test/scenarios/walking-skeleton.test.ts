import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tokenBalance } from '../../apps/gateway/src/chain/token-reads.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { accountBalances } from '../../apps/gateway/src/engine/ledger.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { startWebhookSink, type WebhookSink } from '../harness/webhook-sink.ts';

describe('one on-ramp order through every layer', () => {
  let gateway: TestGateway;
  let sink: WebhookSink;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true });
    sink = await startWebhookSink({ tls: true, secret: gateway.partners[0].webhookSecret });
    const set = await gateway.partner.webhooks.set({ url: sink.url });
    expect(set.status).toBe(200);
  });
  afterAll(async () => {
    await gateway?.stop();
    await sink?.close();
  });

  it('nothing listens to the end of an answer but the server itself', async () => {
    const listeners: number[] = [];
    const watch = (message: unknown) => {
      const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
      // The nodes of the chains are in this process as well.
      if (!request.url?.startsWith('/api/')) return;
      response.once('prefinish', () => listeners.push(response.listenerCount('finish')));
    };
    subscribe('http.server.request.start', watch);
    const answers = [await gateway.partner.users.list(), await gateway.partner.supported.corridors()];
    unsubscribe('http.server.request.start', watch);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    // More of them and all objects of every request outlive two collections of the young generation (decision 0069).
    expect(listeners).toEqual([1, 1]);
  });

  // Proves C1 rule 2, C3.1 rule 1, C2.8, D6.9, D1.3.
  it('goes from quote to completed: crypto moves on chain, the books balance, every webhook is signed', async () => {
    const { deps } = gateway;
    const { settings, client } = deps.chains.get('base-mainnet');
    const usdc = settings.tokens.find(({ code }) => code === 'USDC')!.address;
    const wallet = gateway.partners[0].walletAddress as `0x${string}`;
    const before = {
      partner: await tokenBalance(client, usdc, wallet),
      treasury: await tokenBalance(client, usdc, settings.treasury),
    };

    const user = await gateway.partner.users.create({ email: 'ada@example.com' });
    const userId = user.body.data.id as string;
    const refused = await quote(userId);
    expect(refused.status).toBe(422);
    expect(refused.body.error).toMatchObject({
      code: 'KYC_NOT_CLEARED',
      details: { kyc_status: 'NOT_INITIATED' },
    });
    await gateway.partner.sandbox.kycStatus(userId, { status: 'VERIFIED' });

    const quoted = await quote(userId);
    expect(quoted.status).toBe(200);
    const initiated = await gateway.partner.onramp.initiate({
      quote_id: quoted.body.data.quote_id,
      reference_id: 'invoice-7',
    });
    expect(initiated.body.data).toMatchObject({
      status: 'awaiting_liquidity_provider',
      timeline: [],
      reference_id: 'invoice-7',
    });
    const orderId = initiated.body.data.order_id as string;

    await reaches(orderId, 'awaiting_fiat_transfer');
    const sent = await gateway.partner.orders.confirmPaymentSent(orderId);
    expect(sent.body.data).toEqual({ order_id: orderId, status: 'fiat_transfer_pending' });
    const completed = await reaches(orderId, 'completed');

    const cryptoAmount = atomic(completed.amounts.crypto_amount);
    const platformFee = atomic(completed.fee_breakdown.platform_fee);
    expect(await tokenBalance(client, usdc, wallet)).toBe(before.partner + cryptoAmount - platformFee);
    expect(await tokenBalance(client, usdc, settings.treasury)).toBe(before.treasury + platformFee);
    expect(completed.tx_hash).toMatch(/^0x[0-9a-f]{64}$/);
    const [escrow] = await deps.db.query(SYSTEM, accountBalances, [`escrow:${orderId}`]);
    expect(escrow).toEqual({ asset: 'USDC@base-mainnet', balance: '0' });

    const expected = [
      'awaiting_liquidity_provider',
      'awaiting_vendor_escrow_funding',
      'awaiting_fiat_transfer',
      'fiat_transfer_pending',
      'completed',
    ];
    const events = () => sink.received.filter(({ event }) => event?.data?.order_id === orderId);
    await until('five order webhooks', () => events().length >= expected.length);
    expect(events().map(({ event }) => event?.data?.status)).toEqual(expected);
    expect(sink.received.every(({ signatureValid }) => signatureValid === true)).toBe(true);
    expect(events()[0]?.event?.data).toMatchObject({
      // The shortest form of what the quote fixed.
      partner_fee: quoted.body.data.fee_breakdown.partner_fee.replace(/\.?0+$/, ''),
      partner_fee_pct: 1,
      fiat_amount: '100.00',
    });
    expect(sink.received.some(({ event }) => event?.event_type === 'user.kyc.updated')).toBe(true);
  });

  function quote(userId: string) {
    return gateway.partner.onramp.quote({
      user_uuid: userId,
      crypto_currency: 'USDC',
      fiat_currency: 'EUR',
      fiat_amount: '100.00',
      partner_fee_pct: '1',
    });
  }

  async function reaches(orderId: string, status: string) {
    return until(`order in ${status}`, async () => {
      const { body } = await gateway.partner.orders.get(orderId);
      return body.data.status === status && body.data;
    });
  }
});

function atomic(text: string): bigint {
  return BigInt(text.replace('.', ''));
}
