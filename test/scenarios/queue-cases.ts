import { randomUUID } from 'node:crypto';
import type { QueueKind } from '@causeway/protocol/console';
import { expect } from 'vitest';
import { documentOf, SUBMISSION } from '../../apps/gateway/src/features/kyc/testing/kyc-samples.ts';
import { connect } from '../harness/database.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { insertFailedEffect } from '../harness/shell.ts';
import { until } from '../harness/until.ts';
import { chainDriver } from './chain-driver.ts';
import { fiatDriver } from './fiat-driver.ts';
import { atomic, ordersDriver } from './orders-driver.ts';
import { orderParties } from './orders-parties.ts';

/** A picture of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const ACCOUNT = { rail: 'iban-sepa', currency: 'EUR', country_code: 'DE' } as const;

/** Makes what an operator has to decide, the way it comes about; each answers the id that the queue has for it. */
export type QueueCases = Readonly<Record<QueueKind, () => Promise<string>>> & {
  /** A payment that came before its order waited for it. */
  unmatchedPayment(): Promise<string>;
  /** Orders that wait for a word of the vendor, of a dispute’s winner, and of the partner. */
  paidOnramp(): Promise<string>;
  awardedDispute(): Promise<string>;
  provenOfframp(): Promise<string>;
  /** Books the difference back. */
  settleDifference(): Promise<void>;
};

