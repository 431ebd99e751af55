import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthenticator } from '../harness/authenticator.ts';
import { type ConsoleClient, consoleClient, nextCode } from '../harness/console-client.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';

const PASSWORD = 'a long enough sentence';

describe('users of the console', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ worker: true });
  });
  afterAll(() => gateway?.stop());

  /** By name: a passkey is bound to one. */
  const browser = () => consoleClient(gateway.baseUrl.replace('127.0.0.1', 'localhost'));
  const partnerId = async () => {
    const principal = await gateway.deps.principals.find(gateway.partners[0].apiKey);
    return principal?.kind === 'partner' ? principal.partnerId : '';
  };
  const tokenIn = (url: string) => new URL(url).hash.slice(1);

  async function newUser(
    email: string,
    role: 'admin' | 'viewer' | 'support' = 'viewer',
    desk: 'partner' | 'operator' = 'partner',
  ): Promise<ConsoleClient> {
    const { body } = await gateway.operator.invitations.create({
      desk,
      ...(desk === 'partner' ? { owner_id: await partnerId() } : {}),
      email,
      role,
    });
    const client = browser();
    const accepted = await client.post('/invitation/accept', {
      token: tokenIn(body.data.url),
      name: 'Jane Doe',
      password: PASSWORD,
    });
    expect(accepted.status, accepted.text).toBe(200);
    await client.session();
    return client;
  }

  // Proves C7 INVITATION_EXPIRED.
  it('come in by a link that is mailed, once, and sign in with their own password', async () => {
    const owner_id = await partnerId();
    const { body, status } = await gateway.operator.invitations.create({
      desk: 'partner',
      owner_id,
      email: 'Jane@Example.com',
      role: 'admin',
    });
    expect(status).toBe(200);
    const { data } = body;
    expect(data.mailed).toBe(true);
    expect(data.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/console\/invitation#cw_invite_\w+$/);
    const mail = await until('the mail', async () => {
      const box = await gateway.partner.sandbox.mailbox({ email: 'jane@example.com' });
      return box.body.data.messages[0];
    });
    expect(mail.text).toContain(data.url);

    const token = tokenIn(data.url);
    const client = browser();
    expect((await client.post('/invitation', { token })).body.data).toMatchObject({
      email: 'jane@example.com',
      role: 'admin',
      desk: 'partner',
    });
    const accept = (password: string) =>
      client.post('/invitation/accept', { token, name: 'Jane Doe', password });
    expect((await accept('jane@example.com')).body.error.details.fields[0].path).toBe('password');
    expect((await accept('password1234')).status).toBe(400);
    expect((await accept('short')).status).toBe(400);
    expect((await accept(PASSWORD)).body.data).toEqual({ signed_in: true, second_step: null });
    expect((await client.session()).body.data).toMatchObject({
      user: { email: 'jane@example.com', name: 'Jane Doe', role: 'admin' },
      desk: 'partner',
      owner: { id: owner_id },
      must_add_second_factor: false,
    });
    expect((await accept(PASSWORD)).body.error.code).toBe('INVITATION_EXPIRED');

    // The same routes as a key: what the role has, and the own desk’s.
    expect((await client.call('GET', '/api/v1/partner/orders')).status).toBe(200);
    expect((await client.call('GET', '/api/v1/operator/partners')).status).toBe(401);
    expect((await client.post('/sign-out')).status).toBe(200);
    expect((await client.session()).status).toBe(401);
    expect((await browser().signIn('JANE@example.com', PASSWORD)).body.data.signed_in).toBe(true);
  });

  // Proves C7 INVITATION_NOT_FOUND.
  it('are invited by operators into every desk, and the link can be withdrawn', async () => {
    const { operator } = gateway;
    const refusals = [
      { desk: 'operator', owner_id: await partnerId(), email: 'a@example.com', role: 'viewer' },
      { desk: 'partner', email: 'a@example.com', role: 'viewer' },
      { desk: 'vendor', owner_id: await partnerId(), email: 'a@example.com', role: 'viewer' },
      { desk: 'operator', email: 'no address', role: 'viewer' },
    ] as const;
    const answers = await Promise.all(refusals.map((each) => operator.invitations.create(each)));
    expect(answers.map(({ body }) => body.error.code)).toEqual([
      'VALIDATION_ERROR',
      'VALIDATION_ERROR',
      'VENDOR_NOT_FOUND',
      'VALIDATION_ERROR',
    ]);
    const made = (
      await operator.invitations.create({ desk: 'operator', email: 'x@example.com', role: 'finance' })
    ).body.data;
    const again = (
      await operator.invitations.create({ desk: 'operator', email: 'x@example.com', role: 'finance' })
    ).body.data;
    const open = (await operator.invitations.list()).body.data.invitations;
    expect(open.filter(({ email }) => email === 'x@example.com').map((each) => each.invitation_id)).toEqual([
      again.invitation_id,
    ]);
    expect(JSON.stringify(open)).not.toContain('cw_invite_');
    const look = (url: string) => browser().post('/invitation', { token: tokenIn(url) });
    expect((await look(made.url)).body.error.code).toBe('INVITATION_EXPIRED');
    expect((await look(again.url)).status).toBe(200);
    expect((await operator.invitations.withdraw(again.invitation_id)).status).toBe(200);
    expect((await look(again.url)).status).toBe(410);
    expect((await operator.invitations.withdraw(again.invitation_id)).body.error.code).toBe(
      'INVITATION_NOT_FOUND',
    );
  });

  // Proves C7 CREDENTIAL_INVALID, C7 REAUTHENTICATION_REQUIRED.
  it('add an app: the password alone is not enough then, and no code is good twice', async () => {
    const email = 'totp@example.com';
    const client = await newUser(email);
    const other = browser();
    expect((await other.signIn(email, PASSWORD)).status).toBe(200);

    const begun = (await client.post('/account/totp', {})).body.data;
    expect(begun.otpauth_url).toContain(`secret=${begun.secret}`);
    const wrong = await client.post('/account/totp/confirm', { token: begun.token, code: '000000' });
    expect(wrong.body.error.code).toBe('CREDENTIAL_INVALID');
    const code = nextCode(begun.secret);
    const confirmed = await client.post('/account/totp/confirm', { token: begun.token, code });
    const codes: string[] = confirmed.body.data.recovery_codes;
    expect(new Set(codes).size).toBe(10);
    expect((await other.session()).status).toBe(401);
    expect((await client.get('/account')).body.data.totp).toMatchObject({ recovery_codes_left: 10 });

    const next = browser();
    const first = (await next.post('/sign-in', { email, password: PASSWORD })).body.data;
    expect(first).toMatchObject({ signed_in: false, second_step: { methods: ['totp', 'recovery_code'] } });
    expect(next.cookie).toBe('');
    const { token } = first.second_step;
    expect((await next.post('/sign-in/totp', { token, code })).body.error.code).toBe('SIGN_IN_FAILED');
    const fresh = nextCode(begun.secret);
    // At the same time: one of them is signed in.
    const both = await Promise.all([1, 2].map(() => browser().post('/sign-in/totp', { token, code: fresh })));
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);

    const byRecovery = browser();
    const second = (await byRecovery.post('/sign-in', { email, password: PASSWORD })).body.data.second_step;
    const use = (given: string, step: string) =>
      byRecovery.post('/sign-in/totp', { token: step, code: given });
    expect((await use(codes[3] ?? '', second.token)).body.data.signed_in).toBe(true);
    await byRecovery.session();
    const third = (await browser().post('/sign-in', { email, password: PASSWORD })).body.data.second_step;
    expect((await use(codes[3] ?? '', third.token)).body.error.code).toBe('SIGN_IN_FAILED');
    expect((await byRecovery.get('/account')).body.data.totp.recovery_codes_left).toBe(9);

    const renewed = await byRecovery.post('/account/recovery-codes', { password: PASSWORD });
    expect(renewed.body.data.recovery_codes).not.toContain(codes[0]);
    expect((await byRecovery.post('/account/totp/disable', {})).body.error.code).toBe(
      'REAUTHENTICATION_REQUIRED',
    );
    expect((await byRecovery.post('/account/totp/disable', { password: 'wrong' })).status).toBe(422);
    expect((await byRecovery.post('/account/totp/disable', { password: PASSWORD })).status).toBe(200);
    expect((await browser().signIn(email, PASSWORD)).body.data.signed_in).toBe(true);
  });

  // Proves C7 SIGN_IN_STEP_EXPIRED.
  it('guess a code five times for each sign-in', async () => {
    const email = 'guess@example.com';
    const client = await newUser(email);
    const { token: enrolment, secret } = (await client.post('/account/totp', {})).body.data;
    await client.post('/account/totp/confirm', { token: enrolment, code: nextCode(secret) });
    const guesser = browser();
    const { token } = (await guesser.post('/sign-in', { email, password: PASSWORD })).body.data.second_step;
    const guesses = await Promise.all(
      Array.from({ length: 8 }, () => guesser.post('/sign-in/totp', { token, code: 'abcdef' })),
    );
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(5);
    const right = await guesser.post('/sign-in/totp', { token, code: nextCode(secret) });
    expect(right.body.error.code).toBe('SIGN_IN_STEP_EXPIRED');
  });

  // Proves C7 PASSKEY_INVALID, C7 PASSKEY_NOT_FOUND.
  it('sign in by passkey, without an address and without a password', async () => {
    const client = await newUser('passkey@example.com');
    const origin = gateway.baseUrl.replace('127.0.0.1', 'localhost');
    expect((await client.get('/options')).body.data.passkeys).toBe(true);
    expect((await consoleClient(gateway.baseUrl).get('/options')).body.data.passkeys).toBe(false);
    const key = createAuthenticator();
    const begun = (await client.post('/account/passkey-options', {})).body.data;
    expect(begun.options).toMatchObject({
      rp: { id: 'localhost' },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const register = (token: string, response: object) =>
      client.post('/account/passkeys', { token, label: 'Laptop', response });
    const unverified = key.register(begun.options, origin, { verified: false });
    expect((await register(begun.token, unverified)).body.error.code).toBe('PASSKEY_INVALID');
    // Whatever came of it, a challenge is good once.
    const good = key.register(begun.options, origin);
    expect((await register(begun.token, good)).body.error.code).toBe('SIGN_IN_STEP_EXPIRED');
    const anew = (await client.post('/account/passkey-options', {})).body.data;
    const elsewhere = key.register(anew.options, 'https://evil.example');
    expect((await register(anew.token, elsewhere)).status).toBe(422);
    const last = (await client.post('/account/passkey-options', {})).body.data;
    const added = await register(last.token, key.register(last.options, origin));
    expect(added.body.data, added.text).toMatchObject({
      passkey_id: key.id,
      label: 'Laptop',
    });

    const signIn = async (change: { verified?: boolean; count?: number } = {}, from = origin) => {
      const next = browser();
      const asked = (await next.post('/sign-in/passkey-options')).body.data;
      const response = key.assert(asked.options, from, change);
      const answer = await next.post('/sign-in/passkey', { token: asked.token, response });
      const repeated = await next.post('/sign-in/passkey', { token: asked.token, response });
      expect(repeated.body.error.code).toBe('SIGN_IN_STEP_EXPIRED');
      return { answer, next };
    };
    const { answer, next } = await signIn();
    expect(answer.body.data, answer.text).toEqual({ signed_in: true, second_step: null });
    expect((await next.session()).body.data.user.email).toBe('passkey@example.com');
    for (const [change, from] of [
      [{ verified: false }, origin],
      // A copy of the key counts from where it was copied.
      [{ count: 1 }, origin],
      [{}, 'https://evil.example'],
    ] as const) {
      expect((await signIn(change, from)).answer.body.error.code).toBe('SIGN_IN_FAILED');
    }
    const path = `/api/v1/console/account/passkeys/${key.id}`;
    expect((await next.call('PATCH', path, { body: { label: 'Phone' } })).status).toBe(200);
    expect((await next.get('/account')).body.data.passkeys).toMatchObject([{ label: 'Phone' }]);
    expect((await next.call('DELETE', path)).status).toBe(200);
    expect((await next.call('DELETE', path)).body.error.code).toBe('PASSKEY_NOT_FOUND');
    expect((await signIn({ count: 100 })).answer.body.error.code).toBe('SIGN_IN_FAILED');
  });

  // Proves C7 CONSOLE_SESSION_NOT_FOUND.
  it('see where they are signed in, and end it; a new password ends the rest', async () => {
    const email = 'sessions@example.com';
    const client = await newUser(email);
    const [second, third] = [browser(), browser()];
    await second.signIn(email, PASSWORD);
    await third.signIn(email, PASSWORD);
    const { sessions } = (await client.get('/sessions')).body.data;
    expect(sessions).toHaveLength(3);
    expect(sessions.filter(({ current }: { current: boolean }) => current)).toMatchObject([
      { method: 'invitation', network: '127.0.0.1' },
    ]);
    const of = async (who: ConsoleClient) =>
      (await who.get('/sessions')).body.data.sessions.find(({ current }: { current: boolean }) => current)
        .session_id;
    const path = `/api/v1/console/sessions/${await of(second)}`;
    expect((await client.call('DELETE', path)).status).toBe(200);
    expect((await client.call('DELETE', path)).body.error.code).toBe('CONSOLE_SESSION_NOT_FOUND');
    expect((await second.session()).status).toBe(401);
    expect((await client.post('/sessions/end-others')).status).toBe(200);
    expect((await third.session()).status).toBe(401);

    await second.signIn(email, PASSWORD);
    const change = (current_password: string, new_password: string) =>
      client.post('/account/password', { current_password, new_password });
    expect((await change('wrong', 'another long sentence')).body.error.code).toBe('CREDENTIAL_INVALID');
    expect((await change(PASSWORD, email)).status).toBe(400);
    expect((await change(PASSWORD, 'another long sentence')).status).toBe(200);
    expect((await second.session()).status).toBe(401);
    expect((await client.session()).status).toBe(200);
    expect((await browser().signIn(email, PASSWORD)).status).toBe(401);
    expect((await browser().signIn(email, 'another long sentence')).status).toBe(200);
    await client.call('PATCH', '/api/v1/console/account', { body: { name: 'Jane Roe' } });
    expect((await client.session()).body.data.user.name).toBe('Jane Roe');
  });

  it('who have forgotten the password are disabled and invited again, and keep their second factor', async () => {
    const admin = await newUser('recalls@ops.example', 'admin', 'operator');
    const email = 'forgetful@ops.example';
    const forgetful = await newUser(email, 'support', 'operator');
    const { token: enrolment, secret } = (await forgetful.post('/account/totp', {})).body.data;
    await forgetful.post('/account/totp/confirm', { token: enrolment, code: nextCode(secret) });
    const userId = async () => {
      const { members } = (await admin.get('/team')).body.data;
      return members.find((each: { email: string }) => each.email === email).user_id as string;
    };
    const change = async (body: object) =>
      admin.call('PATCH', `/api/v1/console/team/${await userId()}`, { body });
    const invite = () => admin.post('/team/invitations', { email, role: 'viewer' });
    const accept = (url: string, password = 'a sentence they will keep in mind') =>
      browser().post('/invitation/accept', { token: tokenIn(url), name: 'Forgetful', password });

    expect((await invite()).body.error.code).toBe('EMAIL_IN_USE');
    await change({ disabled: true });
    const unused = (await invite()).body.data.url;
    // Let in as before, and disabled for good later: the link is of no use to whoever has kept it.
    await change({ disabled: false });
    expect((await accept(unused)).body.error.code).toBe('INVITATION_EXPIRED');
    expect((await browser().signIn(email, PASSWORD)).status).toBe(200);
    await change({ disabled: true });
    expect((await accept(unused)).body.error.code).toBe('INVITATION_EXPIRED');

    const before = await userId();
    const { url } = (await invite()).body.data;
    const accepted = (await accept(url)).body.data;
    expect(accepted).toMatchObject({ signed_in: false, second_step: { methods: ['totp', 'recovery_code'] } });
    expect((await accept(url)).body.error.code).toBe('INVITATION_EXPIRED');
    const back = browser();
    const { token } = accepted.second_step;
    const code = nextCode(secret);
    expect((await back.post('/sign-in/totp', { token, code })).body.data.signed_in).toBe(true);
    expect((await back.session()).body.data.user).toMatchObject({ user_id: before, role: 'viewer', email });
    expect((await browser().signIn(email, PASSWORD)).body.error.code).toBe('SIGN_IN_FAILED');
  });

  it('an address is invited to a desk five times a day at most, and nobody else has to wait for that', async () => {
    const admin = await newUser('inviter@ops.example', 'admin', 'operator');
    const invite = (email: string) => admin.post('/team/invitations', { email, role: 'viewer' });
    const atOnce = await Promise.all(Array.from({ length: 9 }, () => invite('pestered@ops.example')));
    const statuses = atOnce.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429, 429, 429]);
    const refused = await invite('pestered@ops.example');
    expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await invite('somebody.else@ops.example')).status).toBe(200);
  });

  // Proves C7 OWN_ROLE, C7 LAST_ADMIN, C7 EMAIL_IN_USE.
  it('are a team, of which an admin changes all but the own role, and never the last admin', async () => {
    const invitation = { desk: 'operator', email: 'first@ops.example', role: 'admin' } as const;
    const first = await newUser(invitation.email, 'admin', 'operator');
    const invited = await first.post('/team/invitations', { email: 'second@ops.example', role: 'viewer' });
    const second = browser();
    const accept = { token: tokenIn(invited.body.data.url), name: 'Second', password: PASSWORD };
    expect((await second.post('/invitation/accept', accept)).status).toBe(200);
    await second.session();
    const twice = await first.post('/team/invitations', { email: 'second@ops.example', role: 'admin' });
    expect(twice.body.error.code).toBe('EMAIL_IN_USE');
    const ofPartner = (await first.get(`/team?owner_id=${await partnerId()}`)).body.data.members;
    const admins = ofPartner.filter((each: { role: string }) => each.role === 'admin');
    const change = (userId: string, body: object) =>
      first.call('PATCH', `/api/v1/console/team/${userId}`, { body });
    const ended = await Promise.all(
      admins.map((each: { user_id: string }) => change(each.user_id, { role: 'viewer' })),
    );
    expect(ended.filter(({ body }) => body.error?.code === 'LAST_ADMIN')).toHaveLength(1);
    // Who has to shut a partner out disables that one too.
    const last = admins[ended.findIndex(({ status }) => status !== 200)];
    expect((await change(last.user_id, { disabled: true })).status).toBe(200);
    const team = (await first.get('/team')).body.data;
    const member = (email: string) => team.members.find((each: { email: string }) => each.email === email);
    const path = (email: string) => `/api/v1/console/team/${member(email).user_id}`;
    expect(member('second@ops.example')).toMatchObject({ role: 'viewer', open_sessions: 1, is_self: false });

    const patch = (who: ConsoleClient, email: string, body: object) =>
      who.call('PATCH', path(email), { body });
    expect((await patch(first, 'first@ops.example', { role: 'viewer' })).body.error.code).toBe('OWN_ROLE');
    expect((await patch(second, 'first@ops.example', { role: 'viewer' })).body.error.code).toBe('FORBIDDEN');
    expect((await patch(first, 'second@ops.example', { role: 'admin' })).status).toBe(200);
    // The sandbox has an admin of its own.
    for (const { email, role } of team.members) {
      if (role === 'admin' && email !== 'first@ops.example') {
        expect((await patch(first, email, { disabled: true })).status).toBe(200);
      }
    }
    // At the same time, each about the other.
    const both = await Promise.all([
      patch(first, 'second@ops.example', { role: 'viewer' }),
      patch(second, 'first@ops.example', { disabled: true }),
    ]);
    const done = both.filter(({ status }) => status === 200);
    expect(done, both.map(({ text }) => text).join()).toHaveLength(1);
    const admin = both[0]?.status === 200 ? first : second;
    const loser = admin === first ? 'second@ops.example' : 'first@ops.example';
    if (admin === second) {
      expect((await first.session()).status).toBe(401);
      expect((await patch(second, loser, { disabled: false })).status).toBe(200);
    }
    expect((await admin.call('POST', `${path(loser)}/end-sessions`)).status).toBe(200);
    expect((await admin.call('POST', `${path(loser)}/reset-second-factor`)).status).toBe(200);
    expect((await (admin === first ? second : first).session()).status).toBe(401);

    const log = (await admin.get('/activity?limit=100&operation=changeTeamMember')).body.data.activity;
    expect(log[0]).toMatchObject({ operation: 'changeTeamMember', desk: 'operator' });
    expect(log.map((each: { status_code: number }) => each.status_code)).toContain(403);
    const page = (await admin.get('/activity?limit=2')).body.data;
    const rest = (await admin.get(`/activity?limit=2&cursor=${page.pagination.next_cursor}`)).body.data;
    expect(rest.activity[0].activity_id < page.activity[1].activity_id).toBe(true);
  });
});

describe('where a second factor is required', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ env: { CONSOLE_REQUIRE_SECOND_FACTOR: 'true' } });
  });
  afterAll(() => gateway?.stop());

  // Proves C7 SECOND_FACTOR_REQUIRED, C7 LAST_SECOND_FACTOR.
  it('a user without one adds it first, and keeps one', async () => {
    const account = gateway.sandbox.console.find(({ desk }) => desk === 'operator');
    const client = consoleClient(gateway.baseUrl);
    await client.signIn(account?.email ?? '', account?.password ?? '');
    expect((await client.session()).body.data.must_add_second_factor).toBe(true);
    const partners = () => client.call('GET', '/api/v1/operator/partners');
    expect((await partners()).body.error.code).toBe('SECOND_FACTOR_REQUIRED');
    expect((await client.get('/team')).body.error.code).toBe('SECOND_FACTOR_REQUIRED');
    const { token, secret } = (await client.post('/account/totp', {})).body.data;
    await client.post('/account/totp/confirm', { token, code: nextCode(secret) });
    expect((await partners()).status).toBe(200);
    const removed = await client.post('/account/totp/disable', { password: account?.password });
    expect(removed.body.error.code).toBe('LAST_SECOND_FACTOR');
  });
});
