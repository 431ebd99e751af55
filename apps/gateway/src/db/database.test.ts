import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startDatabaseProxy } from '../../../../test/deployment/database-proxy.ts';
import { startToxicProxy } from '../../../../test/deployment/toxic-proxy.ts';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { until } from '../../../../test/harness/until.ts';
import {
  createDatabase,
  type Database,
  NestedDatabaseUse,
  partnerScope,
  reading,
  SYSTEM,
  type Transaction,
} from './database.ts';
import { isOutage } from './outage.ts';
import { plannedOnce, statement } from './statement.ts';

const put = statement<[name: string, value: string]>(
  'test.put',
  `INSERT INTO deployment_facts (name, value, updated_at) VALUES ($1, to_jsonb($2::text), 'epoch')`,
);
const bump = statement<[name: string], { value: string }>(
  'test.bump',
  `UPDATE deployment_facts SET value = to_jsonb(value::text::int + 1) WHERE name = $1 RETURNING value::text`,
);
const get = statement<[name: string], { value: string }>(
  'test.get',
  'SELECT value::text FROM deployment_facts WHERE name = $1',
);
const putNumber = statement<[name: string]>(
  'test.put_number',
  `INSERT INTO deployment_facts (name, value, updated_at) VALUES ($1, '0', 'epoch')`,
);
const divide = statement<[]>('test.divide', 'SELECT 1 / 0');
const backend = statement<[], { pid: number }>('test.backend', 'SELECT pg_backend_pid() AS pid');
const slow = statement<[]>('test.slow', 'SELECT pg_sleep(20)');
const visiblePartners = statement<[], { partner_id: string }>(
  'test.partners',
  'SELECT partner_id FROM partners ORDER BY partner_id',
);

let database: TestDatabase;
let db: Database;
let owner: pg.Client;

beforeAll(async () => {
  database = await openTestDatabase(2);
  ({ db, owner } = database);
});
afterAll(() => database?.close());
beforeEach(() => owner.query('DELETE FROM deployment_facts'));

async function stored(): Promise<string[]> {
  const { rows } = await owner.query<{ name: string }>('SELECT name FROM deployment_facts ORDER BY name');
  return rows.map(({ name }) => name);
}

async function roundTripsOf(work: () => Promise<unknown>): Promise<number> {
  const before = db.stats.roundTrips;
  await work();
  return db.stats.roundTrips - before;
}

const terminate = (pid: number | undefined) => owner.query('SELECT pg_terminate_backend($1)', [pid]);

async function gone(pid: number | undefined): Promise<void> {
  await until(`backend ${pid} gone`, async () => {
    const { rowCount } = await owner.query('SELECT FROM pg_stat_activity WHERE pid = $1', [pid]);
    return rowCount === 0;
  });
}

