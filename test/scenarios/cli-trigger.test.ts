import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PARTNER_EVENT_TYPES } from '@causeway/protocol';
import { Causeway, type EventType } from '@causeway/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toWire } from '../../apps/gateway/src/local/sandbox-file.ts';
import { EVENT_TYPES } from '../../packages/cli/src/trigger/plans.ts';
import { startCli } from '../harness/cli.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';

describe('causeway trigger', () => {
  let gateway: TestGateway;
  let home: string;
  let env: Record<string, string>;
  let causeway: Causeway;

  beforeAll(async () => {
    gateway = await startGateway({ chains: true });
    home = await mkdtemp(join(tmpdir(), 'causeway-trigger-'));
    await writeFile(join(home, 'sandbox.json'), JSON.stringify(toWire(gateway.sandbox)));
    const { apiKey } = gateway.partners[0];
    env = { CAUSEWAY_BASE_URL: gateway.baseUrl, CAUSEWAY_API_KEY: apiKey, CAUSEWAY_HOME: home };
    causeway = new Causeway({ baseUrl: gateway.baseUrl, apiKey });
  });
  afterAll(async () => {
    await gateway?.stop();
    await rm(home, { recursive: true, force: true });
  });

  const trigger = (...argv: string[]) => startCli(['trigger', ...argv], { env }).ended;

  async function seen(...argv: string[]) {
    const { stdout, stderr, exitCode } = await trigger(...argv, '--timeout', '30');
    expect([exitCode, argv, stderr]).toEqual([0, argv, stderr]);
    return JSON.parse(stdout) as { event_type: string; data: Record<string, unknown> };
  }

  it('knows every event of the registry', () => {
    expect([...EVENT_TYPES].sort()).toEqual([...PARTNER_EVENT_TYPES].sort());
  });

  it('makes every event happen, and shows it', { timeout: 60_000 }, async () => {
    const all = await Promise.all(EVENT_TYPES.map((type) => seen(type)));
    expect(all.map(({ event_type }) => event_type)).toEqual(EVENT_TYPES);
    const dataOf = (type: EventType) => all.find(({ event_type }) => event_type === type)?.data;
    expect(dataOf('order.status.changed')).toMatchObject({ status: 'completed' });
    expect(dataOf('order.refund.required')).toMatchObject({
      status: 'cancelled',
      action_required: { endpoint: expect.stringContaining('authorize-refund') },
    });
    expect(dataOf('order.release.required')).toMatchObject({ status: 'dispute_started' });
    expect(dataOf('user.kyc.updated')).toMatchObject({ kyc_status: 'VERIFIED' });
    // What was switched or made for it is as it was.
    const operator = new Causeway({ baseUrl: gateway.baseUrl, apiKey: gateway.sandbox.operatorKey });
    const { partners } = await operator.operator.partners.list();
    expect(partners.map(({ collection_enabled }) => collection_enabled)).toEqual([false, false]);
    expect((await causeway.webhookEndpoints.list()).endpoints).toEqual([]);

    // An order that there is goes on from where it stands.
    const orderId = `${dataOf('order.status.changed')?.order_id}`;
    const planned = await trigger(
      'order.status.changed',
      '--status',
      'send_out_completed',
      '--order',
      orderId,
      '--dry-run',
      '--json',
    );
    expect(
      JSON.parse(planned.stdout).steps.map(({ order_status }: { order_status: string }) => order_status),
    ).toEqual(['send_out_pending', 'send_out_completed']);
    const sent = await seen('order.status.changed', '--status', 'send_out_completed', '--order', orderId);
    expect(sent.data).toMatchObject({ order_id: orderId, status: 'send_out_completed' });
    const refusals = [
      [['order.status.changed', '--order', orderId], 'has been completed already'],
      [['order.status.changed', '--status', 'cancelled', '--order', orderId], 'does not get to'],
      [['order.refund.required', '--order', orderId], 'An onramp order does not get to'],
    ] as const;
    for (const [argv, says] of refusals) {
      const { exitCode, stderr } = await trigger(...argv);
      expect([exitCode, stderr]).toEqual([5, expect.stringContaining(says)]);
    }
    const unknown = await trigger('order.refund.required', '--order', crypto.randomUUID());
    expect([unknown.exitCode, unknown.stdout]).toEqual([4, '']);
  });

  it('is refused where it would do harm or nothing, before anything is done', async () => {
    const before = (await causeway.users.list()).pagination.total;
    const refusals: [number, string[], string][] = [
      [2, [], 'needs EVENT'],
      [2, ['order.status.change'], 'Did you mean order.status.changed'],
      [2, ['order.status.changed', '--status', 'complete'], 'Did you mean completed'],
      [2, ['order.status.changed', '--status', 'created'], 'no event tells of it'],
      [2, ['webhook.test', '--status', 'completed'], 'tells of no status'],
      [2, ['user.kyc.updated', '--order', crypto.randomUUID()], 'not about an order'],
      [2, ['order.refund.required', '--direction', 'onramp'], 'No onramp order'],
      [2, ['user.kyc.updated', '--sttaus', 'VERIFIED'], 'sttaus'],
      [2, ['user.kyc.updated', '--timeout', 'soon'], '--timeout'],
    ];
    for (const [code, argv, says] of refusals) {
      const { exitCode, stderr } = await trigger(...argv);
      expect([exitCode, stderr]).toEqual([code, expect.stringContaining(says)]);
    }
    const elsewhere = (more: Record<string, string>, ...argv: string[]) =>
      startCli(['trigger', ...argv], { env: { ...env, ...more } }).ended;
    const live = await elsewhere({ CAUSEWAY_API_KEY: 'cw_live_1' }, 'user.kyc.updated');
    expect([live.exitCode, live.stderr]).toEqual([5, expect.stringContaining('is no sandbox')]);
    const unsigned = await elsewhere({ CAUSEWAY_HOME: '/nonexistent' }, 'order.refund.required');
    expect([unsigned.exitCode, unsigned.stderr]).toEqual([1, expect.stringContaining('keys of the sandbox')]);
    const wrongKey = await elsewhere({ CAUSEWAY_API_KEY: 'cw_test_1' }, 'user.kyc.updated');
    expect(wrongKey.exitCode).toBe(3);
    const planned = await trigger('order.release.required', '--dry-run');
    expect([planned.exitCode, planned.stdout]).toEqual([0, expect.stringContaining('orders.decideDispute')]);
    const listed = await trigger('--list', '--json');
    expect(JSON.parse(listed.stdout).map(({ event }: { event: string }) => event)).toEqual(EVENT_TYPES);
    expect((await causeway.users.list()).pagination.total).toBe(before);
  });
});
