import { TEST_VALUES } from '@causeway/protocol';
import { getAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SUBMISSION } from '../../apps/gateway/src/features/kyc/testing/kyc-samples.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { type FiatDriver, fiatDriver, IDENTIFICATION } from './fiat-driver.ts';
import { type OrdersDriver, ordersDriver } from './orders-driver.ts';
import { type OrderParties, orderParties } from './orders-parties.ts';

const MINUTES_31 = 31 * 60;
const HOURS_25 = 25 * 3_600;

/** What is seen at once, and what is seen once the clock has moved. */
interface Walk {
  now(value: string): Promise<unknown>;
  later?(value: string): Promise<unknown>;
}

/** Every row of the table, as a partner meets it: nothing is switched, and no event is asked for. */
describe('test values', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let parties: OrderParties;
  let fiat: FiatDriver;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true, env: { RATE_LIMIT_PARTNER_PER_MINUTE: '1000000' } });
    driver = ordersDriver(gateway);
    parties = orderParties(gateway);
    fiat = fiatDriver(gateway);
  });
  afterAll(() => gateway?.stop());

  const depositsOf = async (orderId: string) =>
    (await gateway.operator.deposits.list({ order_id: orderId })).body.data.deposits as {
      status: string;
      kind: string;
    }[];
  const bought = (ending: string) => driver.onrampOrder({ fiat_amount: `1${ending}` });

  /** An on-ramp order that stays in a status, and ends in another when its time is up. */
  function stays(status: string, also: (orderId: string) => Promise<unknown> = async () => {}): Walk {
    let orderId: string;
    return {
      async now(ending) {
        orderId = await bought(ending);
        await driver.reaches(orderId, status);
        await also(orderId);
      },
      later: () => cancelledAfter(orderId, status),
    };
  }

  /** It went no further than this before its time was up. */
  async function cancelledAfter(orderId: string, status: string): Promise<void> {
    await driver.reaches(orderId, 'cancelled');
    const published = await driver.published(orderId);
    expect(published.slice(0, published.indexOf('cancelled')).at(-1)).toBe(status);
  }

  const heldDeposit = (kind: string) => (orderId: string) =>
    until(`a deposit that is ${kind}`, async () => {
      const [deposit] = await depositsOf(orderId);
      return deposit?.status === 'held_for_review' && deposit.kind === kind;
    });

  const held = (orderId: string) => until('the hold', () => parties.isHeld(orderId));

  async function paid(ending: string): Promise<string> {
    const orderId = await bought(ending);
    await driver.reaches(orderId, 'awaiting_fiat_transfer');
    expect((await driver.act(orderId, 'confirm-payment-sent')).status).toBe(200);
    return orderId;
  }

  async function sold(ending: string): Promise<string> {
    const orderId = await driver.offrampOrder({ fiat_amount: `1${ending}` });
    expect((await driver.fund(orderId)).status).toBe(200);
    return orderId;
  }

  const soldInto = (status: string, ...published: string[]): Walk => ({
    async now(ending) {
      const orderId = await sold(ending);
      await driver.reaches(orderId, status);
      expect(await driver.published(orderId)).toEqual(expect.arrayContaining(published));
    },
  });

  function sentOut(status: string): Walk {
    let orderId: string;
    return {
      async now(destination) {
        orderId = await paid('00.00');
        await driver.reaches(orderId, 'completed');
        expect((await driver.sendOut(orderId, destination as `0x${string}`)).status).toBe(200);
        await driver.reaches(orderId, status);
      },
      later: async () => expect((await driver.read(orderId)).status).toBe(status),
    };
  }

  const verified = (status: string): Walk => ({
    async now(lastName) {
      const email = `kyc-${lastName}@example.com`.toLowerCase();
      const { id } = (await gateway.partner.users.create({ email })).body.data;
      const submitted = await gateway.partner.kyc.submit(id, {
        ...SUBMISSION,
        method: 'hosted_link',
        last_name: lastName,
      });
      expect(submitted.status, submitted.text).toBe(200);
      await until(`KYC ${status}`, async () => {
        const { body } = await gateway.partner.kyc.status(id);
        return body.data.status === status;
      });
    },
  });

  const screened = (status: string): Walk => ({
    async now(part) {
      const made = await gateway.partner.recipients.create({
        recipient_name: `Erika ${part}`,
        recipient_country: 'DE',
        recipient_kind: 'individual',
      });
      expect(made.status, made.text).toBe(200);
      await until(
        status,
        async () =>
          (await gateway.partner.recipients.get(made.body.data.recipient_id)).body.data.screening_status ===
          status,
      );
    },
  });

  const refusedWallet: Walk = {
    async now(wallet) {
      const made = await gateway.operator.vendors.create({
        name: `Vendor ${wallet}`,
        kind: 'p2p',
        wallet_address: getAddress(wallet),
      });
      expect([made.status, made.body.error?.code]).toEqual([422, 'WALLET_NOT_CLEARED']);
    },
  };

  async function opened(lastName: string): Promise<() => Promise<string>> {
    const userId = await fiat.customer(lastName);
    const issued = await fiat.issue(userId);
    expect(issued.status, issued.text).toBe(200);
    return async () => (await fiat.sdk.fiatAccounts.get(userId, issued.body.data.id)).status;
  }

  /** An order that its customer pays by a deposit into an account of its own. */
  async function awaitingDeposit(amount: string) {
    const userId = await fiat.customer();
    const accountId = await fiat.account(userId);
    const orderId = await driver.onrampOrder({ user_uuid: userId, fiat_amount: amount });
    await driver.reaches(orderId, 'awaiting_fiat_transfer');
    return { orderId, deposit: (more: object) => fiat.deposit(userId, accountId, { amount, ...more }) };
  }

  const WALKS: Record<string, Walk> = {
    'onramp_amount 13.01': stays('awaiting_liquidity_provider', async (orderId) =>
      expect(await parties.vendorId(orderId)).not.toBeNull(),
    ),
    'onramp_amount 13.02': stays('awaiting_liquidity_provider', (orderId) =>
      until('the refusal', async () => (await parties.vendorId(orderId)) === null),
    ),
    'onramp_amount 13.03': stays('awaiting_vendor_escrow_funding', async (orderId) =>
      expect(await depositsOf(orderId)).toEqual([]),
    ),
    'onramp_amount 13.04': (() => {
      let orderId: string;
      return {
        async now(ending) {
          orderId = await bought(ending);
          await driver.reaches(orderId, 'awaiting_vendor_escrow_funding');
        },
        async later() {
          await cancelledAfter(orderId, 'awaiting_vendor_escrow_funding');
          await until('the late deposit', async () => (await depositsOf(orderId)).length === 1);
          await until('its return', async () => (await driver.escrowBalance(orderId)) === 0n);
        },
      };
    })(),
    'onramp_amount 13.05': stays('awaiting_vendor_escrow_funding', heldDeposit('short')),
    'onramp_amount 13.06': stays('awaiting_vendor_escrow_funding', heldDeposit('excess')),
    'onramp_amount 13.07': {
      async now(ending) {
        const orderId = await bought(ending);
        await driver.reaches(orderId, 'awaiting_fiat_transfer');
        await held(orderId);
        expect((await driver.event(orderId, 'release_hold')).status).toBe(200);
        expect((await driver.act(orderId, 'confirm-payment-sent')).status).toBe(200);
        await driver.reaches(orderId, 'completed');
      },
    },
    'onramp_amount 13.08': { now: async (ending) => driver.reaches(await bought(ending), 'failed') },
    'onramp_amount 13.09': {
      async now(ending) {
        const orderId = await paid(ending);
        await driver.reaches(orderId, 'fiat_transfer_pending');
        // What is asked for happens, whatever the amount.
        const confirmed = await driver.event(orderId, 'vendor_confirms_fiat');
        expect(confirmed.body.data.status).toBe('completed');
      },
    },
    'onramp_amount 13.10': { now: async (ending) => driver.reaches(await paid(ending), 'dispute_started') },
    'offramp_amount 13.21': (() => {
      let orderId: string;
      return {
        async now(ending) {
          orderId = await sold(ending);
          await driver.reaches(orderId, 'crypto_received');
        },
        async later() {
          await cancelledAfter(orderId, 'crypto_received');
          expect(await driver.published(orderId)).toContain('order.refund.required');
        },
      };
    })(),
    'offramp_amount 13.22': {
      async now(ending) {
        const orderId = await sold(ending);
        await driver.reaches(orderId, 'awaiting_fiat_received_confirmation');
        const reviews = (await driver.published(orderId)).filter(
          (status) => status === 'fiat_payment_review_started',
        );
        expect(reviews).toHaveLength(2);
      },
    },
    'offramp_amount 13.23': soldInto('cancelled', 'fiat_payment_review_started', 'order.refund.required'),
    'offramp_amount 13.24': soldInto('dispute_started', 'awaiting_fiat_received_confirmation'),
    'offramp_amount 13.25': {
      async now(ending) {
        const orderId = await sold(ending);
        await driver.reaches(orderId, 'failed');
        await until('the refund', async () => (await driver.escrowBalance(orderId)) === 0n);
      },
    },
    'offramp_amount 13.26': soldInto('failed', 'crypto_received', 'order.refund.required'),
    'offramp_amount 13.27': {
      async now(ending) {
        const orderId = await sold(ending);
        await driver.reaches(orderId, 'crypto_received');
        await held(orderId);
        expect((await driver.event(orderId, 'release_hold')).status).toBe(200);
        await driver.reaches(orderId, 'awaiting_fiat_received_confirmation');
      },
    },
    'bridge_destination 0x0000000000000000000000000000000000fa11ed': sentOut('send_out_failed'),
    'bridge_destination 0x000000000000000000000000000000000de1a7ed': sentOut('send_out_pending'),
    'kyc_last_name Rejected': verified('REJECTED'),
    'kyc_last_name Review': verified('UNDER_REVIEW'),
    'kyc_last_name Resubmit': verified('VERIFICATION_REJECTED'),
    'screened_name Blocked': screened('blocked'),
    'screened_name Review': screened('review'),
    'wallet 0x000000000000000000000000000000000b10c4ed': refusedWallet,
    'wallet 0x00000000000000000000000000000000000ec4ec': refusedWallet,
    'bank_client_last_name Declined': {
      async now(lastName) {
        const userId = await fiat.verified(lastName);
        await gateway.partner.fiatAccounts.submitIdentification(userId, {
          ...IDENTIFICATION,
          last_name: lastName,
        });
        await until(
          'the rejection',
          async () =>
            (await gateway.partner.fiatAccounts.getIdentification(userId)).body.data.status === 'rejected',
        );
      },
    },
    'bank_client_last_name Failing': {
      async now(lastName) {
        const status = await opened(lastName);
        await until('the failure', async () => (await status()) === 'failed');
      },
    },
    'bank_client_last_name Unavailable': (() => {
      let status: () => Promise<string>;
      return {
        async now(lastName) {
          status = await opened(lastName);
          expect(await status()).toBe('provisioning');
        },
        later: async () => expect(await status()).not.toBe('active'),
      };
    })(),
    'bank_transfer_amount 13.13': {
      async now(ending) {
        const { orderId, deposit } = await awaitingDeposit(`1${ending}`);
        expect((await deposit({})).body.data).toMatchObject({ status: 'matched' });
        await held(orderId);
      },
    },
    'deposit_sender_name Held ': {
      async now(beginning) {
        const { orderId, deposit } = await awaitingDeposit('117.00');
        const sent = await deposit({ sender_name: `${beginning}Sender` });
        expect(sent.body.data).toMatchObject({ status: 'held_for_review' });
        await held(orderId);
        expect((await driver.read(orderId)).status).toBe('awaiting_fiat_transfer');
        const decided = await gateway.operator.fiatPayments.decide(sent.body.data.id, {
          decision: 'match',
          order_id: orderId,
          reason: 'ticket 13',
        });
        expect(decided.status, decided.text).toBe(200);
        await driver.reaches(orderId, 'completed');
      },
    },
  };

  const nameOf = ({ kind, value }: { kind: string; value: string }) => `${kind} ${value}`;

  // Proves D11.5, D13.11.
  it('are each walked through here', () => {
    expect(Object.keys(WALKS)).toEqual(TEST_VALUES.map(nameOf));
  });

  /** What happens without one; an amount that was computed is none. */
  const walkWithout = () =>
    Promise.all([
      paid('00.00').then((orderId) => driver.reaches(orderId, 'completed')),
      verified('VERIFIED').now('Lovelace'),
      screened('clear').now('Muster'),
      driver
        .onrampOrder({ fiat_amount: undefined, crypto_amount: '113.01' })
        .then((orderId) => driver.reaches(orderId, 'awaiting_fiat_transfer')),
    ]);

  // Proves D11.5.
  it('bring about what their row says, and without one all goes well', { timeout: 120_000 }, async () => {
    const failures: unknown[] = [];
    const walk = (step: 'now' | 'later') =>
      Promise.all(
        TEST_VALUES.map((row) =>
          WALKS[nameOf(row)]?.[step]?.(row.value).catch((error: unknown) => {
            failures.push([nameOf(row), step, error]);
          }),
        ),
      );
    // The simulated actors think for a second before each step.
    const hurry = setInterval(() => void gateway.partner.sandbox.advanceClock({ seconds: 1 }), 250);
    await Promise.all([walk('now'), walkWithout()]).finally(() => clearInterval(hurry));
    expect(failures).toEqual([]);
    await gateway.partner.sandbox.advanceClock({ seconds: MINUTES_31 });
    await gateway.partner.sandbox.advanceClock({ seconds: HOURS_25 });
    await walk('later');
    expect(failures).toEqual([]);
    await driver.booksBalance();
  });
});