export function queueCases(gateway: TestGateway): QueueCases {
  const driver = ordersDriver(gateway);
  const parties = orderParties(gateway);
  const fiat = fiatDriver(gateway);
  const { sdk } = driver;
  const { operator, partner } = gateway;
  let booked: string | undefined;

  async function funded(user_uuid?: string): Promise<string> {
    const orderId = await driver.onrampOrder(user_uuid === undefined ? {} : { user_uuid });
    expect((await driver.event(orderId, 'vendor_accepts')).status).toBe(200);
    expect((await driver.event(orderId, 'escrow_funded')).status).toBe(200);
    return orderId;
  }

  async function paidOnramp(): Promise<string> {
    const orderId = await funded();
    expect((await driver.act(orderId, 'confirm-payment-sent')).status).toBe(200);
    return orderId;
  }

  async function dispute(): Promise<string> {
    const orderId = await paidOnramp();
    expect((await (await parties.vendorOf(orderId)).post('dispute')).status).toBe(200);
    return orderId;
  }

  async function awardedDispute(): Promise<string> {
    const orderId = await dispute();
    expect((await parties.operate(orderId, 'dispute', { decision: 'for_buyer' })).status).toBe(200);
    return orderId;
  }

  async function holder() {
    const userId = await fiat.customer();
    const accountId = await fiat.account(userId);
    return {
      userId,
      pay: async () => (await fiat.deposit(userId, accountId, { amount: '100.00' })).body.data.id,
    };
  }

  /** As if a movement had been booked that the chain does not have; no caller can make the service do so. */
  async function book(orderId: string, units: bigint): Promise<void> {
    const owner = await connect(gateway.databaseUrl);
    try {
      await owner.query('SET ROLE causeway_system');
      const entry = randomUUID();
      const { rows } = await owner.query<{ partner_id: string; asset: string }>(
        `INSERT INTO ledger_entries (entry_id, partner_id, order_id, kind, dedupe_key, created_at)
         SELECT $1, partner_id, order_id, 'deposit_held', $3, created_at FROM orders WHERE order_id = $2
         RETURNING partner_id, (SELECT crypto_currency || '@' || chain FROM orders WHERE order_id = $2) AS asset`,
        [entry, orderId, `test:${entry}`],
      );
      const [{ partner_id, asset } = { partner_id: '', asset: '' }] = rows;
      await owner.query(
        `INSERT INTO ledger_postings (entry_id, line, partner_id, account, asset, amount)
         VALUES ($1, 1, $2, $3, $4, $5), ($1, 2, $2, 'outside', $4, $6)`,
        [entry, partner_id, `escrow:${orderId}`, asset, `${units}`, `${-units}`],
      );
    } finally {
      await owner.end();
    }
  }

  return {
    async kyc() {
      const { id } = await sdk.users.create({
        email: `q${Math.random().toString(36).slice(2)}@example.com`,
        first_name: 'Graciela',
        last_name: 'Review',
      });
      await partner.kyc.submit(id, { ...SUBMISSION, last_name: 'Review' } as never);
      for (const type of ['ID_FRONT', 'SELFIE']) {
        const picture = { ...documentOf(type, 'image/png'), content: PNG };
        expect((await partner.kyc.uploadDocument(id, picture as never)).status).toBe(200);
      }
      await until('the review', async () => {
        const { kyc } = await sdk.users.get(id);
        return kyc.status === 'UNDER_REVIEW';
      });
      return id;
    },

    async proof() {
      const orderId = await driver.offrampOrder();
      expect((await driver.fund(orderId)).status).toBe(200);
      await driver.reaches(orderId, 'crypto_received');
      const vendor = await parties.vendorOf(orderId);
      const release_signature = await vendor.sign('release');
      const handed = await vendor.post('payment-proof', {
        payment_reference: 'E2E-1',
        content_type: 'image/png',
        content: PNG,
        release_signature,
      });
      expect(handed.status, handed.text).toBe(200);
      const { proofs } = (await operator.orders.get(orderId)).body.data;
      return proofs[0]?.proof_id ?? '';
    },

    async hold() {
      const orderId = await driver.onrampOrder();
      expect((await parties.operate(orderId, 'hold', { decision: 'place' })).status).toBe(200);
      return orderId;
    },

    dispute,
    paidOnramp,

    awardedDispute,

    async provenOfframp() {
      const orderId = await driver.offrampOrder();
      expect((await driver.fund(orderId)).status).toBe(200);
      await driver.reaches(orderId, 'crypto_received');
      for (const event of ['buyer_submits_proof', 'admin_reviews_proof', 'proof_accepted']) {
        expect((await driver.event(orderId, event)).status).toBe(200);
      }
      return orderId;
    },

    async overdue_confirmation() {
      const orderId = await dispute();
      // As if it had been decided a day ago: the clock is moved for all orders, and others would expire.
      const owner = await connect(gateway.databaseUrl);
      try {
        await owner.query(
          `UPDATE orders SET facts = facts || '{"awardedToBuyer": true}', updated_at = updated_at - interval '1 day'
            WHERE order_id = $1`,
          [orderId],
        );
      } finally {
        await owner.end();
      }
      return orderId;
    },

    async recipient_screening() {
      const { recipient_id } = await sdk.recipients.create({
        recipient_name: 'Maybe Review',
        recipient_country: 'DE',
      });
      await until('the hit', async () => {
        const { screening_status } = await sdk.recipients.get(recipient_id);
        return screening_status === 'review';
      });
      return recipient_id;
    },

    async screening_case() {
      const userId = await driver.user();
      const details = { full_name: 'Review Person', iban: 'DE02120300000000202051' };
      const { id } = await sdk.paymentDetails.create(userId, { ...ACCOUNT, details });
      return until('the case', async () => {
        const { cases } = (await operator.screeningCases.list({ subject: String(id) })).body.data;
        return cases.find(({ screening_status }) => screening_status === 'review')?.case_id;
      });
    },

    async deposit() {
      const orderId = await driver.offrampOrder();
      const { escrow } = await until('the escrow', async () => {
        const funds = await driver.funds(orderId);
        return funds.escrow !== null && funds;
      });
      const short = atomic(escrow.expected_amount) - 5_000_000n;
      await chainDriver(gateway).pay(gateway.partners[0], escrow.address, short);
      return until('the deposit', async () => {
        const { deposits } = (await operator.deposits.list({ order_id: orderId })).body.data;
        return deposits[0]?.deposit_id;
      });
    },

    async fiat_payment() {
      const { userId, pay } = await holder();
      await Promise.all([funded(userId), funded(userId)]);
      return pay();
    },

    async unmatchedPayment() {
      const { userId, pay } = await holder();
      const orderId = await driver.onrampOrder({ user_uuid: userId });
      expect((await driver.event(orderId, 'vendor_accepts')).status).toBe(200);
      const paymentId = await pay();
      expect((await driver.event(orderId, 'escrow_funded')).status).toBe(200);
      return paymentId;
    },

    async offer() {
      const key = gateway.sandbox.vendors[0]?.apiKey ?? '';
      const made = await gateway.as(key).vendor.offers.create({
        side: 'SELL',
        crypto_currency: 'USDC',
        fiat_currency: 'EUR',
        margin_pct: '0.5',
        min_amount: '10',
        max_amount: '5000',
        payment_options: [{ network_slug: 'iban-sepa' }],
        countries: ['DE'],
        available_balance: '2500',
      });
      expect(made.status, made.text).toBe(200);
      return made.body.data.offer_id;
    },

    async effect() {
      const orderId = await driver.onrampOrder();
      const owner = await connect(gateway.databaseUrl);
      try {
        return await insertFailedEffect(owner, orderId);
      } finally {
        await owner.end();
      }
    },

    async reconciliation() {
      booked = await funded();
      await book(booked, 1_000_000n);
      return until('the difference', async () => {
        const { cases } = (await operator.queue.list({ kind: ['reconciliation'], limit: 100 })).body.data;
        return cases.find(({ order_id }) => order_id === booked)?.subject_id;
      });
    },

    async settleDifference() {
      if (booked !== undefined) await book(booked, -1_000_000n);
    },
  };
}
