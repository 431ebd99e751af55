import {
  AUTHORIZATION_STATUSES,
  authorizationMachine,
  CHAIN_TRANSACTION_STATUSES,
  DELIVERY_PENDING,
  DELIVERY_STATUSES,
  DEPOSIT_STATUSES,
  FIAT_ACCOUNT_STATUSES,
  FIAT_CLIENT_STATUSES,
  FIAT_PAYMENT_HELD,
  FIAT_PAYMENT_STATUSES,
  INTENT_STATUSES,
  KYC_IN_REVIEW,
  KYC_STATUSES,
  ORDER_STATUSES,
  orderStatusesThatKnow,
  orderStatusesWithOutcome,
  QUOTE_STATUSES,
  quoteMachine,
  RECIPIENT_STATUSES,
  SCREENING_CLEAR,
  SCREENING_STATUSES,
} from '@causeway/protocol';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { programStatements } from '../../../../test/harness/statements.ts';

const ROLES = ['causeway_partner', 'causeway_customer', 'causeway_vendor', 'causeway_system'] as const;
type Role = (typeof ROLES)[number];

let database: TestDatabase;
let owner: pg.Client;

beforeAll(async () => {
  database = await openTestDatabase();
  owner = database.owner;
});
afterAll(() => database?.close());

async function as<T>(role: Role, work: () => Promise<T>): Promise<T> {
  await owner.query(`SET ROLE ${role}`);
  try {
    return await work();
  } finally {
    await owner.query('RESET ROLE');
  }
}

async function names(sql: string): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>(sql);
  return rows.map(({ name }) => name).sort();
}

const TABLES_WITH_PARTNER = `
  SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
   WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
     AND a.attname = 'partner_id' AND NOT a.attisdropped`;

describe('statements', () => {
  it('every declared statement is understood by the migrated schema', async () => {
    const declared = programStatements();
    expect(declared.length).toBeGreaterThan(40);
    const broken: string[] = [];
    for (const { name, text } of declared) {
      await owner.query(`PREPARE "${name}" AS ${text}`).catch((error: Error) => {
        broken.push(`${name}: ${error.message}`);
      });
    }
    expect(broken).toEqual([]);
  });

  it('every declared statement may be run by at least one of the roles', async () => {
    const declared = programStatements();
    const control = await as('causeway_partner', () => refusalOf('SELECT * FROM api_keys WHERE key_id = $1'));
    expect(control, 'the probe notices a missing right').toContain('permission denied');
    const forbidden: string[] = [];
    for (const { name, text } of declared) {
      const refusals: string[] = [];
      for (const role of ROLES) {
        const refusal = await as(role, () => refusalOf(text));
        if (refusal !== undefined) refusals.push(`${role}: ${refusal}`);
      }
      if (refusals.length === ROLES.length) forbidden.push(`${name}: ${refusals.join('; ')}`);
    }
    expect(forbidden).toEqual([]);
  });

  /** Rights are checked when a plan starts, so the statement is explained with NULLs for parameters. */
  async function refusalOf(text: string): Promise<string | undefined> {
    const highest = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map((found) => Number(found[1])));
    await owner.query(`PREPARE probe AS ${text}`);
    try {
      const nulls = highest === 0 ? '' : `(${Array(highest).fill('NULL').join(', ')})`;
      await owner.query(`EXPLAIN (GENERIC_PLAN FALSE) EXECUTE probe${nulls}`);
      return undefined;
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      return code === '42501' ? message : undefined;
    } finally {
      await owner.query('DEALLOCATE probe');
    }
  }
});

