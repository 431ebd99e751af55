import { expect } from 'vitest';
import { type Authenticator, createAuthenticator } from '../harness/authenticator.ts';
import type { Answer } from '../harness/call.ts';
import { type ConsoleClient, consoleClient, nextCode } from '../harness/console-client.ts';
import { connect } from '../harness/database.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { until } from '../harness/until.ts';

const PASSWORD = 'a long enough sentence';
const NEXT_PASSWORD = 'another long enough sentence';
/** More than there are failpoints on the way of one step. */
const MOST_TRIES = 20;

/**
 * People at the console: invited, with an app's codes, a passkey, sessions and a team. Its own routes take no idempotency
 * key: where an answer is lost, a person looks, and begins the step anew.
 */
export async function walkConsole(gateway: TestGateway): Promise<void> {
  // By name: a passkey is bound to one.
  const origin = gateway.baseUrl.replace('127.0.0.1', 'localhost');
  const browser = () => consoleClient(origin);
  const admin = await newUser(gateway, browser, 'admin@walk.example', 'admin');
  const member = await newUser(gateway, browser, 'member@walk.example', 'viewer');
  const { members } = (await admin.get('/team')).body.data;
  const { user_id } = members.find(({ email }: { email: string }) => email === 'member@walk.example');
  const ofMember = `/api/v1/console/team/${user_id}`;

  await untilDone('the name', () =>
    member.call('PATCH', '/api/v1/console/account', { body: { name: 'Ada' } }),
  );
  await codes(member, browser);
  await passkey(member, browser, origin);
  await sessions(member, browser);
  await renewal(gateway, admin, browser);
  await untilDone('the search', () => admin.get('/search?q=member'));
  const invited = await untilDone('an invitation', () =>
    admin.post('/team/invitations', { email: 'third@walk.example', role: 'viewer' }),
  );
  const { invitation_id } = invited.body.data;
  await untilGone(() => admin.call('DELETE', `/api/v1/console/team/invitations/${invitation_id}`));
  await untilDone('the reset', () => admin.post(`/team/${user_id}/reset-second-factor`));
  await untilDone('the end of sessions', () => admin.post(`/team/${user_id}/end-sessions`));
  await untilDone('the end of a member', () => admin.call('PATCH', ofMember, { body: { disabled: true } }));
  await untilGone(() => admin.post('/sign-out'));
}

async function newUser(
  gateway: TestGateway,
  browser: () => ConsoleClient,
  email: string,
  role: 'admin' | 'viewer',
): Promise<ConsoleClient> {
  const { body } = await gateway.operator.invitations.create({ desk: 'operator', email, role });
  const client = browser();
  const token = new URL(body.data.url).hash.slice(1);
  await untilDone('to come in', async () => {
    const accepted = await client.post('/invitation/accept', { token, name: 'Jane Doe', password: PASSWORD });
    return accepted.status === 200 ? accepted : client.signIn(email, PASSWORD);
  });
  await untilDone('the session', () => client.session());
  return client;
}

/** An app is added, asked for, replaced by a recovery code, and removed. */
async function codes(client: ConsoleClient, browser: () => ConsoleClient): Promise<void> {
  const email = 'member@walk.example';
  let secret = '';
  await untilDone('the app', async () => {
    const begun = (await client.post('/account/totp', {})).body.data;
    // It was confirmed, and the answer got lost.
    if (begun === undefined) return client.get('/account');
    secret = begun.secret;
    return client.post('/account/totp/confirm', { token: begun.token, code: nextCode(secret) });
  });
  const other = browser();
  await untilDone('to sign in with a code', () => other.signIn(email, PASSWORD, secret));
  const renewed = await untilDone('other recovery codes', () =>
    other.post('/account/recovery-codes', { password: PASSWORD }),
  );
  const left: string[] = [...renewed.body.data.recovery_codes];
  const third = browser();
  await untilDone('to sign in with a recovery code', async () => {
    const { second_step } = (await third.post('/sign-in', { email, password: PASSWORD })).body.data;
    await third.post('/sign-in/totp', { token: second_step.token, code: 'abcdef' });
    return third.post('/sign-in/totp', { token: second_step.token, code: left.pop() });
  });
  await untilDone('the session', () => third.session());
  await untilDone('the end of the app', () => third.post('/account/totp/disable', { password: PASSWORD }));
  await untilDone('to be signed in again', () => client.signIn(email, PASSWORD));
}

