import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../../test/harness/database.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import { claimDeliveries } from './delivery.store.ts';

const QUEUE = 5_000;

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly PlanNode[];
}

/** Counted in blocks and not in milliseconds: these are the same on a busy machine. */
describe('what claiming costs', () => {
  let database: TestDatabase;
  const ids = createIdGenerator();
  const [partner, other] = [ids.uuid(), ids.uuid()];

  beforeAll(async () => {
    database = await openTestDatabase();
    for (const partnerId of [partner, other]) {
      await insertPartner(database.owner, partnerId, { webhookEnabled: true });
    }
    await write(partner, 1);
  });
  afterAll(() => database?.close());

  async function write(partnerId: string, count: number): Promise<void> {
    await database.owner.query(
      `WITH written AS (
         INSERT INTO events (event_id, partner_id, event_type, subject_id, body, created_at)
         SELECT 'evt_' || gen_random_uuid(), $1, 'order.status.changed', gen_random_uuid(), repeat('x', 400), '2026-01-01'
           FROM generate_series(1, $2::int)
         RETURNING event_id, subject_id, position)
       INSERT INTO webhook_deliveries
              (partner_id, delivery_id, event_id, subject_id, position, in_order, run_at, created_at)
       SELECT $1, gen_random_uuid(), event_id, subject_id, position, true, '2026-01-01', '2026-01-01' FROM written`,
      [partnerId, count],
    );
  }

  /** The plan as a worker runs it for one partner, row-level security included, undone afterwards. */
  async function claim(mode: 'force_custom_plan' | 'force_generic_plan', from = partner): Promise<PlanNode> {
    const { owner } = database;
    await owner.query('BEGIN');
    try {
      await owner.query('SET LOCAL ROLE causeway_system');
      await owner.query(`SET LOCAL plan_cache_mode = ${mode}`);
      await owner.query(`PREPARE claim_${mode} AS ${claimDeliveries.text}`);
      const { rows } = await owner.query(
        `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE claim_${mode} (
           ARRAY['${from}']::uuid[], ARRAY[16], '2026-02-01', 20000, '${ids.uuid()}', 1000)`,
      );
      return rows[0]['QUERY PLAN'][0].Plan;
    } finally {
      await owner.query('ROLLBACK');
      await owner.query(`DEALLOCATE ALL`);
    }
  }

  const scansOfAll = (node: PlanNode): string[] => [
    ...(node['Node Type'] === 'Seq Scan' && node['Relation Name'] !== undefined
      ? [node['Relation Name']]
      : []),
    ...(node.Plans ?? []).flatMap(scansOfAll),
  ];

  it.each(['force_custom_plan', 'force_generic_plan'] as const)(
    'another partner’s queue of thousands adds nothing to it, whatever the statistics say (%s)',
    async (mode) => {
      await database.owner.query('ANALYZE webhook_deliveries');
      const { rows } = await database.owner.query('SELECT count(*)::int AS n FROM webhook_deliveries');
      if (rows[0].n < QUEUE) await write(other, QUEUE);
      for (const statistics of ['old', 'new']) {
        if (statistics === 'new') await database.owner.query('ANALYZE webhook_deliveries, events');
        const plan = await claim(mode);
        const blocks = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
        expect(scansOfAll(plan), statistics).not.toContain('webhook_deliveries');
        expect(scansOfAll(plan), statistics).not.toContain('events');
        // All of the table are hundreds.
        expect(blocks, statistics).toBeLessThan(60);
        // A few blocks a delivery that is taken, and none for those that go on waiting.
        const own = await claim(mode, other);
        expect(own['Shared Hit Blocks'] + own['Shared Read Blocks'], statistics).toBeLessThan(1_000);
      }
    },
  );
});