describe('tables', () => {
  it('each has a comment that says what it is for', async () => {
    const silent = await names(`
      SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm')
         AND obj_description(oid, 'pg_class') IS NULL AND relname <> 'schema_migrations'`);
    expect(silent).toEqual([]);
  });

  it('every column of a quote is guarded against changes, but those that say who serves it', async () => {
    const unguarded = await names(`
      SELECT attname AS name FROM pg_attribute JOIN pg_trigger ON tgrelid = attrelid AND tgname = 'quotes_say_the_same'
       WHERE attrelid = 'quotes'::regclass AND attnum > 0 AND NOT attisdropped AND attnum <> ALL (tgattr::int2[])`);
    expect(unguarded).toEqual(['serving_offer_id', 'status', 'vendor_id']);
  });
});

describe('statuses', () => {
  /** What the conditions of a CHECK or of a partial index list, in quotes. */
  async function listedIn(source: 'check' | 'domain' | 'index', name: string): Promise<string[]> {
    const { rows } = await owner.query<{ text: string }>(
      source === 'index'
        ? `SELECT pg_get_expr(indpred, indrelid) AS text FROM pg_index WHERE indexrelid = to_regclass($1)`
        : `SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint
            WHERE ${source === 'domain' ? 'contypid = to_regtype($1)' : 'conname = $1'}`,
      [name],
    );
    expect(rows, name).toHaveLength(1);
    return [...(rows[0]?.text ?? '').matchAll(/'([^']+)'/g)].map((found) => found[1] ?? '');
  }

  it.each([
    ['check', 'users_kyc_status_check', KYC_STATUSES],
    ['check', 'recipients_status_check', RECIPIENT_STATUSES],
    ['check', 'recipients_screening_status_check', SCREENING_STATUSES],
    ['check', 'screening_cases_screening_status_check', SCREENING_STATUSES],
    ['check', 'deposit_observations_disposition_check', DEPOSIT_STATUSES],
    ['check', 'fiat_clients_status_check', FIAT_CLIENT_STATUSES],
    ['check', 'fiat_accounts_status_check', FIAT_ACCOUNT_STATUSES],
    ['check', 'fiat_payments_status_check', FIAT_PAYMENT_STATUSES],
    ['check', 'forward_authorizations_status_check', AUTHORIZATION_STATUSES],
    ['check', 'chain_transactions_status_check', CHAIN_TRANSACTION_STATUSES],
    ['domain', 'quote_status', QUOTE_STATUSES],
    ['domain', 'delivery_status', DELIVERY_STATUSES],
    ['domain', 'intent_status', INTENT_STATUSES],
  ] as const)('%s %s allows those of its machine', async (source, name, statuses) => {
    expect((await listedIn(source, name)).toSorted()).toEqual(statuses.toSorted());
  });

  it.each([
    ['orders_uncounted', orderStatusesWithOutcome('settled', 'stopped', 'disputed')],
    ['orders_offered', orderStatusesThatKnow('vendor_declined')],
    ['users_under_review', [KYC_IN_REVIEW]],
    ['fiat_payments_to_review', [FIAT_PAYMENT_HELD]],
    ['webhook_deliveries_due', [DELIVERY_PENDING]],
    ['screening_cases_not_clear', [SCREENING_CLEAR]],
  ] as const)('index %s is over those that its queries ask for', async (index, statuses) => {
    expect((await listedIn('index', index)).toSorted()).toEqual(statuses.toSorted());
  });

  it.each([
    ['orders', 'status', ORDER_STATUSES],
    ['users', 'kyc_status', KYC_STATUSES],
    ['recipients', 'status', RECIPIENT_STATUSES],
    ['recipients', 'screening_status', SCREENING_STATUSES],
    ['screening_cases', 'screening_status', SCREENING_STATUSES],
    ['deposit_observations', 'disposition', DEPOSIT_STATUSES],
    ['fiat_clients', 'status', FIAT_CLIENT_STATUSES],
    ['fiat_accounts', 'status', FIAT_ACCOUNT_STATUSES],
    ['fiat_payments', 'status', FIAT_PAYMENT_STATUSES],
    ['forward_authorizations', 'status', AUTHORIZATION_STATUSES],
    ['webhook_deliveries', 'status', DELIVERY_STATUSES],
    ['intents', 'status', INTENT_STATUSES],
  ] as const)(
    'constraints and indexes of %s name no other %s than its table has',
    async (table, column, statuses) => {
      const { rows } = await owner.query<{ text: string }>(
        `SELECT pg_get_constraintdef(oid) AS text FROM pg_constraint WHERE conrelid = to_regclass($1) AND contype = 'c'
       UNION ALL
       SELECT pg_get_expr(indpred, indrelid) FROM pg_index WHERE indrelid = to_regclass($1) AND indpred IS NOT NULL`,
        [table],
      );
      const compared = new RegExp(
        `\\b${column}\\)?(?:::text)? (?:=|<>) (?:(?:ANY|ALL) \\(+ARRAY\\[[^\\]]*\\]|'\\w+')`,
        'g',
      );
      const named = rows.flatMap(({ text }) =>
        (text.match(compared) ?? []).flatMap((part) => part.match(/(?<=')\w+(?=')/g) ?? []),
      );
      expect(named.length).toBeGreaterThan(0);
      expect(statuses).toEqual(expect.arrayContaining(named));
    },
  );

  it.each([
    ['quotes', 'quote_issued', quoteMachine],
    ['forward_authorizations', 'authorization_issued', authorizationMachine],
  ] as const)('a row of %s begins as its table says', async (table, trigger, machine) => {
    const { rows } = await owner.query<{ text: string }>(
      `SELECT column_default AS text FROM information_schema.columns WHERE table_name = $1 AND column_name = 'status'`,
      [table],
    );
    const [begin] = machine.transitions.filter(({ on }) => on === trigger);
    expect(rows[0]?.text).toMatch(new RegExp(`^'${begin?.to}'`));
  });
});