describe('a transaction', () => {
  // Proves trap 44.
  it('has its own connection and asks for no other, in its own scope or another, however deep in the work', async () => {
    const nested = [
      () => db.query(SYSTEM, backend, []),
      () => db.query(partnerScope('00000000-0000-4000-8000-000000000001'), backend, []),
      () => db.transaction(SYSTEM, async (tx) => tx.query(backend, [])),
      () => reading(db, SYSTEM).query(backend, []),
    ];
    for (const ask of nested) {
      const asking = db.transaction(SYSTEM, async (tx) => {
        await tx.query(put, ['a', '1']);
        await Promise.resolve().then(() => new Promise((resolve) => setImmediate(resolve)));
        return ask();
      });
      await expect(asking).rejects.toThrow(NestedDatabaseUse);
    }
    expect(await stored()).toEqual([]);
  });

  it('leaves what it started and did not wait for free to use the pool once it is over', async () => {
    let late: Promise<unknown> | undefined;
    let finish = () => {};
    const over = new Promise<void>((resolve) => {
      finish = resolve;
    });
    await db.transaction(SYSTEM, async (tx) => {
      await tx.query(backend, []);
      late = over.then(() => db.query(SYSTEM, backend, []));
    });
    finish();
    expect(await late).toHaveLength(1);
  });

  it('commits everything that was run and deferred, or nothing when the work throws', async () => {
    await db.transaction(SYSTEM, async (tx) => {
      tx.defer(put, ['a', '1']);
      await tx.query(put, ['b', '2']);
      tx.defer(put, ['c', '3']);
    });
    expect(await stored()).toEqual(['a', 'b', 'c']);
    const thrown = db.transaction(SYSTEM, async (tx) => {
      await tx.query(put, ['d', '4']);
      tx.defer(put, ['e', '5']);
      throw new Error('changed my mind');
    });
    await expect(thrown).rejects.toThrow('changed my mind');
    expect(await stored()).toEqual(['a', 'b', 'c']);
  });

  it('rolls back when a deferred statement fails at the commit', async () => {
    const failing = db.transaction(SYSTEM, async (tx) => {
      await tx.query(put, ['a', '1']);
      tx.defer(divide, []);
      tx.defer(put, ['b', '2']);
    });
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    expect(await stored()).toEqual([]);
  });

  it('never reports success when a statement failed, even if the work swallowed the error', async () => {
    const swallowing = db.transaction(SYSTEM, async (tx) => {
      await tx.query(put, ['a', '1']);
      await tx.query(divide, []).catch(() => {});
      return 'done';
    });
    await expect(swallowing).rejects.toMatchObject({ code: '22012' });
    expect(await stored()).toEqual([]);
  });

  it('rolls back what came after the savepoint, errors included, and keeps what came before', async () => {
    await db.transaction(SYSTEM, async (tx) => {
      await tx.query(put, ['before', '1']);
      tx.savepoint();
      await tx.query(put, ['after', '2']);
      await tx.query(divide, []).catch(() => {});
      await tx.rollbackToSavepoint();
      tx.defer(put, ['instead', '3']);
    });
    expect(await stored()).toEqual(['before', 'instead']);
  });

  it('rolls back to a savepoint that was never sent without asking the database', async () => {
    const spent = await roundTripsOf(() =>
      db.transaction(SYSTEM, async (tx) => {
        await tx.query(put, ['before', '1']);
        tx.savepoint();
        tx.defer(put, ['after', '2']);
        await tx.rollbackToSavepoint();
      }),
    );
    expect(await stored()).toEqual(['before']);
    expect(spent).toBe(2);
  });

  it('executes nothing when a parameter cannot be sent', async () => {
    const refused = db.transaction(SYSTEM, async (tx) => {
      tx.defer(put, ['a', '1']);
      await tx.query(put, ['b', { toString: () => 'x' } as unknown as string]);
    });
    await expect(refused).rejects.toThrow(TypeError);
    const spent = await roundTripsOf(() =>
      expect(db.query(SYSTEM, put, [Symbol('x') as unknown as string, '1'])).rejects.toThrow(TypeError),
    );
    expect(spent).toBe(0);
    expect(await stored()).toEqual([]);
  });
});

describe('round trips', () => {
  it('one for a query, two for a unit of work, however much is deferred; none for a transaction without statements', async () => {
    expect(await roundTripsOf(() => db.query(SYSTEM, get, ['a']))).toBe(1);
    const scoped = partnerScope('00000000-0000-7000-8000-000000000001');
    expect(await roundTripsOf(() => db.query(scoped, visiblePartners, []))).toBe(1);
    const work = async (tx: Transaction) => {
      await tx.queryBoth(get, ['a'], get, ['b']);
      for (let i = 0; i < 10; i++) tx.defer(put, [`n${i}`, '1']);
    };
    expect(await roundTripsOf(() => db.transaction(SYSTEM, work))).toBe(2);
    expect(await roundTripsOf(() => db.transaction(SYSTEM, async () => 'nothing'))).toBe(0);
  });
});

describe('scopes', () => {
  it('never leak from one user of a pooled connection to the next', async () => {
    const ids = [1, 2, 3].map((n) => `00000000-0000-7000-8000-0000000000a${n}`);
    for (const id of ids) await insertPartner(owner, id);
    const asked = Array.from({ length: 60 }, (_, index) => ids[index % 3] as string);
    await Promise.all(
      asked.map(async (id, index) => {
        const read = () => db.query(partnerScope(id), visiblePartners, []);
        const readInTransaction = () =>
          db.transaction(partnerScope(id), async (tx) => {
            const rows = await tx.query(visiblePartners, []);
            if (index % 7 === 0) await tx.query(divide, []);
            return rows;
          });
        const rows = await (index % 2 === 0 ? read() : readInTransaction().catch(() => read()));
        expect(rows).toEqual([{ partner_id: id }]);
      }),
    );
    expect((await db.query(SYSTEM, visiblePartners, [])).length).toBeGreaterThanOrEqual(3);
  });
});

