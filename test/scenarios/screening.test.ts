import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../harness/database.ts';
import type { Answer, TestGateway } from '../harness/gateway.ts';
import { untyped } from '../harness/sdk.ts';
import { until } from '../harness/until.ts';
import type { OrdersDriver } from './orders-driver.ts';
import { startOrdersFixture } from './orders-fixture.ts';
import type { OrderParties } from './orders-parties.ts';

const REFUSED = [422, 'RECIPIENT_NOT_CLEARED'];
const code = ({ status, body }: Answer) => [status, body.error?.code];

describe('screening counts at every step that spends or reveals', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let parties: OrderParties;
  let sender: string;

  beforeAll(async () => {
    ({ gateway, driver, parties } = await startOrdersFixture());
    sender = await driver.user();
  });
  afterAll(() => gateway?.stop());

  async function recipient(): Promise<string> {
    const made = await gateway.partner.recipients.create({
      recipient_name: 'Erika Muster',
      recipient_country: 'DE',
    });
    const { recipient_id: id } = made.body.data;
    await setScreening(id, 'clear');
    return id;
  }

  async function setScreening(id: string, status: string): Promise<void> {
    const set = await gateway.partner.sandbox.screeningStatus(id, { screening_status: status });
    expect(set.body.data.screening_status).toBe(status);
  }

  const destination = (id: string, full_name = 'Erika Muster') =>
    gateway.partner.recipients.createDestination(id, {
      rail: 'iban-sepa',
      currency: 'EUR',
      country_code: 'DE',
      details: { full_name, iban: 'DE89370400440532013000' },
    });

  const quote = (id: string, destinationId: string) =>
    driver.offrampQuote({ sender_id: sender, recipient_id: id, recipient_destination_id: destinationId });

  async function payee() {
    const id = await recipient();
    const { recipient_destination_id: destinationId } = (await destination(id)).body.data;
    return { id, destinationId };
  }

  async function order(): Promise<{ id: string; orderId: string }> {
    const { id, destinationId } = await payee();
    const quoted = await quote(id, destinationId);
    const made = await gateway.partner.offramp.initiate({ quote_id: quoted.body.data.quote_id });
    expect(made.status, made.text).toBe(200);
    return { id, orderId: made.body.data.order_id };
  }

  async function funded() {
    const made = await order();
    expect((await driver.fund(made.orderId)).status).toBe(200);
    await driver.reaches(made.orderId, 'crypto_received');
    return made;
  }

  const held = (orderId: string) => until('the hold', () => parties.isHeld(orderId));

  describe('the account holder', () => {
    // Proves trap 43, D13.2.
    it.each([
      ['Blocked Person', 'blocked'],
      ['Review Person', 'review'],
    ])(
      'of a destination: %s gets the status %s, and no quote, whatever the recipient is called',
      async (name, status) => {
        const id = await recipient();
        const added = await destination(id, name);
        expect(added.body.data).toMatchObject({ screening_status: status });
        expect(code(await quote(id, added.body.data.recipient_destination_id))).toEqual(REFUSED);
        const listed = await gateway.partner.recipients.listDestinations(id);
        expect(listed.body.data.destinations).toMatchObject([{ screening_status: status }]);
        // The recipient’s other accounts are as good as before.
        const other = await destination(id);
        expect((await quote(id, other.body.data.recipient_destination_id)).status).toBe(200);
      },
    );

    // Proves trap 43, D13.2.
    it('of a customer’s payment details: a third party’s name is screened', async () => {
      const userId = await driver.user();
      const save = (full_name: string) =>
        gateway.partner.paymentDetails.create(userId, {
          rail: 'iban-sepa',
          currency: 'EUR',
          country_code: 'DE',
          details: { full_name, iban: 'DE89370400440532013000' },
        });
      const blocked = await save('Blocked Person');
      expect(blocked.body.data).toMatchObject({ screening_status: 'blocked' });
      const refused = await driver.offrampQuote({
        user_uuid: userId,
        payment_details_id: blocked.body.data.id,
      });
      expect(code(refused)).toEqual(REFUSED);
      const clear = await save('Ada Lovelace');
      const quoted = await driver.offrampQuote({ user_uuid: userId, payment_details_id: clear.body.data.id });
      expect(quoted.status, quoted.text).toBe(200);
    });

    // Proves trap 43.
    it('of a customer’s payment details: the customer’s own name is screened too, wherever it came from', async () => {
      const userId = await driver.user();
      const named = { first_name: 'Blocked', last_name: 'Person' };
      const patched = await gateway.partner.kyc.update(userId, named);
      expect(patched.body.data.updated_fields).toEqual(['first_name', 'last_name']);
      const saved = await gateway.partner.paymentDetails.create(userId, {
        rail: 'iban-sepa',
        currency: 'EUR',
        country_code: 'DE',
        details: { full_name: 'Blocked Person', iban: 'DE89370400440532013000' },
      });
      expect(saved.body.data).toMatchObject({ screening_status: 'blocked' });
      const refused = await driver.offrampQuote({
        user_uuid: userId,
        payment_details_id: saved.body.data.id,
      });
      expect(code(refused)).toEqual(REFUSED);
    });

    it('of payment details from before own names were screened: waits for the worker once, and is then what it is', async () => {
      const userId = await driver.user();
      const save = async (full_name: string, iban: string) => {
        const saved = await gateway.partner.paymentDetails.create(userId, {
          rail: 'iban-sepa',
          currency: 'EUR',
          country_code: 'DE',
          details: { full_name, iban },
        });
        return saved.body.data.id;
      };
      const good = await save('Erika Muster', 'DE89370400440532013000');
      const bad = await save('Blocked Person', 'DE02120300000000202051');
      const owner = await connect(gateway.databaseUrl);
      await owner.query('DELETE FROM screening_cases WHERE subject_key = ANY($1)', [[good, bad].map(String)]);
      const file = new URL(
        '../../apps/gateway/src/db/migrations/0041_own_names_screened.sql',
        import.meta.url,
      );
      await owner.query(`BEGIN; ${readFileSync(file, 'utf8')} COMMIT`).finally(() => owner.end());
      const statuses = async () => {
        const { payment_details } = (await gateway.partner.paymentDetails.list(userId)).body.data;
        return payment_details.map(({ id, screening_status }) => [id, screening_status]);
      };
      const expected = JSON.stringify([
        [bad, 'blocked'],
        [good, 'clear'],
      ]);
      await until('the worker’s answers', async () => JSON.stringify(await statuses()) === expected);
    });

    // Proves C7 SCREENING_CASE_NOT_FOUND.
    it('is in the operator’s queue, and is paid once the operator has cleared it, on record', async () => {
      const id = await recipient();
      const added = await destination(id, 'Review Person');
      const { recipient_destination_id: destinationId } = added.body.data;
      const { screeningCases: cases, audit: log } = gateway.operator;
      const listed = await cases.list({ status: 'review', subject_kind: 'destination', limit: 100 });
      const found = listed.body.data.cases.find(({ subject }) => subject === destinationId)!;
      expect(found).toMatchObject({ screening_status: 'review', decided_by_person: false });
      expect(listed.text).not.toContain('Review Person');
      const decide = (decision: string, reason?: string) =>
        cases.decide(found.case_id, untyped({ decision, reason }));
      expect((await decide('clear')).status).toBe(400);
      const again = await decide('review', 'ticket 3');
      expect(code(again)).toEqual([409, 'INVALID_STATUS']);
      expect(again.body.error.details).toEqual({
        status: 'review',
        allowed_actions: ['clear', 'block', 'rescreen'],
      });
      const cleared = await decide('clear', 'ticket 3');
      expect(cleared.body.data).toMatchObject({ screening_status: 'clear' });
      expect((await quote(id, destinationId)).status).toBe(200);
      const audit = await log.list({ subject: `screening_cases/${found.case_id}` });
      expect(audit.body.data.entries).toMatchObject([{ action: 'screening_case.clear', reason: 'ticket 3' }]);
      const decision = { decision: 'clear', reason: 'ticket 3' } as const;
      const unknown = await cases.decide(crypto.randomUUID(), decision);
      expect(code(unknown)).toEqual([404, 'SCREENING_CASE_NOT_FOUND']);
    });
  });

  describe('a recipient that is no longer clear', () => {
    // Proves D13.2, C7 RECIPIENT_NOT_CLEARED, trap 42.
    it.each([
      ['blocked', (id: string) => setScreening(id, 'blocked')],
      ['under review', (id: string) => setScreening(id, 'review')],
      ['pending', (id: string) => setScreening(id, 'pending')],
      ['archived', (id: string) => gateway.partner.recipients.archive(id)],
    ])('at initiate (%s): refused, and the quote stays as it was', async (_what, lose) => {
      const { id, destinationId } = await payee();
      const { quote_id } = (await quote(id, destinationId)).body.data;
      await lose(id);
      expect(code(await gateway.partner.offramp.initiate({ quote_id }))).toEqual(REFUSED);
      if (_what === 'archived') return;
      await setScreening(id, 'clear');
      expect((await gateway.partner.offramp.initiate({ quote_id })).status).toBe(200);
    });

    // Proves D13.2, trap 42.
    it('at funding: parameters and signed transfer are refused, nothing is held', async () => {
      const { id, orderId } = await order();
      const signed = await driver.signedFunding(orderId);
      await setScreening(id, 'blocked');
      expect(code(await gateway.partner.orders.transferParameters(orderId))).toEqual(REFUSED);
      expect(code(await driver.act(orderId, 'authorize-crypto-transfer', signed))).toEqual(REFUSED);
      expect((await driver.read(orderId)).allowed_actions).not.toContain('authorize-crypto-transfer');
      expect(await parties.isHeld(orderId)).toBe(false);
      await setScreening(id, 'clear');
      expect((await driver.act(orderId, 'authorize-crypto-transfer', signed)).status).toBe(200);
    });

    // Proves D13.2.
    it('before the deposit is final: the order is held and the buyer is not told where to pay', async () => {
      const { id, orderId } = await order();
      await driver.fund(orderId);
      await setScreening(id, 'blocked');
      await driver.reaches(orderId, 'crypto_received');
      await held(orderId);
      const told = await (await parties.vendorOf(orderId)).get('payment-instructions');
      expect(code(told)).toEqual([409, 'OPERATION_NOT_ALLOWED']);
      expect(told.text).not.toContain('DE89');
    });

    // Proves D13.2.
    it('once funded: the order is held by itself, a released hold comes back, and the deposit can be refunded', async () => {
      const { id, orderId } = await funded();
      await setScreening(id, 'blocked');
      await held(orderId);
      // As a hold that an operator places: nothing tells that a screening was the reason.
      const shown = await driver.read(orderId);
      expect(shown).toMatchObject({ hold: { reason: 'COMPLIANCE_REVIEW' }, expires_at: null });
      await parties.operate(orderId, 'hold', { decision: 'release' });
      expect(await parties.isHeld(orderId)).toBe(true);
      expect((await driver.act(orderId, 'cancel')).status).toBe(200);
      expect(code(await gateway.partner.orders.refundParameters(orderId))).toEqual([
        409,
        'OPERATION_NOT_ALLOWED',
      ]);
      await parties.operate(orderId, 'hold', { decision: 'release' });
      expect((await driver.refund(orderId)).body.data).toMatchObject({ status: 'cancelled' });
      await until('the refund', async () => (await driver.escrowBalance(orderId)) === 0n);
      await driver.booksBalance();
    });

    it('archived before the buyer learns where to pay: it is refused, and the hold stays', async () => {
      const { id, orderId } = await funded();
      await gateway.partner.recipients.archive(id);
      const told = await (await parties.vendorOf(orderId)).get('payment-instructions');
      expect(code(told)).toEqual(REFUSED);
      expect(await parties.isHeld(orderId)).toBe(true);
    });

    it.each(['review', 'pending'])('held for %s and cleared again, the order goes on', async (status) => {
      const { id, orderId } = await funded();
      await setScreening(id, status);
      await held(orderId);
      await setScreening(id, 'clear');
      await parties.operate(orderId, 'hold', { decision: 'release' });
      expect(await parties.isHeld(orderId)).toBe(false);
      const told = await (await parties.vendorOf(orderId)).get('payment-instructions');
      expect(told.status, told.text).toBe(200);
    });
  });
});
