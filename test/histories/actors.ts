import { expect } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import type { Answer } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import type { Fixture, Lane } from './fixture.ts';
import type { Plan, TroubleName } from './plan.ts';

/** The other history waits for the chain, which may be playing itself again. */
const MOMENT_MS = 180_000;

/** The customer, the recipient and the vendor of one order, as far as somebody can lose confidence in them. */
export interface Actors {
  open(): Promise<string>;
  /** Takes away what the order needs; says what was done. */
  lose(what: TroubleName, orderId: string): Promise<string>;
  /** Gives back what is not lost for good. */
  lift(orderId: string): Promise<void>;
  isLostForGood(): boolean;
  isKycLost(): boolean;
  /** Undefined where the order does not show it in time: it may still. */
  event(
    orderId: string,
    event: string,
    more: object | undefined,
    timeoutMs: number,
  ): Promise<Answer | undefined>;
  /** How much the service is still about to do for the order. */
  openEffects(orderId: string): Promise<number>;
}

const IBAN = { full_name: 'Erika Muster', iban: 'DE89370400440532013000' };
const DESTINATION = { rail: 'iban-sepa', currency: 'EUR', country_code: 'DE', details: IBAN };

const openEffects = statement<[orderId: string], { open: string }>(
  'test.open_effects_of_order',
  `SELECT count(*)::text AS open FROM intents WHERE payload->>'order_id' = $1::text
     AND status IN ('prepared', 'submitted', 'unknown')`,
);

export async function actorsOf(fixture: Fixture, lane: Lane, plan: Plan): Promise<Actors> {
  const { driver, call } = lane;
  const { gateway, operate, parties } = fixture;
  const userId = await driver.user();
  const recipient = plan.isToRecipient ? await addRecipient(lane) : undefined;
  const lost = { kyc: false, kycForGood: false, recipient: false, recipientForGood: false };
  const blockedWallets = new Set<string>();

  const setKyc = (status: string) =>
    until(`KYC ${status}`, async () => {
      const answer = await call('POST', `sandbox/users/${userId}/kyc-status`, { status });
      return answer.status === 200;
    });
  const setScreening = async (screening_status: string) => {
    await call('POST', `sandbox/recipients/${recipient!.id}/screening-status`, { screening_status });
  };
  const caseOf = async (address: string) =>
    (await operate('GET', `screening-cases?subject=${address}`)).body.data.cases[0];
  const decide = async (address: string, decision: string) => {
    const { case_id } = await caseOf(address);
    await operate('POST', `screening-cases/${case_id}/decision`, { decision, reason: 'a history' });
  };
  const blockWallet = async (address: string): Promise<string> => {
    blockedWallets.add(address);
    await decide(address, 'block');
    return `${address} is blocked`;
  };
  /** Other histories may block and clear the same vendor meanwhile. */
  const clearWallet = (address: string) =>
    until(`${address} to be clear`, async () => {
      const { screening_status: status } = await caseOf(address);
      if (status === 'clear') return true;
      await decide(address, status === 'blocked' ? 'review' : 'clear');
      return false;
    });

  const payee =
    recipient === undefined
      ? { user_uuid: userId }
      : {
          sender_id: userId,
          recipient_id: recipient.id,
          recipient_destination_id: recipient.destinationId,
        };

  async function tryToOpen(): Promise<Answer> {
    const { direction, token, anchor, amount } = plan;
    const fields = { crypto_currency: token, fiat_currency: 'EUR', partner_fee_pct: '1', [anchor]: amount };
    const who = direction === 'onramp' ? { user_uuid: userId } : payee;
    const details =
      direction === 'offramp' && recipient === undefined
        ? { payment_details_id: await driver.ownDetails(userId) }
        : {};
    const path = `partner/${direction}`;
    const quote = await call('POST', `${path}/quote`, {
      ...fields,
      ...who,
      ...details,
      provider_scope: 'p2p',
    });
    if (quote.status !== 200) return quote;
    return call('POST', `${path}/initiate`, { quote_id: quote.body.data.quote_id });
  }

  return {
    // A vendor that another history has blocked refuses for a moment.
    open: () =>
      until(
        'an order',
        async () => {
          const opened = await tryToOpen();
          if (opened.status === 200) return opened.body.data.order_id as string;
          expect(['WALLET_NOT_CLEARED', 'NO_LIQUIDITY'], opened.text).toContain(opened.body.error.code);
          return false;
        },
        MOMENT_MS,
      ),

    async lose(what, orderId) {
      switch (what) {
        case 'KYC is lost':
          lost.kyc = true;
          await setKyc('UNDER_REVIEW');
          return 'KYC is under review';
        case 'KYC is lost for good':
          lost.kycForGood = true;
          await setKyc('REJECTED');
          return 'KYC is rejected';
        case 'the recipient is blocked':
        case 'the recipient is blocked for good':
          if (recipient === undefined) return 'it has no recipient';
          if (what.endsWith('for good')) lost.recipientForGood = true;
          lost.recipient = true;
          await setScreening('blocked');
          return 'the recipient is blocked';
        case 'the partner’s wallet is blocked':
          return blockWallet(lane.partner.walletAddress);
        default: {
          const vendorId = await parties.vendorId(orderId);
          return vendorId === null
            ? 'it has no vendor'
            : blockWallet((await parties.vendorOf(orderId)).wallet);
        }
      }
    },

    async lift(orderId) {
      if (lost.kyc && !lost.kycForGood) {
        await setKyc('VERIFIED');
        lost.kyc = false;
      }
      if (lost.recipient && !lost.recipientForGood) {
        await setScreening('clear');
        lost.recipient = false;
      }
      for (const wallet of blockedWallets) await clearWallet(wallet);
      blockedWallets.clear();
      // What another history has taken from the vendor holds this order too.
      if ((await parties.vendorId(orderId)) !== null)
        await clearWallet((await parties.vendorOf(orderId)).wallet);
    },

    isLostForGood: () => lost.kycForGood || lost.recipientForGood,
    isKycLost: () => lost.kycForGood,

    event: (orderId, event, more, timeoutMs) =>
      Promise.race([
        driver.event(orderId, event, more),
        new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), timeoutMs).unref()),
      ]),

    async openEffects(orderId) {
      const [row] = await gateway.deps.db.query(SYSTEM, openEffects, [orderId]);
      return Number(row!.open);
    },
  };
}

async function addRecipient({ call }: Lane): Promise<{ id: string; destinationId: string }> {
  const made = await call('POST', 'partner/recipients', {
    recipient_name: IBAN.full_name,
    recipient_country: 'DE',
  });
  const { recipient_id: id } = made.body.data;
  await call('POST', `sandbox/recipients/${id}/screening-status`, { screening_status: 'clear' });
  const destination = await call('POST', `partner/recipients/${id}/destinations`, DESTINATION);
  expect(destination.body).toMatchObject({ success: true });
  return { id, destinationId: destination.body.data.recipient_destination_id };
}