describe('tenancy without the help of a session', () => {
  const mine = '00000000-0000-7000-8000-0000000000b1';
  const theirs = '00000000-0000-7000-8000-0000000000b2';

  beforeAll(async () => {
    for (const id of [mine, theirs]) await insertPartner(owner, id);
  });

  async function expectTenancy(connectionString: string): Promise<void> {
    const elsewhere = createDatabase({ connectionString, poolSize: 2 });
    try {
      expect(await elsewhere.query(partnerScope(mine), visiblePartners, [])).toEqual([{ partner_id: mine }]);
      await elsewhere.transaction(partnerScope(theirs), async (tx) => {
        await tx.query(visiblePartners, []);
        tx.savepoint();
        await tx.query(divide, []).catch(() => {});
        await tx.rollbackToSavepoint();
        expect(await tx.query(visiblePartners, [])).toEqual([{ partner_id: theirs }]);
      });
      expect((await elsewhere.query(SYSTEM, visiblePartners, [])).length).toBeGreaterThanOrEqual(2);
    } finally {
      await elsewhere.close();
    }
  }

  it('holds when the address brings options of its own', async () => {
    await expectTenancy(`${database.url}?options=-c%20search_path%3Dpublic`);
  });

  // Proves trap 47.
  it('holds behind a pooler that drops startup options', async () => {
    const pooler = await startDatabaseProxy(database.url, { dropStartupOptions: true });
    try {
      await expectTenancy(pooler.url);
    } finally {
      await pooler.close();
    }
  });

  it('holds when another transaction left another role on the connection', async () => {
    const only = createDatabase({ connectionString: database.url, poolSize: 1 });
    try {
      const superuser = statement<[]>('test.become_superuser', `SELECT set_config('role', 'none', false)`);
      const [row] = await only.query(partnerScope(mine), backend, []);
      await only.query(partnerScope(mine), superuser, []);
      expect(await only.query(partnerScope(mine), backend, [])).toEqual([row]);
      expect(await only.query(partnerScope(mine), visiblePartners, [])).toEqual([{ partner_id: mine }]);
    } finally {
      await only.close();
    }
  });

  it('refuses a connection on which row-level security is off', async () => {
    const off = createDatabase({
      connectionString: `${database.url}?options=-c%20row_security%3Doff`,
      poolSize: 1,
    });
    try {
      await expect(off.query(partnerScope(mine), visiblePartners, [])).rejects.toThrow('row_security is off');
    } finally {
      await off.close();
    }
  });

  // Proves trap 47.
  it('refuses a superuser in production, and nowhere else', async () => {
    const production = createDatabase({ connectionString: database.url, poolSize: 1, production: true });
    try {
      await expect(production.query(SYSTEM, visiblePartners, [])).rejects.toThrow('which production refuses');
    } finally {
      await production.close();
    }
  });
});

describe('conflicts', () => {
  it('a transaction that lost to a concurrent one is run again, so no update is lost', async () => {
    const strict = await openTestDatabase(2);
    try {
      const name = new URL(strict.url).pathname.slice(1);
      await owner.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
      await strict.db.query(SYSTEM, putNumber, ['n']);
      let attempts = 0;
      let release: () => void = () => {};
      const bothRead = new Promise<void>((resolve) => {
        release = resolve;
      });
      let readers = 0;
      const increment = () =>
        strict.db.transaction(SYSTEM, async (tx) => {
          attempts++;
          await tx.query(get, ['n']);
          if (++readers === 2) release();
          await bothRead;
          await tx.query(bump, ['n']);
        });
      await Promise.all([increment(), increment()]);
      expect(attempts).toBe(3);
      expect(await strict.db.query(SYSTEM, get, ['n'])).toEqual([{ value: '2' }]);
    } finally {
      await strict.close();
    }
  });

  it('the loser of a deadlock is run again', async () => {
    await db.query(SYSTEM, putNumber, ['x']);
    await db.query(SYSTEM, putNumber, ['y']);
    let holding = 0;
    let release: () => void = () => {};
    const bothHold = new Promise<void>((resolve) => {
      release = resolve;
    });
    const swap = (first: string, second: string) =>
      db.transaction(SYSTEM, async (tx) => {
        await tx.query(bump, [first]);
        if (++holding === 2) release();
        await bothHold;
        await tx.query(bump, [second]);
      });
    await Promise.all([swap('x', 'y'), swap('y', 'x')]);
    // The second try may meet the winner again.
    expect(holding).toBeGreaterThanOrEqual(3);
    expect(await db.query(SYSTEM, get, ['x'])).toEqual([{ value: '2' }]);
    expect(await db.query(SYSTEM, get, ['y'])).toEqual([{ value: '2' }]);
  });

  it('an error that a repetition cannot cure is not repeated', async () => {
    let attempts = 0;
    const failing = db.transaction(SYSTEM, async (tx) => {
      attempts++;
      await tx.query(divide, []);
    });
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    expect(attempts).toBe(1);
  });
});

