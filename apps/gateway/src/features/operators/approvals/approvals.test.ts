import { OPERATION_CAPABILITIES } from '@causeway/protocol/console';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../../../../test/harness/database.ts';
import { type Answer, startGateway, type TestGateway } from '../../../../../../test/harness/gateway.ts';
import { describedRoutes } from '../../../../../../test/invariants/described-routes.ts';
import { type OrdersDriver, ordersDriver } from '../../../../../../test/scenarios/orders-driver.ts';
import { SYSTEM } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';
import { keepApprovals } from './approval-housekeeping.ts';

/** Somebody who calls the operator's API: with a key, or signed in to the console. */
type Caller = (
  method: string,
  path: string,
  body?: object,
  headers?: Record<string, string>,
) => Promise<Answer>;

/** What moves nothing, although it needs the capability of what does. */
const NOT_GUARDED = {
  rejectApproval: 'it keeps a decision from being carried out',
  revealDisputeStatements: 'it shows what was said, and moves nothing',
};

const LIMIT = '100';
const isHeld = statement<[orderId: string], { held: boolean }>(
  'test.is_held',
  `SELECT (facts->>'held')::boolean AS held FROM orders WHERE order_id = $1`,
);
/** As a disk that is full in the middle of a transaction. */
const BREAK_APPROVALS = `
  CREATE FUNCTION refuse_approval() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the disk is full'; END $$;
  CREATE TRIGGER refuse_approval BEFORE UPDATE ON approvals FOR EACH ROW WHEN (NEW.status = 'approved')
    EXECUTE FUNCTION refuse_approval()`;
const MEND_APPROVALS = 'DROP TRIGGER refuse_approval ON approvals';

