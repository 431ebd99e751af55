import pg from 'pg';
import { type BatchItem, batchItem, runBatch } from './batch.ts';
import { statement } from './statement.ts';

/**
 * What the program needs of a PostgreSQL server: a version, five roles that belong to the whole server, and connections on
 * which row-level security holds. Whatever is missing is refused with the command that mends it.
 */
export class DatabaseSetupError extends Error {
  override name = 'DatabaseSetupError';
}

/** The first with RETURNING old and uuidv7(), which statements use, and the one that every test runs on. */
const LEAST_VERSION = 18;

export type WorkingRole = 'causeway_partner' | 'causeway_vendor' | 'causeway_system';
/** The last reads every row and writes none: `pg_dump` works as it. */
export const ROLES = [
  'causeway_partner',
  'causeway_customer',
  'causeway_vendor',
  'causeway_system',
  'causeway_backup',
] as const;

export async function requireVersion(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ number: string; name: string }>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS name`,
  );
  const [{ number, name } = { number: '0', name: 'unknown' }] = rows;
  if (Number(number) >= LEAST_VERSION * 10_000) return;
  throw new DatabaseSetupError(
    `PostgreSQL at ${client.host}:${client.port} is ${name}, and ${LEAST_VERSION} is the oldest that works. ` +
      'Upgrade the server, or point DATABASE_URL at a newer one.',
  );
}

interface Login {
  readonly login: string;
  readonly database: string;
  readonly creates_roles: boolean;
  readonly owns_schema: boolean;
}

interface KnownRole {
  readonly name: string;
  readonly exists: boolean;
  readonly usable: boolean;
  readonly may_grant: boolean;
}

/**
 * Makes sure that migrations can be applied by this login: it owns the schema, the roles exist, and it can act as them. A login
 * that may create roles does what is missing; for any other an administrator does it once.
 */
export async function provideRoles(client: Pick<pg.Client, 'query'>): Promise<void> {
  const { rows } = await client.query<Login>(
    `SELECT current_user AS login, current_database() AS database, r.rolsuper OR r.rolcreaterole AS creates_roles,
            coalesce((SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'public'), false) AS owns_schema
       FROM pg_roles r WHERE r.rolname = current_user`,
  );
  const login = rows[0] as Login;
  for (const role of await rolesOf(client)) {
    if (!role.exists && login.creates_roles) await createRole(client, role.name);
  }
  for (const role of await rolesOf(client)) {
    if (role.may_grant && !role.usable) {
      await client.query(`GRANT ${role.name} TO CURRENT_USER WITH INHERIT TRUE, SET TRUE`);
    }
  }
  const missing = (await rolesOf(client)).filter(({ usable }) => !usable);
  if (missing.length === 0 && login.owns_schema) return;
  throw new DatabaseSetupError(
    `The login ${login.login} cannot set up the database ${login.database}. An administrator runs this once, connected to it:\n\n` +
      `${administratorSql(login, missing)}\n\nAfterwards this login needs no further rights.`,
  );
}

/** The owner also reads rows as they do (INHERIT), because migrations may have to rewrite some of them. */
async function rolesOf(client: Pick<pg.Client, 'query'>): Promise<KnownRole[]> {
  const { rows } = await client.query<KnownRole>(
    `SELECT wanted AS name, r.oid IS NOT NULL AS exists,
            coalesce(pg_has_role(r.oid, 'SET') AND pg_has_role(r.oid, 'USAGE'), false) AS usable,
            coalesce(pg_has_role(r.oid, 'MEMBER WITH ADMIN OPTION'), false) AS may_grant
       FROM unnest($1::text[]) WITH ORDINALITY AS roles (wanted, place) LEFT JOIN pg_roles r ON r.rolname = wanted ORDER BY place`,
    [ROLES],
  );
  return rows;
}

/** Another database of the same server may be set up at the same moment. */
async function createRole(client: Pick<pg.Client, 'query'>, name: string): Promise<void> {
  await client.query(
    `DO $$ BEGIN CREATE ROLE ${name} NOLOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$`,
  );
}

function administratorSql({ login, database, owns_schema }: Login, missing: readonly KnownRole[]): string {
  const owner = pg.escapeIdentifier(login);
  const absent = missing.filter(({ exists }) => !exists);
  return [
    ...absent.map(({ name }) => `CREATE ROLE ${name} NOLOGIN;`),
    ...(missing.length === 0
      ? []
      : [`GRANT ${missing.map(({ name }) => name).join(', ')} TO ${owner} WITH INHERIT TRUE, SET TRUE;`]),
    ...(owns_schema
      ? []
      : [
          `ALTER DATABASE ${pg.escapeIdentifier(database)} OWNER TO ${owner};`,
          'ALTER SCHEMA public OWNER TO pg_database_owner;',
        ]),
  ]
    .map((line) => `  ${line}`)
    .join('\n');
}

/** The login of production must not be able to see past row-level security, even by mistake. */
export async function refuseUnrestrictedLogin(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ login: string; unrestricted: boolean }>(
    `SELECT session_user AS login, rolsuper OR rolbypassrls AS unrestricted FROM pg_roles WHERE rolname = session_user`,
  );
  if (rows[0]?.unrestricted) throw unrestrictedLogin(rows[0].login);
}

function unrestrictedLogin(login: string): DatabaseSetupError {
  return new DatabaseSetupError(
    `The login ${login} is a superuser or bypasses row-level security, which production refuses: it would see every partner's rows. ` +
      'Use a login of its own. An administrator makes one that the migrated database accepts with:\n\n' +
      `  CREATE ROLE causeway_app LOGIN PASSWORD '…';\n  ${grantToLogin('causeway_app')}`,
  );
}