describe('a lost connection', () => {
  it('in the middle of a statement is an error, and the pool goes on with a new one', async () => {
    let pid: number | undefined;
    const killed = db.transaction(SYSTEM, async (tx) => {
      await tx.query(put, ['a', '1']);
      [{ pid }] = (await tx.query(backend, [])) as [{ pid: number }];
      await Promise.all([tx.query(slow, []), terminate(pid)]);
    });
    await expect(killed).rejects.toThrow();
    expect(await stored()).toEqual([]);
    await db.query(SYSTEM, put, ['b', '1']);
    expect(await stored()).toEqual(['b']);
  });

  it('between two statements of a transaction is an error of the transaction, not the end of the process', async () => {
    const killed = db.transaction(SYSTEM, async (tx) => {
      const [row] = await tx.query(backend, []);
      await terminate(row?.pid);
      await gone(row?.pid);
      tx.defer(put, ['a', '1']);
    });
    await expect(killed).rejects.toThrow();
    expect(await stored()).toEqual([]);
    expect(await db.query(SYSTEM, get, ['a'])).toEqual([]);
  });

  it('while idle in the pool is noticed before the next use', async () => {
    const [row] = await db.query(SYSTEM, backend, []);
    await terminate(row?.pid);
    await gone(row?.pid);
    await until(
      'a usable connection',
      () =>
        db.query(SYSTEM, get, ['a']).then(
          () => true,
          () => false,
        ),
      5_000,
    );
    await expect(db.query(SYSTEM, get, ['a'])).resolves.toEqual([]);
  });

  it('never exhausts the pool, however often it happens', async () => {
    for (let round = 0; round < 6; round++) {
      await db
        .transaction(SYSTEM, async (tx) => {
          const [row] = await tx.query(backend, []);
          await terminate(row?.pid);
          await tx.query(slow, []);
        })
        .catch(() => {});
    }
    await expect(Promise.all([1, 2, 3, 4].map(() => db.query(SYSTEM, get, ['a'])))).resolves.toHaveLength(4);
  });
});

describe('a way to the server that swallows what is sent', () => {
  it('is an outage after a bounded time, and the pool has its connection again', async () => {
    const link = await startToxicProxy(database.url);
    const only = createDatabase({ connectionString: link.url, poolSize: 1, answeredWithinMs: 1_000 });
    try {
      const [before] = await only.query(SYSTEM, backend, []);
      await link.poison({ kind: 'timeout' });
      const reading = await only.query(SYSTEM, backend, []).catch((error: unknown) => error);
      expect(isOutage(reading)).toBe(true);
      await link.poison(undefined);
      const [after] = await only.query(SYSTEM, backend, []);
      expect(after?.pid).not.toBe(before?.pid);

      await link.poison({ kind: 'timeout' });
      const writing = await only
        .transaction(SYSTEM, (tx) => tx.query(put, ['swallowed', 'x']))
        .catch((error: unknown) => error);
      expect(isOutage(writing)).toBe(true);
      await link.poison(undefined);
      await only.transaction(SYSTEM, (tx) => tx.query(put, ['kept', 'x']));
      expect(await stored()).toEqual(['kept']);
    } finally {
      await only.close();
      await link.close();
    }
  });
});

describe('a statement that says so', () => {
  it('is planned once a connection, and leaves the others as they are', async () => {
    const named = `SELECT name FROM deployment_facts WHERE ($1::text IS NULL OR name = $1)`;
    const kept = plannedOnce(statement<[name: string | null]>('test.kept_plan', named));
    const usual = statement<[name: string | null]>('test.usual_plan', named);
    const plans = statement<[], { name: string; generic: string; custom: string }>(
      'test.plans',
      `SELECT name, generic_plans::text AS generic, custom_plans::text AS custom FROM pg_prepared_statements
        WHERE name LIKE 'test.%_plan' ORDER BY name`,
    );
    const only = createDatabase({ connectionString: database.url, poolSize: 1 });
    try {
      for (const each of [kept, usual, kept, usual, kept]) await only.query(SYSTEM, each, ['a']);
      expect(await only.query(SYSTEM, plans, [])).toEqual([
        { name: 'test.kept_plan', generic: '3', custom: '0' },
        { name: 'test.usual_plan', generic: '0', custom: '2' },
      ]);
    } finally {
      await only.close();
    }
  });
});