describe('decisions that move more than one person may', () => {
  let gateway: TestGateway;
  let driver: OrdersDriver;
  let root: Caller;
  let olga: Caller;
  let omar: Caller;
  let olgasKey: Caller;

  beforeAll(async () => {
    gateway = await startGateway({
      env: { SECOND_APPROVAL_ABOVE_USD: LIMIT, RATE_LIMIT_PARTNER_PER_MINUTE: '100000' },
    });
    driver = ordersDriver(gateway);
    await gateway.sdk().sandbox.setSettings({ auto_advance: false });
    root = withKey(gateway.sandbox.operatorKey);
    // What a customer gets is then what is in the escrow, to the unit.
    const { body } = await root('GET', '/partners');
    for (const { partner_id } of body.data.partners) {
      await root('PATCH', `/partners/${partner_id}`, { platform_fee_pct: '0', reason: 'round figures' });
    }
    [olga, omar] = await Promise.all([signedIn('olga@causeway.example'), signedIn('omar@causeway.example')]);
    olgasKey = withKey(await newKey(olga));
  });
  afterAll(() => gateway?.stop());

  const withKey =
    (key: string): Caller =>
    (method, path, body, headers) =>
      gateway.call(method, `/api/v1/operator${path}`, {
        key,
        body,
        ...(headers === undefined ? {} : { headers }),
      });

  async function signedIn(email: string): Promise<Caller> {
    const entered = await gateway.call('POST', '/api/v1/console/sandbox-sign-in', {
      key: null,
      body: { desk: 'operator', email },
    });
    const cookie = (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const session = await gateway.call('GET', '/api/v1/console/session', { key: null, headers: { cookie } });
    const token = session.body.data.csrf_token;
    return (method, path, body, headers) =>
      gateway.call(method, `/api/v1/operator${path}`, {
        key: null,
        body,
        headers: { cookie, 'x-csrf-token': token, ...headers },
      });
  }

  async function newKey(maker: Caller): Promise<string> {
    const made = await maker('POST', '/operator-keys', { label: 'a program', reason: 'needed' });
    expect(made.status).toBe(200);
    return made.body.data.key;
  }

  /** Waits to be released, which moves its money on. */
  async function heldOrder(cryptoAmount = '250'): Promise<string> {
    const orderId = await driver.onrampOrder({
      fiat_amount: undefined,
      crypto_amount: cryptoAmount,
      partner_fee_pct: '0',
    });
    expect(
      (await root('POST', `/orders/${orderId}/hold`, { decision: 'place', reason: 'look' })).status,
    ).toBe(200);
    return orderId;
  }
  const release = (who: Caller, orderId: string, more: object = {}, headers?: Record<string, string>) =>
    who('POST', `/orders/${orderId}/hold`, { decision: 'release', reason: 'seen', ...more }, headers);
  const held = async (orderId: string) => (await gateway.deps.db.query(SYSTEM, isHeld, [orderId]))[0]?.held;
  const approvalOf = async (orderId: string, status?: string) => {
    const query = status === undefined ? '' : `&status=${status}`;
    const { body } = await root('GET', `/approvals?subject=orders/${orderId}${query}`);
    return body.data.approvals;
  };

  it('guards every call of operators that needs money.decide or orders.sign, or says why not', async () => {
    const routes = (await describedRoutes(gateway)).filter(
      ({ access, operationId }) =>
        access === 'operator' &&
        ['money.decide', 'orders.sign'].includes(OPERATION_CAPABILITIES[operationId] ?? ''),
    );
    expect(routes.map(({ operationId }) => operationId)).toEqual(
      expect.arrayContaining([
        'decideOrderHold',
        'decideDeposit',
        'submitEscrowSignature',
        'decideFiatPayment',
      ]),
    );
    const unguarded = routes
      .filter(
        ({ operation }) => !JSON.stringify(operation.responses['409'] ?? '').includes('APPROVAL_REQUIRED'),
      )
      .map(({ operationId }) => operationId);
    expect(unguarded.toSorted()).toEqual(Object.keys(NOT_GUARDED).toSorted());
  });

  // Proves C7 APPROVAL_REQUIRED.
  it('asks a second person above the limit, exactly, and nobody below or at it', async () => {
    for (const amount of ['99.999999', '100']) {
      const orderId = await heldOrder(amount);
      expect((await release(root, orderId)).status).toBe(200);
      expect(await held(orderId)).toBe(false);
    }
    const orderId = await heldOrder('100.000001');
    const asked = await release(root, orderId);
    expect(asked.status).toBe(409);
    expect(asked.body.error).toMatchObject({
      code: 'APPROVAL_REQUIRED',
      details: { approval_id: expect.any(String), expires_at: expect.any(String), amount_usd: '100.000001' },
    });
    expect(await held(orderId)).toBe(true);
    // What stops money is not kept waiting.
    expect(
      (await root('POST', `/orders/${orderId}/dispute`, { decision: 'open', reason: 'x' })).body.error.code,
    ).not.toBe('APPROVAL_REQUIRED');
  });

  it('is carried out when another person makes the same call, with a reason of their own, and names both', async () => {
    const orderId = await heldOrder();
    const asked = await release(root, orderId);
    const again = await release(root, orderId, { reason: 'please' });
    expect(again.body.error).toEqual(asked.body.error);
    const done = await release(omar, orderId, { reason: 'agreed' });
    expect(done.body).toMatchObject({ success: true, data: { order_id: orderId } });
    expect(await held(orderId)).toBe(false);
    expect(await approvalOf(orderId)).toMatchObject([
      {
        approval_id: asked.body.error.details.approval_id,
        status: 'approved',
        operation: 'decideOrderHold',
        summary: 'Release the hold: the order goes on.',
        reason: 'seen',
        requested_by: { user_id: null, key_id: expect.any(String) },
        requested_by_you: true,
        decided_by: { name: 'Omar Operator', key_id: null },
        decision_reason: 'agreed',
      },
    ]);
    const { body } = await root('GET', `/audit?subject=orders/${orderId}`);
    expect(body.data.entries.map(({ action }: { action: string }) => action).toSorted()).toEqual(
      ['approval.approve', 'approval.request', 'order.hold.place', 'order.hold.release'].toSorted(),
    );
    // It is over: the same call is now one that the order refuses.
    expect((await release(omar, orderId)).body.error.code).toBe('INVALID_STATUS');
    expect(await approvalOf(orderId, 'waiting')).toEqual([]);
  });

  it('takes a user, the keys that the user made and the keys of those keys for one person', async () => {
    const orderId = await heldOrder();
    const asked = await release(olga, orderId);
    const keysOfKeys = withKey(await newKey(olgasKey));
    for (const same of [olga, olgasKey, keysOfKeys]) {
      expect((await release(same, orderId)).body.error).toEqual(asked.body.error);
      const { approval_id: id } = asked.body.error.details;
      expect((await same('POST', `/approvals/${id}/approve`, {})).body.error).toEqual(asked.body.error);
      expect((await same('GET', `/approvals/${id}`)).body.data.requested_by_you).toBe(true);
    }
    // A key that an installed key has made is no second person either.
    const minted = withKey(await newKey(root));
    const another = await heldOrder();
    await release(root, another);
    expect((await release(minted, another)).body.error.code).toBe('APPROVAL_REQUIRED');
    expect(await held(orderId)).toBe(true);
    expect(await held(another)).toBe(true);
    expect((await release(root, orderId)).status).toBe(200);
    expect((await release(olgasKey, another)).status).toBe(200);
  });

  it('keeps another body apart: both have to agree on the same call', async () => {
    const orderId = await heldOrder();
    const first = await release(root, orderId);
    const waived = await release(omar, orderId, { override_kyc: true });
    // The order itself refuses this one, so that nothing is asked.
    expect(waived.body.error.code).toBe('INVALID_STATUS');
    const written = await omar('POST', `/orders/${orderId.toUpperCase()}/hold`, {
      reason: 'fields in another order',
      override_kyc: false,
      decision: 'release',
    });
    expect(written.body.error.code).toBe('APPROVAL_REQUIRED');
    expect(written.body.error.details.approval_id).not.toBe(first.body.error.details.approval_id);
    expect(await approvalOf(orderId, 'waiting')).toHaveLength(2);
    const same = await omar('POST', `/orders/${orderId.toUpperCase()}/hold`, {
      reason: 'b',
      decision: 'release',
    });
    expect(same.status).toBe(200);
  });

  // Proves C7 APPROVAL_NOT_FOUND, C7 APPROVAL_CLOSED.
  it('shows the call in full, and approve carries it out in place of the call', async () => {
    const orderId = await heldOrder();
    const { approval_id: id } = (await release(olga, orderId)).body.error.details;
    const shown = await omar('GET', `/approvals/${id}`);
    expect(shown.body.data).toMatchObject({
      status: 'waiting',
      subject: `orders/${orderId}`,
      amount_usd: '250',
      requested_by: { name: 'Olga Operator' },
      requested_by_you: false,
      call: {
        method: 'POST',
        path: `/api/v1/operator/orders/${orderId}/hold`,
        body: { decision: 'release', reason: 'seen' },
      },
      payload_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const done = await omar('POST', `/approvals/${id}/approve`);
    expect(done.body.data).toMatchObject({
      approval: {
        approval_id: id,
        status: 'approved',
        decided_by: { name: 'Omar Operator' },
        decision_reason: null,
      },
      result: { order_id: orderId },
    });
    expect(await held(orderId)).toBe(false);
    const closed = await omar('POST', `/approvals/${id}/approve`, { reason: 'again' });
    expect(closed.body.error).toMatchObject({ code: 'APPROVAL_CLOSED', details: { status: 'approved' } });
    const unknown = await omar('POST', '/approvals/0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10/approve', {});
    expect(unknown.body.error.code).toBe('APPROVAL_NOT_FOUND');
  });

  it('carries out once for many second persons at the same time, and asks once for many first ones', async () => {
    const orderId = await heldOrder();
    const keys = await Promise.all([1, 2, 3].map(async () => withKey(await newKey(olga))));
    const asked = await Promise.all([olga, olgasKey, ...keys].map((same) => release(same, orderId)));
    expect(new Set(asked.map(({ body }) => body.error.details.approval_id)).size).toBe(1);
    const { approval_id: id } = asked[0]?.body.error.details ?? {};
    const answers = await Promise.all([
      release(root, orderId),
      release(omar, orderId),
      omar('POST', `/approvals/${id}/approve`, {}),
      root('POST', `/approvals/${id}/approve`, {}),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await held(orderId)).toBe(false);
    expect(await approvalOf(orderId)).toMatchObject([{ approval_id: id, status: 'approved' }]);
  });

  it('two persons who begin at the same time: one asks, the other carries it out', async () => {
    const orderId = await heldOrder();
    const answers = await Promise.all([release(olga, orderId), release(omar, orderId)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    expect(await held(orderId)).toBe(false);
  });

  it('replays what an Idempotency-Key was answered, to each person their own', async () => {
    const orderId = await heldOrder();
    const key = { 'idempotency-key': `k-${orderId}` };
    const asked = await release(olga, orderId, {}, key);
    expect((await release(olga, orderId, {}, key)).headers.get('idempotency-replayed')).toBe('true');
    expect(await approvalOf(orderId, 'waiting')).toHaveLength(1);
    const done = await release(omar, orderId, {}, key);
    expect(done.status).toBe(200);
    const repeated = await release(omar, orderId, {}, key);
    expect(repeated.text).toBe(done.text);
    expect(repeated.headers.get('idempotency-replayed')).toBe('true');
    expect((await release(olga, orderId, {}, key)).text).toBe(asked.text);
  });

  it('is rejected by another person or withdrawn by the first; the call then asks anew', async () => {
    const orderId = await heldOrder();
    const { approval_id: first } = (await release(olga, orderId)).body.error.details;
    const refused = await omar('POST', `/approvals/${first}/reject`, { reason: 'wrong order' });
    expect(refused.body.data).toMatchObject({ status: 'rejected', decision_reason: 'wrong order' });
    const { approval_id: second } = (await release(omar, orderId)).body.error.details;
    expect(second).not.toBe(first);
    expect((await omar('POST', `/approvals/${second}/reject`, { reason: 'mine' })).status).toBe(200);
    expect((await omar('POST', `/approvals/${second}/reject`, { reason: 'mine' })).body.error).toMatchObject({
      code: 'APPROVAL_CLOSED',
      details: { status: 'rejected' },
    });
    expect(await held(orderId)).toBe(true);
    const { body } = await root('GET', `/audit?subject=orders/${orderId}`);
    const actions = body.data.entries.map(({ action }: { action: string }) => action);
    expect(actions.filter((action: string) => action.startsWith('approval.')).toSorted()).toEqual([
      'approval.reject',
      'approval.request',
      'approval.request',
      'approval.withdraw',
    ]);
  });

  it('answers the usual error where the order has moved on meanwhile, and closes the request', async () => {
    const orderId = await heldOrder();
    const { approval_id: id } = (await release(olga, orderId)).body.error.details;
    // Two others have released it by a call that is written differently.
    await release(root, orderId, { override_kyc: false });
    expect((await release(omar, orderId, { override_kyc: false })).status).toBe(200);
    const late = await omar('POST', `/approvals/${id}/approve`, { reason: 'agreed' });
    expect(late.body.error.code).toBe('INVALID_STATUS');
    expect((await root('GET', `/approvals/${id}`)).body.data).toMatchObject({
      status: 'failed',
      error_code: 'INVALID_STATUS',
    });
    // A first call that could not be carried out asks nobody.
    expect((await release(omar, orderId)).body.error.code).toBe('INVALID_STATUS');
    expect(await approvalOf(orderId, 'waiting')).toEqual([]);
  });

  it('does both or neither: where the approval cannot be written, the decision is not made', async () => {
    const orderId = await heldOrder();
    const { approval_id: id } = (await release(olga, orderId)).body.error.details;
    const owner = await connect(gateway.databaseUrl);
    await owner.query(BREAK_APPROVALS);
    try {
      expect((await release(omar, orderId)).status).toBe(500);
      expect((await omar('POST', `/approvals/${id}/approve`, {})).status).toBe(500);
      expect(await held(orderId)).toBe(true);
      expect(await approvalOf(orderId, 'waiting')).toHaveLength(1);
    } finally {
      await owner.query(MEND_APPROVALS);
      await owner.end();
    }
    expect((await release(omar, orderId)).status).toBe(200);
  });

  it('expires after a day, for callers at once and for the list by the worker', async () => {
    const orderId = await heldOrder();
    const { approval_id: id } = (await release(olga, orderId)).body.error.details;
    await keepApprovals(gateway.deps);
    expect((await gateway.deps.metrics.approvalsWaiting.get()).values[0]?.value).toBeGreaterThan(0);
    await gateway.sdk().sandbox.advanceClock({ seconds: 24 * 3_600 });
    expect((await root('GET', `/approvals/${id}`)).body.data.status).toBe('expired');
    expect((await omar('POST', `/approvals/${id}/approve`, {})).body.error).toMatchObject({
      code: 'APPROVAL_CLOSED',
      details: { status: 'expired' },
    });
    expect((await omar('POST', `/approvals/${id}/reject`, { reason: 'late' })).body.error.code).toBe(
      'APPROVAL_CLOSED',
    );
    await keepApprovals(gateway.deps);
    expect((await gateway.deps.metrics.approvalsWaiting.get()).values[0]?.value).toBe(0);
    expect(await approvalOf(orderId, 'expired')).toMatchObject([{ approval_id: id, decided_by: null }]);
  });
});