async function passkey(client: ConsoleClient, browser: () => ConsoleClient, origin: string): Promise<void> {
  let key: Authenticator = createAuthenticator();
  await untilDone('the passkey', async () => {
    key = createAuthenticator();
    const { token, options } = (await client.post('/account/passkey-options', {})).body.data;
    return client.post('/account/passkeys', {
      token,
      label: 'Laptop',
      response: key.register(options, origin),
    });
  });
  const path = `/api/v1/console/account/passkeys/${key.id}`;
  await untilDone('another label', () => client.call('PATCH', path, { body: { label: 'Phone' } }));
  const other = browser();
  await untilDone('to sign in with it', async () => {
    const { token, options } = (await other.post('/sign-in/passkey-options')).body.data;
    return other.post('/sign-in/passkey', { token, response: key.assert(options, origin) });
  });
  await untilGone(() => client.call('DELETE', path));
}

async function sessions(client: ConsoleClient, browser: () => ConsoleClient): Promise<void> {
  const other = browser();
  await untilDone('to sign in', () => other.signIn('member@walk.example', PASSWORD));
  const listed = (await client.get('/sessions')).body.data.sessions;
  const { session_id } = listed.find(({ current }: { current: boolean }) => !current);
  await untilGone(() => client.call('DELETE', `/api/v1/console/sessions/${session_id}`));
  await untilDone('the end of others', () => client.post('/sessions/end-others'));
  const change = { current_password: PASSWORD, new_password: NEXT_PASSWORD };
  await untilDone('the new password', async () => {
    const changed = await client.post('/account/password', change);
    return changed.status === 200 ? changed : browser().signIn('member@walk.example', NEXT_PASSWORD);
  });
}

/** After a quarter of an hour the cookie is another; who comes with the old one then has a copy. */
async function renewal(gateway: TestGateway, admin: ConsoleClient, browser: () => ConsoleClient) {
  const email = 'admin@walk.example';
  const client = browser();
  await untilDone('to sign in', () => client.signIn(email, PASSWORD));
  const copy = client.cookie;
  const owner = await connect(gateway.databaseUrl);
  await owner.query(
    `UPDATE console_sessions SET rotated_at = rotated_at - interval '16 minutes' WHERE csrf_token = $1`,
    [client.csrf],
  );
  await until('another cookie', async () => (await client.session()) && client.cookie !== copy);
  // That it has come is seen when it comes back.
  await untilDone('the new cookie', () => client.session());
  await owner.query(
    `UPDATE console_sessions SET rotated_at = rotated_at - interval '2 minutes',
            confirmed_at = confirmed_at - interval '2 minutes' WHERE csrf_token = $1`,
    [client.csrf],
  );
  await owner.end();
  client.cookie = copy;
  await until('the end of the session', async () => (await client.session()).status === 401);
  await untilDone('the other session to go on', () => admin.session());
}

async function untilDone(what: string, step: () => Promise<Answer>): Promise<Answer> {
  let answer = await step();
  for (let tries = 1; answer.status !== 200 && tries < MOST_TRIES; tries++) answer = await step();
  expect([answer.status, answer.text], what).toEqual([200, expect.anything()]);
  return answer;
}

/** What is gone already was ended by the request whose answer got lost. */
async function untilGone(step: () => Promise<Answer>): Promise<void> {
  let answer = await step();
  for (let tries = 1; answer.status >= 500 && tries < MOST_TRIES; tries++) answer = await step();
  expect([200, 401, 404], answer.text).toContain(answer.status);
}