function grantToLogin(login: string): string {
  return `GRANT causeway_partner, causeway_customer, causeway_vendor, causeway_system TO ${pg.escapeIdentifier(login)} WITH INHERIT FALSE, SET TRUE;`;
}

/**
 * A caller waits at most for a connection (10 s) and for one statement: together less than clients wait (30 s). A page at
 * random costs hardly more than the next one, in memory or on a disk of today; PostgreSQL would rather read whole tables.
 */
const SESSION = statement<[]>(
  'db.session',
  `SELECT set_config('TimeZone', 'UTC', false), set_config('statement_timeout', '15s', false),
          set_config('idle_in_transaction_session_timeout', '30s', false),
          set_config('random_page_cost', '1.1', false)`,
);

interface Standing {
  readonly acts_as: string;
  readonly login: string;
  readonly row_security: boolean;
  readonly role_unrestricted: boolean;
  readonly login_unrestricted: boolean;
}

const STANDING = statement<[], Standing>(
  'db.standing',
  `SELECT current_user::text AS acts_as, session_user::text AS login, current_setting('row_security') = 'on' AS row_security,
          r.rolsuper OR r.rolbypassrls AS role_unrestricted, l.rolsuper OR l.rolbypassrls AS login_unrestricted
     FROM pg_roles r, pg_roles l WHERE r.rolname = current_user AND l.rolname = session_user`,
);

const INSUFFICIENT_PRIVILEGE = '42501';
const INVALID_PARAMETER_VALUE = '22023';

/**
 * Asked once of every new connection, in one round trip: can it take on its role, and does row-level security bind it there?
 * Between transactions it has no role at all, so nothing that shares the session, such as a pooler, can change who it is.
 */
export async function checkConnection(
  client: pg.ClientBase,
  role: WorkingRole,
  entering: readonly BatchItem[],
  production: boolean,
): Promise<void> {
  let standing: Standing | undefined;
  try {
    const results = await runBatch(client, [batchItem(SESSION, []), ...entering, batchItem(STANDING, [])]);
    standing = results.at(-1)?.[0] as Standing | undefined;
  } catch (error) {
    throw roleRefusal(error, client as pg.Client, role);
  }
  if (standing?.acts_as !== role || standing.role_unrestricted || !standing.row_security) {
    throw new DatabaseSetupError(
      `Row-level security does not bind the connections of ${role}: they act as ${standing?.acts_as ?? 'no role'}, ` +
        `row_security is ${standing?.row_security ? 'on' : 'off'}. The role must be neither a superuser nor BYPASSRLS ` +
        `(ALTER ROLE ${role} NOSUPERUSER NOBYPASSRLS), and neither DATABASE_URL nor the login may turn row_security off.`,
    );
  }
  if (production && standing.login_unrestricted) throw unrestrictedLogin(standing.login);
}

/** Why a role could not be taken on, in words of use to the administrator. */
export function roleRefusal(
  error: unknown,
  { user: login = '' }: { user?: string },
  role: WorkingRole,
): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  if (error.code === INSUFFICIENT_PRIVILEGE) {
    return new DatabaseSetupError(
      `The login ${login} may not act as ${role}. An administrator runs:\n\n  ${grantToLogin(login)}`,
      { cause: error },
    );
  }
  if (error.code === INVALID_PARAMETER_VALUE) {
    return new DatabaseSetupError(`The server has no role ${role}. Run: npm start -- migrate`, {
      cause: error,
    });
  }
  return error;
}