describe('tenancy', () => {
  const OWN_ROWS = '(partner_id = ( SELECT current_partner_id() AS current_partner_id))';

  // Proves trap 7.
  it('every table that carries partner_id shows a partner its own rows, or nothing at all', async () => {
    const tables = await names(TABLES_WITH_PARTNER);
    expect(tables.length).toBeGreaterThan(5);
    const guarded = await names(`
      SELECT c.relname AS name FROM pg_class c
       WHERE c.relname IN (${TABLES_WITH_PARTNER}) AND c.relrowsecurity AND c.relforcerowsecurity
         AND (EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'partner_rows'
                        AND pg_get_expr(p.polqual, c.oid) = '${OWN_ROWS}'
                        AND pg_get_expr(p.polwithcheck, c.oid) = '${OWN_ROWS}')
              OR NOT has_table_privilege('causeway_partner', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE'))
         AND EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'system_rows')`);
    expect(guarded).toEqual(tables);
  });

  it('whose rows they are is asked once a statement, and not of every row', async () => {
    const everyRow = await names(`
      SELECT polrelid::regclass || ': ' || polname AS name FROM pg_policy
       WHERE concat(pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
             ~ '(?<!SELECT )(?<!SELECT \\()current_(partner|vendor|customer)_id\\(\\)'`);
    expect(everyRow).toEqual([]);
  });

  it('no table is without row-level security, so a missing grant shows nothing', async () => {
    const open = await names(`
      SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
         AND NOT (relrowsecurity AND relforcerowsecurity) AND relname <> 'schema_migrations'`);
    expect(open).toEqual([]);
  });

  it('no role owns anything, is a superuser, bypasses row-level security or belongs to a role that does', async () => {
    for (const role of [...ROLES, 'causeway_backup']) {
      const { rows } = await owner.query(
        `SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin,
                EXISTS (SELECT FROM pg_class WHERE relowner = r.oid) AS owns,
                EXISTS (SELECT FROM pg_auth_members WHERE member = r.oid) AS is_member
           FROM pg_roles r WHERE rolname = $1`,
        [role],
      );
      expect(rows, role).toEqual([
        {
          rolsuper: false,
          rolbypassrls: false,
          rolcreaterole: false,
          rolcreatedb: false,
          rolcanlogin: false,
          owns: false,
          is_member: false,
        },
      ]);
    }
  });

  it('a table of the system alone gives the partner role no right at all', async () => {
    const leaks = await names(`
      SELECT c.relname AS name FROM pg_class c
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
         AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'partner_rows')
         AND has_table_privilege('causeway_partner', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')`);
    expect(leaks).toEqual([]);
    await as('causeway_partner', () =>
      expect(owner.query('SELECT * FROM api_keys')).rejects.toMatchObject({ code: '42501' }),
    );
  });

  it('backups read every row of every table and every counter, and may change none', async () => {
    const unread = await names(`
      SELECT c.relname AS name FROM pg_class c
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'S', 'v', 'm')
         AND NOT (CASE WHEN c.relkind = 'S' THEN has_sequence_privilege('causeway_backup', c.oid, 'SELECT')
                       ELSE has_table_privilege('causeway_backup', c.oid, 'SELECT') END
                  AND (NOT c.relrowsecurity
                       OR EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'backup_rows'
                                     AND p.polcmd = 'r' AND pg_get_expr(p.polqual, c.oid) = 'true')))`);
    expect(unread).toEqual([]);
    const written = await names(`
      SELECT c.relname AS name FROM pg_class c
       WHERE c.relnamespace = 'public'::regnamespace
         AND CASE WHEN c.relkind IN ('r', 'p', 'v', 'm') THEN has_table_privilege('causeway_backup', c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER, MAINTAIN')
                  WHEN c.relkind = 'S' THEN has_sequence_privilege('causeway_backup', c.oid, 'USAGE, UPDATE') END`);
    expect(written).toEqual([]);
    const binding = await names(
      `SELECT policyname AS name FROM pg_policies WHERE lower(permissive) = 'restrictive'`,
    );
    expect(binding).toEqual([]);
  });

  it('a function that runs with its owner’s rights has a role’s and no more, a fixed search path, and is not for everybody', async () => {
    const { rows } = await owner.query(
      `SELECT proname AS name, proowner::regrole::text AS runs_as,
              coalesce(array_to_string(proconfig, ' ') LIKE '%search_path=%pg_temp', false) AS path_is_fixed,
              has_function_privilege('public', oid, 'EXECUTE') AS for_everybody
         FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef`,
    );
    for (const { name, ...found } of rows) {
      expect(found, name).toEqual({ runs_as: 'causeway_system', path_is_fixed: true, for_everybody: false });
    }
  });

  it('a partner without a name sees nothing, and with one sees and writes its own rows only', async () => {
    const [mine, theirs] = ['00000000-0000-7000-8000-000000000001', '00000000-0000-7000-8000-000000000002'];
    const insert = (partner: string | undefined) =>
      owner.query(
        `INSERT INTO idempotent_responses (partner_id, idempotency_key, fingerprint, status, body, created_at)
         VALUES ($1, 'k', 'f', 200, '{}', clock_timestamp())`,
        [partner],
      );
    await insert(theirs);
    await as('causeway_partner', async () => {
      await owner.query(`SELECT set_config('causeway.partner_id', $1, false)`, [mine]);
      await insert(mine);
      await expect(insert(theirs)).rejects.toMatchObject({ code: '42501' });
      const { rows } = await owner.query('SELECT partner_id FROM idempotent_responses');
      expect(rows).toEqual([{ partner_id: mine }]);
      const moved = await owner.query(`UPDATE idempotent_responses SET body = 'x' WHERE partner_id = $1`, [
        theirs,
      ]);
      expect(moved.rowCount).toBe(0);
      await owner.query('RESET causeway.partner_id');
      expect((await owner.query('SELECT FROM idempotent_responses')).rowCount).toBe(0);
    });
  });
});
