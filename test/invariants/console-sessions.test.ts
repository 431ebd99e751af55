import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../apps/gateway/src/api.ts';
import { purgeConsole } from '../../apps/gateway/src/features/console/housekeeping.ts';
import { type ConsoleClient, consoleClient } from '../harness/console-client.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';

/** What an attacker tries against the sessions of the console. Time passes by moving what is stored back. */
describe('sessions of the console', () => {
  let gateway: TestGateway;
  let database: pg.Client;
  beforeAll(async () => {
    gateway = await startGateway();
    database = new pg.Client({ connectionString: gateway.databaseUrl });
    await database.connect();
  });
  afterAll(async () => {
    await database?.end();
    await gateway?.stop();
  });

  const browser = (cookie = '') => consoleClient(gateway.baseUrl, cookie);
  const account = (desk: string) => {
    const found = gateway.sandbox.console.find((each) => each.desk === desk);
    if (found === undefined) throw new Error(`the sandbox has no user at the ${desk} desk`);
    return found;
  };
  async function signedIn(desk = 'partner'): Promise<ConsoleClient> {
    const client = browser();
    const entered = await client.post('/sandbox-sign-in', { desk });
    expect(entered.status, entered.text).toBe(200);
    await client.session();
    return client;
  }
  /** As if the session had begun so much earlier. */
  const age = (client: ConsoleClient, minutes: number, columns = ['rotated_at', 'confirmed_at', 'seen_at']) =>
    database.query(
      `UPDATE console_sessions SET ${columns.map((name) => `${name} = ${name} - $2 * interval '1 minute'`).join(', ')}
        WHERE csrf_token = $1`,
      [client.csrf, minutes],
    );
  const endOf = async (client: ConsoleClient) =>
    (await database.query('SELECT ended_because FROM console_sessions WHERE csrf_token = $1', [client.csrf]))
      .rows[0]?.ended_because;

  it('are in a cookie that no script and no other site sends, and behind https no other host plants', async () => {
    const client = browser();
    const entered = await client.post('/sandbox-sign-in', { desk: 'partner' });
    expect(entered.headers.getSetCookie()[0]).toMatch(
      /^cw_console=cw_console_\w{54}; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const secure = await createApi(gateway.deps, 'https://pay.example.com');
    const answer = await secure.app.inject({
      method: 'POST',
      url: '/api/v1/console/sign-in',
      payload: { email: account('partner').email, password: account('partner').password },
    });
    const cookie = String(answer.headers['set-cookie']);
    expect(cookie).toMatch(/^__Host-cw_console=\w+; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
    const ask = (header: string) =>
      secure.app.inject({ url: '/api/v1/console/session', headers: { cookie: header } });
    expect((await ask(cookie.split(';', 1)[0] ?? '')).statusCode).toBe(200);
    // By its name without the prefix another host could have set it.
    expect((await ask((cookie.split(';', 1)[0] ?? '').replace('__Host-', ''))).statusCode).toBe(401);
    await secure.app.close();
  });

  // Proves C7 SIGN_IN_REQUIRED.
  it('never take over a cookie that was planted', async () => {
    const attacker = await signedIn();
    const planted = browser(attacker.cookie);
    await planted.post('/sandbox-sign-in', { desk: 'operator' });
    expect(planted.cookie).not.toBe(attacker.cookie);
    expect((await planted.session()).body.data.desk).toBe('operator');
    // What the browser had is over: the attacker is not left with a session of this browser.
    expect((await attacker.session()).body.error.code).toBe('SIGN_IN_REQUIRED');
    const made = browser(`cw_console=cw_console_${'a'.repeat(54)}`);
    await made.post('/sandbox-sign-in', { desk: 'partner' });
    expect(made.cookie).not.toContain('aaaa');
    expect((await browser(`cw_console=cw_console_${'a'.repeat(54)}`).session()).status).toBe(401);
  });

  // Proves C7 CSRF_TOKEN_INVALID.
  it.each([
    ['without the token', { 'x-csrf-token': '' }],
    ['with a wrong token', { 'x-csrf-token': `cw_console_${'b'.repeat(32)}` }],
    ['from another origin', { origin: 'https://evil.example' }],
    ['from a page without an origin', { origin: 'null' }],
    ['from another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['from a neighbour, as the browser says', { 'sec-fetch-site': 'same-site' }],
  ])('change nothing %s', async (_what, headers) => {
    const client = await signedIn();
    const write = (given: Record<string, string>) =>
      client.call('PATCH', '/api/v1/console/account', { body: { name: 'Mallory' }, headers: given });
    const refused = await write(headers);
    expect(refused.body.error.code).toBe('CSRF_TOKEN_INVALID');
    expect((await write({ origin: gateway.baseUrl, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    const before = (await client.session()).body.data.user;
    await client.call('PATCH', '/api/v1/console/account', { body: { name: before.name } });
  });

  it('begin at no other site’s wish, nor by a form', async () => {
    const { email, password } = account('partner');
    const post = (headers: Record<string, string>, rawBody?: string) =>
      browser().call('POST', '/api/v1/console/sign-in', {
        headers,
        ...(rawBody === undefined ? { body: { email, password } } : { rawBody }),
      });
    expect((await post({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await post({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await post(form, `email=${email}&password=${password}`)).status).toBe(415);
    const plain = { 'content-type': 'text/plain' };
    expect((await post(plain, JSON.stringify({ email, password }))).status).toBe(415);
    expect((await post({ origin: gateway.baseUrl })).status).toBe(200);
  });

  it('are renewed while they are used, and a copy of an old cookie ends them', async () => {
    const client = await signedIn();
    const copy = browser(client.cookie);
    await age(client, 16);
    // Several at once: one gets the new cookie, and none is turned away.
    const several = await Promise.all([1, 2, 3, 4].map(() => browser(copy.cookie).get('/session')));
    expect(several.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const renewed = several.flatMap(({ headers }) => headers.getSetCookie());
    expect(renewed).toHaveLength(1);
    const owner = browser(renewed[0]?.split(';', 1)[0]);
    expect((await owner.session()).status).toBe(200);
    // A request that was under way.
    expect((await browser(copy.cookie).session()).status).toBe(200);
    await age(client, 2);
    expect((await browser(copy.cookie).session()).status).toBe(401);
    expect((await owner.session()).status).toBe(401);
    expect(await endOf(client)).toBe('replayed');
    const activity = await (await signedIn('operator')).get('/activity?operation=session_replayed');
    expect(activity.body.data.activity).toHaveLength(1);
  });

  it('end by a copy however often they were renewed since', async () => {
    const client = await signedIn();
    const old = client.cookie;
    for (let round = 0; round < 3; round++) {
      await age(client, 16);
      await client.get('/session');
      await client.get('/session');
    }
    expect(client.cookie).not.toBe(old);
    expect((await browser(old).session()).status).toBe(401);
    expect((await client.get('/session')).status).toBe(401);
    expect(await endOf(client)).toBe('replayed');
  });

  it('survive a new cookie that was lost on its way', async () => {
    const client = await signedIn();
    const had = client.cookie;
    await age(client, 16);
    await client.get('/session');
    expect(client.cookie).not.toBe(had);
    client.cookie = had;
    await age(client, 2, ['rotated_at', 'seen_at']);
    expect((await client.get('/session')).status).toBe(200);
    expect(client.cookie).not.toBe(had);
    expect((await client.get('/session')).status).toBe(200);
    expect(await endOf(client)).toBeNull();
  });

  // Proves C7 SIGN_IN_FAILED.
  it('end when they are not used, when they are old, and with their user', async () => {
    const idle = await signedIn();
    await age(idle, 61);
    expect((await idle.session()).status).toBe(401);
    const old = await signedIn();
    await age(old, 12 * 60 + 1, ['expires_at']);
    expect((await old.session()).status).toBe(401);
    const out = await signedIn();
    await out.post('/sign-out');
    expect((await out.session()).status).toBe(401);
    const disabled = await signedIn('vendor');
    const { userId } = { userId: (await disabled.session()).body.data.user.user_id };
    await database.query('UPDATE console_users SET disabled_at = now() WHERE user_id = $1', [userId]);
    expect((await disabled.session()).status).toBe(401);
    const { email, password } = account('vendor');
    expect((await browser().signIn(email, password)).body.error.code).toBe('SIGN_IN_FAILED');
    await database.query('UPDATE console_users SET disabled_at = NULL WHERE user_id = $1', [userId]);

    await purgeConsole({ db: gateway.deps.db, wall: () => Date.now() + 31 * 24 * 60 * 60_000 });
    const { rows } = await database.query('SELECT count(*)::int AS left FROM console_sessions');
    expect(rows[0].left).toBe(0);
  });

  // Proves C7 SIGN_IN_LOCKED.
  it('are locked after ten failures, with the same answers for an address that nobody has', async () => {
    const { email, password } = account('vendor');
    const tries = async (address: string, right: string) => {
      const answers = await Promise.all(
        Array.from({ length: 14 }, () => browser().post('/sign-in', { email: address, password: 'wrong' })),
      );
      const last = await browser().post('/sign-in', { email: address, password: right });
      return { answers, last };
    };
    const seen = [await tries(email, password), await tries('nobody@example.com', password)].map(
      ({ answers, last }) => ({
        failed: answers.filter(({ body }) => body.error.code === 'SIGN_IN_FAILED').length,
        locked: answers.filter(({ body }) => body.error.code === 'SIGN_IN_LOCKED').length,
        last: [last.status, last.body.error.code, last.body.error.message],
        minutes: Math.ceil(Number(last.headers.get('retry-after')) / 60),
      }),
    );
    const [known, unknown] = seen;
    expect(known).toMatchObject({ failed: 10, locked: 4, minutes: 15 });
    expect(unknown).toEqual(known);
    const pass = "UPDATE console_sign_in_attempts SET locked_until = locked_until - interval '1 day'";
    await database.query(pass);
    expect((await tries(email, password)).last.body.error.details.retry_after_seconds).toBeGreaterThan(
      29 * 60,
    );
    await database.query(pass);
    expect((await browser().signIn(email, password)).status).toBe(200);
    const { rows } = await database.query('SELECT count(*)::int AS left FROM console_sign_in_attempts');
    expect(rows[0].left).toBe(1);
  });

  // Proves C7 TEAM_MEMBER_NOT_FOUND.
  it('of one partner show nothing of another’s team', async () => {
    const operator = await signedIn('operator');
    const ids = await Promise.all(
      gateway.partners.map(async ({ apiKey }) => {
        const principal = await gateway.deps.principals.find(apiKey);
        return principal?.kind === 'partner' ? principal.partnerId : '';
      }),
    );
    const [mine, theirs] = await Promise.all(
      ids.map(async (owner_id, at) => {
        const made = await operator.call('POST', '/api/v1/operator/invitations', {
          body: { desk: 'partner', owner_id, email: `admin-${at}@team.example`, role: 'admin' },
        });
        const client = browser();
        const token = new URL(made.body.data.url).hash.slice(1);
        // At the same time: the link makes one user.
        const accepted = await Promise.all(
          ['Ann', 'Ben'].map((name) =>
            client.post('/invitation/accept', { token, name, password: 'a long enough sentence' }),
          ),
        );
        expect(accepted.map(({ status }) => status).sort()).toEqual([200, 410]);
        await client.session();
        await client.post('/team/invitations', { email: `next-${at}@team.example`, role: 'viewer' });
        return client;
      }),
    );
    if (mine === undefined || theirs === undefined) throw new Error('the sandbox has two partners');
    const foreign = (await theirs.get('/team')).body.data;
    const shown = JSON.stringify([
      (await mine.get(`/team?owner_id=${ids[1]}`)).body,
      (await mine.get('/activity?limit=100')).body,
    ]);
    expect(shown).toContain('admin-0@team.example');
    for (const { user_id, email } of foreign.members) {
      expect(shown).not.toContain(user_id);
      expect(shown).not.toContain(email);
      const member = `/api/v1/console/team/${user_id}`;
      const answers = [
        await mine.call('PATCH', member, { body: { role: 'viewer' } }),
        await mine.call('POST', `${member}/reset-second-factor`),
        await mine.call('POST', `${member}/end-sessions`),
      ];
      const codes = answers.map(({ body }) => body.error.code);
      expect(codes).toEqual(Array(3).fill('TEAM_MEMBER_NOT_FOUND'));
    }
    const [{ invitation_id }] = foreign.invitations;
    expect(shown).not.toContain(invitation_id);
    const path = `/api/v1/console/team/invitations/${invitation_id}`;
    expect((await mine.call('DELETE', path)).body.error.code).toBe('INVITATION_NOT_FOUND');
    expect((await theirs.call('DELETE', path)).status).toBe(200);
    const [session] = (await theirs.get('/sessions')).body.data.sessions;
    expect((await mine.call('DELETE', `/api/v1/console/sessions/${session.session_id}`)).status).toBe(404);
    expect((await theirs.session()).status).toBe(200);
  });

  it('of a sandbox are entered by one click only on its own machine', async () => {
    const forwarded = { 'x-forwarded-for': '203.0.113.7' };
    const post = (headers: Record<string, string>) =>
      browser().call('POST', '/api/v1/console/sandbox-sign-in', { body: { desk: 'operator' }, headers });
    expect((await post(forwarded)).body.error.code).toBe('SIGN_IN_FAILED');
    const options = (headers: Record<string, string>) =>
      browser().call('GET', '/api/v1/console/options', { headers });
    expect((await options(forwarded)).body.data.sandbox_accounts).toEqual([]);
    expect((await options({})).body.data.sandbox_accounts.length).toBeGreaterThan(2);
  });
});

describe('an address that signs in again and again', () => {
  it('is limited, whoever it claims to be', async () => {
    const gateway = await startGateway({ env: { CONSOLE_SIGN_INS_PER_MINUTE: '3' } });
    const statuses: number[] = [];
    for (let at = 0; at < 5; at++) {
      const { status } = await consoleClient(gateway.baseUrl).post('/sign-in', {
        email: `user-${at}@example.com`,
        password: 'x',
      });
      statuses.push(status);
    }
    await gateway.stop();
    expect(statuses.slice(-1)).toEqual([429]);
    expect(statuses[0]).toBe(401);
  });
});
