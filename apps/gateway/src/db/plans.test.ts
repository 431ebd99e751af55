import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { programStatements } from '../../../../test/harness/statements.ts';

/** A node of EXPLAIN (FORMAT JSON), as far as it is looked at. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Subplan Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Join Filter'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Found by nothing but whose row it is: what row-level security adds to every statement. */
const OF_ITS_OWNER = /^\((?:\w+\.)?(partner_id|vendor_id) = \(InitPlan \d+\)\.col1\)$/;

describe('plans of a database that has not been analyzed yet', () => {
  let database: TestDatabase;
  const keys = new Map<string, string[]>();

  beforeAll(async () => {
    database = await openTestDatabase();
    const { rows } = await database.owner.query<{ table: string; key: string }>(
      `SELECT c.relname AS table, a.attname AS key FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
         JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
        WHERE c.relnamespace = 'public'::regnamespace AND i.indisunique AND i.indpred IS NULL AND i.indnkeyatts = 1`,
    );
    for (const { table, key } of rows) keys.set(table, [...(keys.get(table) ?? []), key]);
  });
  afterAll(() => database?.close());

  /** The plan that a connection keeps; undefined where the role may not run it. */
  async function keptPlan(role: string, text: string): Promise<PlanNode | undefined> {
    await database.owner.query(`SET ROLE ${role}`);
    try {
      const { rows } = await database.owner.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${text}`);
      return rows[0]['QUERY PLAN'][0].Plan;
    } catch (error) {
      if ((error as { code?: string }).code === '42501') return undefined;
      throw error;
    } finally {
      await database.owner.query('RESET ROLE');
    }
  }

  function nodesOf(plan: PlanNode, above?: PlanNode): { node: PlanNode; filters: string }[] {
    const filters = `${plan.Filter ?? ''} ${above?.['Join Filter'] ?? ''}`;
    return [{ node: plan, filters }, ...(plan.Plans ?? []).flatMap((below) => nodesOf(below, plan))];
  }

  /** Every node of every plan as this role, with what else its rows are asked. */
  async function nodesAs(role: string) {
    const found: { name: string; node: PlanNode; filters: string }[] = [];
    for (const { name, text } of programStatements()) {
      const plan = await keptPlan(role, text);
      if (plan !== undefined) found.push(...nodesOf(plan).map((one) => ({ name, ...one })));
    }
    expect(new Set(found.map(({ name }) => name)).size).toBeGreaterThan(100);
    return found;
  }

  it.each(['causeway_partner', 'causeway_vendor'])(
    'none as %s reads all rows of one owner to find the one with a key',
    async (role) => {
      const reading = (await nodesAs(role)).filter(({ node, filters }) => {
        if (!OF_ITS_OWNER.test(node['Index Cond'] ?? '')) return false;
        const ofTable = keys.get(node['Relation Name'] ?? '') ?? [];
        return ofTable.some((key) => new RegExp(`\\b${key}(?:\\)?::text)? = `).test(filters));
      });
      expect(reading.map(({ name, node }) => `${name}: ${node['Index Name']}`)).toEqual([]);
    },
  );

  it.each(['causeway_vendor', 'causeway_customer'])(
    'none as %s reads all its orders to learn whether it may see a row',
    async (role) => {
      const reading = (await nodesAs(role)).filter(({ node, filters }) =>
        (node.Plans ?? []).some(
          (below) =>
            below['Relation Name'] === 'orders' && filters.includes(`(hashed ${below['Subplan Name']})`),
        ),
      );
      expect(reading.map(({ name, node }) => `${name}: ${node['Relation Name']}`)).toEqual([]);
    },
  );
});
