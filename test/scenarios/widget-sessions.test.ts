import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../apps/gateway/src/api.ts';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { documentOf, SUBMISSION } from '../../apps/gateway/src/features/kyc/testing/kyc-samples.ts';
import { purgeOldSessions } from '../../apps/gateway/src/features/widget/sessions.ts';
import type { Answer } from '../harness/call.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';
import { sessionOf, type WidgetCustomer, widgetCustomer, widgetSession } from '../harness/widget.ts';

const SESSIONS = '/api/v1/widget/sessions';
const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

const sessionRows = statement<
  [sessionId: string],
  { token_hash: string; start: Record<string, string>; ended: boolean; user_id: string | null; codes: string }
>(
  'test.widget_session',
  `SELECT token_hash, start, ended_at IS NOT NULL AS ended, user_id,
          (SELECT count(*)::text FROM widget_email_codes c WHERE c.session_id = s.session_id) AS codes
     FROM widget_sessions s WHERE session_id = $1`,
);

const newAddress = () => `${randomUUID()}@example.com`;
const refusal = ({ status, body }: Answer) => [status, body.error?.code];
const problemsOf = ({ body }: Answer) =>
  body.error?.details?.fields?.map(({ path }: { path: string }) => path) ?? [];

describe('widget sessions', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ worker: true });
  });
  afterAll(() => gateway?.stop());

  const start = (body: object, key: string | null = gateway.partners[0].widgetKey) =>
    gateway.call('POST', SESSIONS, { key, body });
  const make = (body: object, key?: string) =>
    gateway.call('POST', '/api/v1/partner/widget-sessions', { body, ...(key === undefined ? {} : { key }) });
  const open = (sessionId: string, code: string) =>
    gateway.call('POST', `${SESSIONS}/${sessionId}/token`, { key: null, body: { code } });
  const advance = (seconds: number) => gateway.partner.sandbox.advanceClock({ seconds });
  const rowOf = async (session: WidgetCustomer) => {
    const { session_id } = (await session.ask('GET', '')).body.data;
    const [row] = await gateway.deps.db.query(SYSTEM, sessionRows, [session_id]);
    return { session_id, ...row };
  };

  describe('that a page begins', () => {
    it('know their partner, its chain and where they begin; the token is kept as a hash', async () => {
      const started = await start({
        side: 'offramp',
        fiat_currency: 'eur',
        crypto_currency: 'usdc',
        crypto_amount: '25.5',
        country_code: 'de',
        wallet_address: WALLET.toLowerCase(),
        locale: 'sw',
      });
      expect(started.status, started.text).toBe(200);
      const { token, session } = started.body.data;
      expect(token).toMatch(/^cw_session_[0-9A-Za-z]{32}$/);
      expect(session).toMatchObject({
        partner_name: gateway.partners[0].name,
        sandbox: true,
        locked: false,
        customer: null,
        orders: [],
        chain: { slug: 'base-mainnet', name: 'Base', explorer_url: null },
        start: {
          side: 'offramp',
          fiat_currency: 'EUR',
          crypto_currency: 'USDC',
          crypto_amount: '25.5',
          country_code: 'DE',
          wallet_address: WALLET,
          locale: 'sw',
        },
      });
      expect(Date.parse(session.expires_at) - Date.parse(session.server_time)).toBeCloseTo(4 * 3_600_000, -4);
      const { token_hash } = await rowOf(sessionOf(gateway, token, ''));
      expect(token_hash).not.toContain(token);
      const read = await sessionOf(gateway, token, '').ask('GET', '');
      expect(read.body.data).toEqual({ ...session, server_time: expect.any(String) });
    });

    it.each([
      [['fiat_amount', 'crypto_amount'], { fiat_amount: '1', crypto_amount: '1', fiat_currency: 'EUR' }],
      [['fiat_amount'], { fiat_amount: '100' }],
      [['fiat_amount'], { fiat_amount: '100.001', fiat_currency: 'EUR' }],
      [['crypto_amount'], { crypto_amount: '-1', crypto_currency: 'USDC' }],
      [['country_code'], { country_code: 'XX' }],
      // One letter in the wrong case: a slip of the pen.
      [['wallet_address'], { wallet_address: '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }],
    ])('refuse what a quote would refuse (%s)', async (paths, body) => {
      const refused = await start(body);
      expect([...refusal(refused), problemsOf(refused)]).toEqual([400, 'VALIDATION_ERROR', paths]);
    });

    it('refuse currencies that are not served, and every key but the publishable one', async () => {
      expect(refusal(await start({ fiat_currency: 'XXX' }))).toEqual([400, 'UNSUPPORTED_FIAT_CURRENCY']);
      expect(refusal(await start({ crypto_currency: 'BTC' }))).toEqual([400, 'UNSUPPORTED_CRYPTO_CURRENCY']);
      for (const key of [null, gateway.partners[0].apiKey, 'cw_widget_wrong']) {
        expect(refusal(await start({}, key))).toEqual([401, 'UNAUTHORIZED']);
      }
      // And the publishable key is good for nothing else.
      const { widgetKey } = gateway.partners[0];
      for (const path of ['/api/v1/widget/session', '/api/v1/partner/users']) {
        expect(refusal(await gateway.call('GET', path, { key: widgetKey }))).toEqual([401, 'UNAUTHORIZED']);
      }
    });

    it('end with the key that began them, and by themselves after four hours', async () => {
      const { partners } = (await gateway.operator.partners.list({ limit: 100 })).body.data;
      const partnerId = partners.find(({ name }) => name === gateway.partners[0].name)?.partner_id ?? '';
      const { key, key_id } = (
        await gateway.operator.partners.createKey(partnerId, { kind: 'widget', label: 'for one page' })
      ).body.data;
      const ofKey = sessionOf(gateway, (await start({}, key)).body.data.token, '');
      const other = await widgetSession(gateway);
      expect((await ofKey.ask('GET', '')).status).toBe(200);
      await gateway.operator.keys.revoke(key_id);
      expect(refusal(await ofKey.ask('GET', ''))).toEqual([401, 'UNAUTHORIZED']);
      expect((await other.ask('GET', '')).status).toBe(200);
      await advance(4 * 3_600 - 60);
      expect((await other.ask('GET', '')).status).toBe(200);
      await advance(61);
      expect(refusal(await other.ask('GET', ''))).toEqual([401, 'UNAUTHORIZED']);
    });
  });

  describe('codes by e-mail', () => {
    it('make a session its customer’s, once; the next one finds the same customer', async () => {
      const email = newAddress();
      const session = await widgetSession(gateway, { reference_id: 'crm-7', locale: 'fr' });
      const sent = await session.ask('POST', '/email-code', { email: ` ${email.toUpperCase()} ` });
      expect(sent.body.data).toEqual({
        expires_at: expect.any(String),
        resend_after_seconds: 30,
        sandbox_code: expect.stringMatching(/^[0-9]{6}$/),
      });
      const { sandbox_code: code } = sent.body.data;
      // In the customer’s language, from its partner, and shown to no other partner. A code that is used is sent no more.
      const mails = async (key: string) =>
        (await gateway.call('GET', `/api/v1/sandbox/mailbox?email=${email}`, { key })).body.data.messages;
      const [mail] = await until('the e-mail', async () => {
        const all = await mails(gateway.partners[0].apiKey);
        return all.length > 0 && all;
      });
      expect(mail).toMatchObject({
        to: email,
        language: 'fr',
        subject: `${code} est votre code pour ${gateway.partners[0].name}`,
      });
      expect(await mails(gateway.partners[1].apiKey)).toEqual([]);
      const known = await session.ask('POST', '/identify', {
        email,
        code: `${code.slice(0, 3)} ${code.slice(3)}`,
      });
      expect(known.status, known.text).toBe(200);
      expect(known.body.data.customer).toEqual({
        email: `${email[0]}•••@example.com`,
        kyc_status: 'NOT_INITIATED',
        is_verified: false,
        rejection_reasons: [],
      });
      const [user] = (await gateway.partner.users.list({ email })).body.data.users;
      expect(user).toMatchObject({ email, reference_id: 'crm-7' });
      expect((await rowOf(session)).codes).toBe('0');

      const again = await widgetCustomer(gateway, email);
      expect((await rowOf(again)).user_id).toBe(user?.id);
      expect((await gateway.partner.users.list({ email })).body.data.users).toHaveLength(1);
      // The other partner’s customer of this address is another one.
      const elsewhere = await widgetCustomer(gateway, email, 1);
      expect((await rowOf(elsewhere)).user_id).not.toBe(user?.id);
    });

    it('are answered alike whether the address is known or not', async () => {
      const known = await widgetCustomer(gateway);
      const [newcomer, returning] = [await widgetSession(gateway), await widgetSession(gateway)];
      const shape = ({ status, body }: Answer) => ({
        status,
        body: { ...body, data: { ...body.data, expires_at: '', sandbox_code: '' } },
      });
      const [first, second] = [
        await newcomer.ask('POST', '/email-code', { email: newAddress() }),
        await returning.ask('POST', '/email-code', { email: known.email }),
      ];
      expect(shape(first)).toEqual(shape(second));
      const wrong = (email: string) => ({ email, code: 'no' });
      expect((await newcomer.ask('POST', '/identify', wrong(newAddress()))).text).toBe(
        (await returning.ask('POST', '/identify', wrong(known.email))).text,
      );
    });

    // Proves C7 EMAIL_CODE_INVALID.
    it('are over after five wrong tries, and the right one comes too late then', async () => {
      const session = await widgetSession(gateway);
      const email = newAddress();
      const { sandbox_code: code } = (await session.ask('POST', '/email-code', { email })).body.data;
      const wrong = code === '000000' ? '000001' : '000000';
      const left: number[] = [];
      for (let attempt = 0; attempt < 6; attempt++) {
        const refused = await session.ask('POST', '/identify', { email, code: wrong });
        expect(refusal(refused)).toEqual([422, 'EMAIL_CODE_INVALID']);
        left.push(refused.body.error.details.attempts_left);
      }
      expect(left).toEqual([4, 3, 2, 1, 0, 0]);
      expect(refusal(await session.ask('POST', '/identify', { email, code }))).toEqual([
        422,
        'EMAIL_CODE_INVALID',
      ]);
      await advance(30);
      const next = await session.ask('POST', '/email-code', { email });
      const right = { email, code: next.body.data.sandbox_code };
      expect((await session.ask('POST', '/identify', right)).status).toBe(200);
    });

    it('count tries that come at once', async () => {
      const session = await widgetSession(gateway);
      const email = newAddress();
      await session.ask('POST', '/email-code', { email });
      const tries = await Promise.all(
        Array.from({ length: 8 }, () => session.ask('POST', '/identify', { email, code: 'wrong' })),
      );
      const left = tries.map(({ body }) => body.error.details.attempts_left).sort();
      expect(left).toEqual([0, 0, 0, 0, 1, 2, 3, 4]);
    });

    it('are good for their address, their session and ten minutes', async () => {
      const [session, other] = [await widgetSession(gateway), await widgetSession(gateway)];
      const email = newAddress();
      const { sandbox_code: code } = (await session.ask('POST', '/email-code', { email })).body.data;
      expect(refusal(await session.ask('POST', '/identify', { email: newAddress(), code }))).toEqual([
        422,
        'EMAIL_CODE_INVALID',
      ]);
      // A session that has asked for none.
      const foreign = await other.ask('POST', '/identify', { email, code });
      expect([...refusal(foreign), foreign.body.error.details.attempts_left]).toEqual([
        422,
        'EMAIL_CODE_INVALID',
        0,
      ]);
      await advance(601);
      expect(refusal(await session.ask('POST', '/identify', { email, code }))).toEqual([
        422,
        'EMAIL_CODE_INVALID',
      ]);
    });

    it('can be asked for again after thirty seconds; the last one counts', async () => {
      const session = await widgetSession(gateway);
      const email = newAddress();
      const { sandbox_code: first } = (await session.ask('POST', '/email-code', { email })).body.data;
      const early = await session.ask('POST', '/email-code', { email });
      expect(refusal(early)).toEqual([429, 'RATE_LIMITED']);
      const wait = Number(early.headers.get('retry-after'));
      expect([early.body.error.details.retry_after, wait > 20 && wait <= 30]).toEqual([wait, true]);
      await advance(30);
      const { sandbox_code: second } = (await session.ask('POST', '/email-code', { email })).body.data;
      if (first !== second) {
        expect((await session.ask('POST', '/identify', { email, code: first })).status).toBe(422);
      }
      expect((await session.ask('POST', '/identify', { email, code: second })).status).toBe(200);
    });

    it('want an address, and no customer before them', async () => {
      const session = await widgetSession(gateway);
      const refused = await session.ask('POST', '/email-code', { email: 'not an address' });
      expect([...refusal(refused), problemsOf(refused)]).toEqual([400, 'VALIDATION_ERROR', ['email']]);
      const customer = await widgetCustomer(gateway);
      for (const path of ['/email-code', '/identify']) {
        const again = await customer.ask('POST', path, { email: newAddress(), code: '123456' });
        expect(refusal(again)).toEqual([409, 'OPERATION_NOT_ALLOWED']);
      }
    });

    // Proves C7 MAIL_UNAVAILABLE.
    it('cannot be asked for where no e-mail can be sent', async () => {
      const api = await createApi({ ...gateway.deps, mail: undefined }, gateway.baseUrl);
      const session = await widgetSession(gateway);
      const refused = await api.app.inject({
        method: 'POST',
        url: '/api/v1/widget/session/email-code',
        headers: { authorization: `Bearer ${session.token}` },
        body: { email: newAddress() },
      });
      expect([refused.statusCode, refused.json().error.code]).toEqual([503, 'MAIL_UNAVAILABLE']);
      await api.app.close();
    });

    it('make one customer when two sessions confirm a new address at once', async () => {
      const email = newAddress();
      const sessions = await Promise.all([1, 2, 3].map(() => widgetSession(gateway)));
      const answers = await Promise.all(
        sessions.map(async (session) => {
          const { body } = await session.ask('POST', '/email-code', { email });
          return session.ask('POST', '/identify', { email, code: body.data.sandbox_code });
        }),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect((await gateway.partner.users.list({ email })).body.data.users).toHaveLength(1);
    });
  });

  describe('signing out', () => {
    it('drops the customer, the wallet and the reference, and leaves the session', async () => {
      const { body } = await start({ wallet_address: WALLET, reference_id: 'crm-9', side: 'onramp' });
      const session = sessionOf(gateway, body.data.token, '');
      const email = newAddress();
      const { sandbox_code: code } = (await session.ask('POST', '/email-code', { email })).body.data;
      await session.ask('POST', '/identify', { email, code });
      const out = await session.ask('POST', '/sign-out');
      expect(out.body.data).toMatchObject({ customer: null, orders: [], start: { side: 'onramp' } });
      expect(await rowOf(session)).toMatchObject({ user_id: null, start: { side: 'onramp' }, codes: '0' });
      expect((await rowOf(session)).start).toEqual({ side: 'onramp' });
      expect(refusal(await session.ask('GET', '/kyc'))).toEqual([403, 'EMAIL_NOT_CONFIRMED']);
    });
  });

  describe('that a partner’s server makes', () => {
    // Proves C7 WIDGET_SESSION_NOT_FOUND.
    it('open once, for the customer that it names', async () => {
      const user = (await gateway.partner.users.create({ email: newAddress() })).body.data;
      const made = (
        await gateway.partner.widgetSessions.create({
          user_uuid: user.id,
          side: 'onramp',
          fiat_currency: 'EUR',
          fiat_amount: '50.00',
          wallet_address: WALLET,
          redirect_url: 'http://localhost:3000/thanks?order=1',
          color_scheme: 'dark',
          partner_fee_pct: 1.5,
        })
      ).body.data;
      const url = new URL(made.url);
      expect([url.origin + url.pathname, url.search]).toEqual([
        `${gateway.baseUrl}/widget/checkout`,
        `?session=${made.session_id}`,
      ]);
      const code = url.hash.slice(1);
      const opened = await open(made.session_id, code);
      expect(opened.status, opened.text).toBe(200);
      const { token, session } = opened.body.data;
      expect(session).toMatchObject({
        session_id: made.session_id,
        locked: true,
        customer: { kyc_status: 'NOT_INITIATED' },
        start: {
          fiat_amount: '50.00',
          redirect_url: 'http://localhost:3000/thanks?order=1',
          color_scheme: 'dark',
        },
      });
      expect((await rowOf(sessionOf(gateway, token, ''))).user_id).toBe(user.id);
      const [used, wrong, unknown] = [
        await open(made.session_id, code),
        await open(made.session_id, 'cw_open_wrong'),
        await open(randomUUID(), code),
      ];
      expect(refusal(used)).toEqual([404, 'WIDGET_SESSION_NOT_FOUND']);
      expect([wrong.text, unknown.text]).toEqual([used.text, used.text]);
    });

    it('open anew for a minute where the answer was lost, until the token is used; the one before is void', async () => {
      const made = async () => {
        const { session_id, url } = (await make({})).body.data;
        return () => open(session_id, new URL(url).hash.slice(1));
      };
      const read = ({ body }: Answer) => sessionOf(gateway, body.data.token, '').ask('GET', '');
      const openUsed = await made();
      const [lost, repeated] = [await openUsed(), await openUsed()];
      expect([lost.status, repeated.status]).toEqual([200, 200]);
      expect(refusal(await read(lost))).toEqual([401, 'UNAUTHORIZED']);
      expect((await read(repeated)).status).toBe(200);
      expect(refusal(await openUsed())).toEqual([404, 'WIDGET_SESSION_NOT_FOUND']);
      expect((await read(repeated)).status).toBe(200);

      // However often it is repeated: a minute from the first time.
      const openLate = await made();
      await openLate();
      await advance(40);
      const last = await openLate();
      await advance(21);
      expect(refusal(await openLate())).toEqual([404, 'WIDGET_SESSION_NOT_FOUND']);
      expect((await read(last)).status).toBe(200);
    });

    it('leave one token although many use the code at the same time, and none after ten minutes', async () => {
      const { session_id, url } = (await make({ locked: false })).body.data;
      const code = new URL(url).hash.slice(1);
      const answers = await Promise.all(Array.from({ length: 6 }, () => open(session_id, code)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
      expect(answers[0]?.body.data.session).toMatchObject({ locked: false, customer: null });
      // All of them used at once, while the code is sent once more: at most one is good then, and stays so.
      const tokens = answers.map(({ body }) => body.data.token as string);
      const [again] = await Promise.all([
        open(session_id, code),
        ...tokens.map((token) => sessionOf(gateway, token, '').ask('GET', '')),
      ]);
      if (again.status === 200) tokens.push(again.body.data.token);
      const reads = await Promise.all(tokens.map((token) => sessionOf(gateway, token, '').ask('GET', '')));
      expect(reads.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(refusal(await open(session_id, code))).toEqual([404, 'WIDGET_SESSION_NOT_FOUND']);
      const late = (await make({})).body.data;
      await advance(601);
      const refused = await open(late.session_id, new URL(late.url).hash.slice(1));
      expect(refusal(refused)).toEqual([404, 'WIDGET_SESSION_NOT_FOUND']);
    });

    it('are answered once for an idempotency key', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const body = { side: 'onramp' };
      const [first, second] = [
        await gateway.call('POST', '/api/v1/partner/widget-sessions', { body, headers }),
        await gateway.call('POST', '/api/v1/partner/widget-sessions', { body, headers }),
      ];
      expect(second.text).toBe(first.text);
    });

    it('are refused another partner’s customer as one that does not exist', async () => {
      const theirs = (await gateway.as(gateway.partners[1].apiKey).users.create({ email: newAddress() })).body
        .data;
      const [foreign, unknown] = [
        await make({ user_uuid: theirs.id }),
        await make({ user_uuid: randomUUID() }),
      ];
      expect(refusal(foreign)).toEqual([404, 'USER_NOT_FOUND']);
      expect(foreign.text).toBe(unknown.text);
    });

    it.each([
      ['redirect_url', { redirect_url: 'http://shop.example/thanks' }],
      ['redirect_url', { redirect_url: 'javascript:alert(1)' }],
      ['redirect_url', { redirect_url: 'https://user:secret@shop.example/' }],
      ['redirect_url', { redirect_url: '/thanks' }],
      ['redirect_url', { redirect_url: 'http://localhost.shop.example/' }],
      ['partner_fee_pct', { partner_fee_pct: '100' }],
      ['wallet_address', { wallet_address: '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }],
    ])('name %s when it does not fit', async (path, body) => {
      const refused = await make(body);
      expect([...refusal(refused), problemsOf(refused)]).toEqual([400, 'VALIDATION_ERROR', [path]]);
    });
  });

  describe('what a customer does about itself', () => {
    // Proves C7 EMAIL_NOT_CONFIRMED.
    it('needs a customer', async () => {
      const session = await widgetSession(gateway);
      const asked = await Promise.all([
        session.ask('GET', '/kyc'),
        session.ask('POST', '/kyc', SUBMISSION),
        session.ask('POST', '/kyc/documents', documentOf('ID_FRONT')),
        session.ask('GET', '/payment-details'),
        session.ask('POST', '/payment-details', ACCOUNT),
      ]);
      expect(asked.map(refusal)).toEqual(asked.map(() => [403, 'EMAIL_NOT_CONFIRMED']));
    });

    const ACCOUNT = {
      rail: 'iban-sepa',
      currency: 'EUR',
      country_code: 'DE',
      details: { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' },
    };

    it('is verified by data and documents; what the partner has told need not be repeated', async () => {
      const email = newAddress();
      await gateway.partner.users.create({ email, first_name: 'Ada', last_name: 'Lovelace' });
      const customer = await widgetCustomer(gateway, email);
      const before = (await customer.ask('GET', '/kyc')).body.data;
      expect(before).toMatchObject({ status: 'NOT_INITIATED', method: null, verification_url: null });
      expect(before.missing_fields).toContain('id_number');
      expect(before.missing_fields).not.toContain('first_name');
      expect(before.missing_fields).not.toContain('last_name');
      const { first_name: _first, last_name: _last, ...rest } = SUBMISSION;
      const submitted = await customer.ask('POST', '/kyc', rest);
      expect(submitted.status, submitted.text).toBe(200);
      const { required_documents: required } = submitted.body.data;
      expect((await customer.ask('GET', '/kyc')).body.data).toMatchObject({
        status: 'PENDING_DOCUMENTS',
        method: 'direct_data',
        required_documents: required,
        missing_fields: [],
      });
      for (const type of required) {
        const uploaded = await customer.ask('POST', '/kyc/documents', documentOf(type));
        expect(uploaded.status, uploaded.text).toBe(200);
      }
      await until('the verification', async () => {
        const { body } = await customer.ask('GET', '');
        return body.data.customer.is_verified;
      });
      const late = await customer.ask('POST', '/kyc/documents', documentOf('SELFIE'));
      expect([...refusal(late), late.body.error.details.allowed_actions]).toEqual([
        409,
        'INVALID_STATUS',
        [],
      ]);
    });

    it('is shown a hosted verification again until it is decided', async () => {
      const customer = await widgetCustomer(gateway);
      const { body } = await customer.ask('POST', '/kyc', { method: 'hosted_link' });
      const url = body.data.verification_url;
      expect(url).toContain(`${gateway.baseUrl}/api/v1/kyc/hosted/`);
      const shown = (await customer.ask('GET', '/kyc')).body.data;
      // The simulated provider may have decided by now.
      expect([url, null]).toContain(shown.verification_url);
      await until('the decision', async () => {
        return (await customer.ask('GET', '/kyc')).body.data.verification_url === null;
      });
    });

    it('has accounts of its own, and sees no other customer’s', async () => {
      const [ada, grace] = [await widgetCustomer(gateway), await widgetCustomer(gateway)];
      const saved = await ada.ask('POST', '/payment-details', ACCOUNT);
      expect(saved.status, saved.text).toBe(200);
      expect(saved.body.data.details.iban).toMatch(/3000$/);
      expect(saved.text).not.toContain('DE89370400440532013000');
      const list = async (who: WidgetCustomer) =>
        (await who.ask('GET', '/payment-details')).body.data.payment_details;
      expect(await list(ada)).toEqual([saved.body.data]);
      expect(await list(grace)).toEqual([]);
      const wrong = await ada.ask('POST', '/payment-details', {
        ...ACCOUNT,
        details: { full_name: 'Ada', iban: 'DE00' },
      });
      expect(refusal(wrong)).toEqual([422, 'INVALID_RECIPIENT_FIELDS']);
    });
  });

  describe('what is kept', () => {
    it('is purged a day after a session has ended, and codes when they are over', async () => {
      const session = await widgetSession(gateway);
      await session.ask('POST', '/email-code', { email: newAddress() });
      const { session_id } = await rowOf(session);
      const read = async () => (await gateway.deps.db.query(SYSTEM, sessionRows, [session_id]))[0];
      await advance(601);
      await purgeOldSessions(gateway.deps);
      expect(await read()).toMatchObject({ codes: '0' });
      await advance(4 * 3_600 + 24 * 3_600);
      expect(await purgeOldSessions(gateway.deps)).toBeGreaterThan(0);
      expect(await read()).toBeUndefined();
    });

    it('of a customer who is erased is nothing, and its sessions end', async () => {
      const email = newAddress();
      const { body } = await start({ wallet_address: WALLET, reference_id: 'crm-10' });
      const session = sessionOf(gateway, body.data.token, email);
      const { sandbox_code: code } = (await session.ask('POST', '/email-code', { email })).body.data;
      await session.ask('POST', '/identify', { email, code });
      const mailbox = () => gateway.partner.sandbox.mailbox({ email });
      await until('the e-mail', async () => (await mailbox()).body.data.messages.length);
      const { session_id, user_id } = await rowOf(session);
      const erased = await gateway.call('POST', `/api/v1/operator/users/${user_id}/erase`, {
        key: gateway.sandbox.operatorKey,
        body: { reason: 'asked for' },
      });
      expect(erased.status, erased.text).toBe(200);
      expect(refusal(await session.ask('GET', ''))).toEqual([401, 'UNAUTHORIZED']);
      const [row] = await gateway.deps.db.query(SYSTEM, sessionRows, [session_id]);
      expect(row).toMatchObject({ ended: true, user_id: null, start: {}, codes: '0' });
      expect(row?.start).toEqual({});
      expect((await mailbox()).body.data.messages).toEqual([]);
      // A person who comes back is a new customer.
      expect((await rowOf(await widgetCustomer(gateway, email))).user_id).not.toBe(user_id);
    });
  });

  describe('origins', () => {
    it('are kept by operators, in one spelling, with an audit entry', async () => {
      const { partners } = (await gateway.operator.partners.list({ limit: 100 })).body.data;
      const partnerId = partners.find(({ name }) => name === gateway.partners[1].name)?.partner_id ?? '';
      const set = (origins: string[]) =>
        gateway.operator.partners.setWidgetOrigins(partnerId, { origins, reason: 'new shop' });
      const kept = await set([
        'https://Shop.Example/',
        'https://shop.example',
        'https://*.Shop.example:8443',
        'http://localhost:3000',
      ]);
      const origins = ['https://shop.example', 'https://*.shop.example:8443', 'http://localhost:3000'];
      expect(kept.body.data).toEqual({ origins });
      expect((await gateway.operator.partners.widgetOrigins(partnerId)).body.data).toEqual({ origins });
      const { entries } = (await gateway.operator.audit.list({ subject: `partners/${partnerId}` })).body.data;
      expect(entries[0]).toMatchObject({
        action: 'partner.widget_origins',
        reason: 'new shop',
        before: { origins: [] },
        after: { origins },
      });
      const refused = await set(['https://ok.example', 'http://shop.example', 'https://*.com']);
      expect([...refusal(refused as Answer), problemsOf(refused as Answer)]).toEqual([
        400,
        'VALIDATION_ERROR',
        ['origins.1', 'origins.2'],
      ]);
      const missing = await gateway.operator.partners.widgetOrigins(randomUUID());
      expect(refusal(missing as Answer)).toEqual([404, 'PARTNER_NOT_FOUND']);
      expect((await set([])).body.data).toEqual({ origins: [] });
    });
  });
});

describe('limits of the widget', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({
      env: {
        WIDGET_SESSIONS_PER_ADDRESS_PER_MINUTE: '12',
        WIDGET_CODES_PER_ADDRESS_PER_MINUTE: '7',
        WIDGET_CODES_PER_SESSION_PER_HOUR: '2',
        WIDGET_CODES_PER_MAILBOX_PER_HOUR: '3',
        TRUSTED_PROXIES: '127.0.0.1',
      },
    });
  });
  afterAll(() => gateway?.stop());

  const from = (address: string) => ({ 'x-forwarded-for': address });
  const start = (address: string) =>
    gateway.call('POST', SESSIONS, {
      key: gateway.partners[0].widgetKey,
      body: {},
      headers: from(address),
    });
  const ask = (token: string, email: string, address: string) =>
    gateway.call('POST', '/api/v1/widget/session/email-code', {
      key: token,
      body: { email },
      headers: from(address),
    });
  const token = async (address: string) => (await start(address)).body.data.token as string;

  it('hold for each address that begins sessions or opens them', async () => {
    const answers: number[] = [];
    for (let n = 0; n < 14; n++) answers.push((await start('198.51.100.1')).status);
    // A new minute may have begun in between.
    expect(answers.filter((status) => status === 429).length).toBeGreaterThan(0);
    expect(answers.slice(0, 2)).toEqual([200, 200]);
    expect((await start('198.51.100.2')).status).toBe(200);
    // One IPv6 network is one address; here too a new minute may begin in between.
    let n = 0;
    await until('the limit', async () => (await start(`2001:db8::${n++}`)).status === 429);
    expect(n).toBeLessThan(28);
    const opening = await gateway.call('POST', `${SESSIONS}/${randomUUID()}/token`, {
      key: null,
      body: { code: 'guess' },
      headers: from('2001:db8::99'),
    });
    expect(refusal(opening)).toEqual([429, 'RATE_LIMITED']);
    expect(Number(opening.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('hold for codes: each session, each mailbox, each address', async () => {
    const email = newAddress();
    // Codes are counted by the hour of the clock: all that follows is asked in one.
    const { now } = (await gateway.partner.sandbox.clock()).body.data;
    const intoTheHour = Math.floor(Date.parse(now) / 1_000) % 3_600;
    await gateway.partner.sandbox.advanceClock({ seconds: 3_600 - intoTheHour });
    const first = await token('203.0.113.1');
    const askLater = async (session: string, address: string) => {
      await gateway.partner.sandbox.advanceClock({ seconds: 31 });
      return ask(session, email, address);
    };
    expect((await askLater(first, '203.0.113.1')).status).toBe(200);
    expect((await askLater(first, '203.0.113.1')).status).toBe(200);
    const third = await askLater(first, '203.0.113.1');
    expect(refusal(third)).toEqual([429, 'RATE_LIMITED']);
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(30);
    const second = await token('203.0.113.2');
    expect((await askLater(second, '203.0.113.2')).status).toBe(200);
    expect(refusal(await askLater(second, '203.0.113.2'))).toEqual([429, 'RATE_LIMITED']);
    // Another mailbox is not concerned.
    expect((await ask(await token('203.0.113.3'), newAddress(), '203.0.113.3')).status).toBe(200);
    const statuses: number[] = [];
    for (let n = 0; n < 9; n++) {
      statuses.push((await ask(await token(`203.0.113.${n + 10}`), newAddress(), '203.0.113.200')).status);
    }
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
  });
});
