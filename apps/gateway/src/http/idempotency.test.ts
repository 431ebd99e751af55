import { CausewayError } from '@causeway/protocol';
import { Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Answer, type CallOptions, call } from '../../../../test/harness/call.ts';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { insertKey, type Shell, startShell } from '../../../../test/harness/shell.ts';
import { until } from '../../../../test/harness/until.ts';
import { partnerScope } from '../db/database.ts';
import { prepareIntent } from '../engine/intent.ts';
import { unitOfWork } from '../engine/unit-of-work.ts';
import { newId } from '../lib/ids.ts';
import { route } from './route.ts';

const PARTNERS = [newId(), newId()] as const;
const DAY_MS = 86_400_000;

/** What the handler does next; each call leaves one intent behind if it takes effect. */
type Mood = 'succeed' | 'refuse' | 'limit' | 'fail' | 'wait';

describe('Idempotency-Key', () => {
  let database: TestDatabase;
  let shells: Shell[];
  let keys: string[];
  let mood: Mood;
  let gate: {
    readonly entered: Promise<void>;
    enter: () => void;
    readonly opened: Promise<void>;
    open: () => void;
  };
  let calls = 0;
  let written = 0;

  beforeAll(async () => {
    database = await openTestDatabase();
    for (const partner of PARTNERS) await insertPartner(database.owner, partner);
    keys = [];
    for (const partner of PARTNERS) keys.push(await insertKey(database.owner, 'partner', partner));
    shells = await Promise.all([startOne(), startOne()]);
  });
  afterAll(async () => {
    await Promise.all((shells ?? []).map((shell) => shell.stop()));
    await database?.close();
  });
  beforeEach(async () => {
    await database.owner.query('TRUNCATE intents, idempotent_responses, actor_responses');
    mood = 'succeed';
    gate = { ...promise('entered', 'enter'), ...promise('opened', 'open') } as typeof gate;
  });

  function promise(name: string, resolver: string): object {
    let resolve: () => void = () => {};
    return { [name]: new Promise<void>((done) => (resolve = done)), [resolver]: () => resolve() };
  }

  const startOne = () =>
    startShell({
      databaseUrl: database.url,
      routes: (app, deps) => {
        for (const name of ['things', 'others'] as const) {
          route(app, {
            access: 'partner',
            transaction: 'unit',
            deps,
            method: ['POST', 'PUT'] as never,
            url: `/api/v1/t/${name}`,
            operationId: name,
            tag: 'Orders',
            summary: name,
            body: Type.Object({ name: Type.String() }),
            data: Type.Object({ id: Type.String(), call: Type.Integer() }),
            handle: async ({ body }, { partnerId }, unit) => {
              const id = unit.ids.uuid();
              const payload = { user_id: body.name };
              prepareIntent(unit, { kind: 'kyc.verify', dedupeKey: id, partnerId, payload });
              if (mood === 'wait') {
                await unit.tx.query({ name: 'test.idempotency_probe', text: 'SELECT 1' }, []);
                gate.enter();
                await gate.opened;
              }
              if (mood === 'refuse') throw new CausewayError('USER_NOT_FOUND');
              if (mood === 'limit') throw new CausewayError('RATE_LIMITED', { details: { retry_after: 7 } });
              if (mood === 'fail') throw new Error('the roof is on fire');
              return { id, call: ++calls };
            },
          });
        }
        const spec = (name: string) => ({
          method: 'POST' as const,
          url: `/api/v1/t/${name}`,
          operationId: name,
          tag: 'Orders',
          summary: name,
          data: Type.Object({ call: Type.Integer() }),
        });
        route(app, {
          access: 'partner',
          transaction: 'outside',
          deps,
          ...spec('outside'),
          handle: async () => {
            if (mood === 'wait') {
              gate.enter();
              await gate.opened;
            }
            if (mood === 'refuse') throw new CausewayError('WEBHOOK_NOT_CONFIGURED');
            if (mood === 'limit') throw new CausewayError('RATE_LIMITED', { details: { retry_after: 7 } });
            if (mood === 'fail') throw new CausewayError('WEBHOOK_DELIVERY_FAILED');
            return { call: ++calls };
          },
        });
        route(app, {
          access: 'partner',
          transaction: 'outside',
          deps,
          ...spec('written'),
          handle: async (_input, { partnerId }, outside) => {
            if (!outside.isWritten) {
              await unitOfWork(deps, partnerScope(partnerId), async (unit) => outside.written(unit));
              written++;
            }
            if (mood === 'fail') throw new CausewayError('WEBHOOK_DELIVERY_FAILED');
            return { call: ++calls };
          },
        });
        route(app, {
          access: 'vendor',
          transaction: 'unit',
          deps,
          ...spec('vendors'),
          handle: () => ({ call: ++calls }),
        });
        route(app, {
          access: 'operator',
          transaction: 'unit',
          deps,
          ...spec('operators'),
          handle: () => ({ call: ++calls }),
        });
      },
    });

  const post = (
    idempotencyKey: string,
    options: CallOptions & { shell?: number; path?: string; method?: string } = {},
  ) =>
    call(
      shells[options.shell ?? 0]?.baseUrl ?? '',
      options.method ?? 'POST',
      options.path ?? '/api/v1/t/things',
      {
        key: keys[0] as string,
        body: { name: 'a' },
        ...options,
        headers: { 'idempotency-key': idempotencyKey },
      },
    );
  const effects = async () => (await database.owner.query('SELECT FROM intents')).rowCount;
  const stored = async () => (await database.owner.query('SELECT FROM idempotent_responses')).rowCount;
  const code = (answer: Answer) => [answer.status, answer.body.error?.code];

  // Proves D4.1.
  it('a replay answers the same status and the same bytes, says so, and does nothing, on any process', async () => {
    const original = await post('k1');
    expect([original.status, original.headers.get('idempotency-replayed')]).toEqual([200, null]);
    for (const shell of [0, 1]) {
      const replay = await post('k1', { shell });
      expect([replay.status, replay.text]).toEqual([200, original.text]);
      expect(replay.headers.get('idempotency-replayed')).toBe('true');
      expect(replay.headers.get('content-type')).toBe(original.headers.get('content-type'));
    }
    expect(await effects()).toBe(1);
  });

  it('what is kept cannot be read in the database', async () => {
    const { body } = await post('k1');
    const { rows } = await database.owner.query(
      'SELECT idempotent_responses::text AS line FROM idempotent_responses',
    );
    expect(rows[0].line).not.toContain(body.data.id);
  });

  it('the same object written in another order is the same request', async () => {
    const original = await post('k1', { rawBody: '{"name":"a","x":{"b":1,"c":[1,2]}}' });
    const replay = await post('k1', { rawBody: ' { "x" : {"c":[1,2],"b":1}, "name" : "a" } ' });
    expect(replay.text).toBe(original.text);
    expect(code(await post('k1', { rawBody: '{"name":"a","x":{"b":1,"c":[2,1]}}' }))[0]).toBe(422);
  });

  // Proves D4.1, C7 IDEMPOTENCY_KEY_REUSED.
  it('the key with another body, method or path is refused and changes nothing', async () => {
    await post('k1');
    const others = [{ body: { name: 'b' } }, { path: '/api/v1/t/others' }, { method: 'PUT' }];
    for (const other of others)
      expect(code(await post('k1', other))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
    expect([await effects(), await stored()]).toEqual([1, 1]);
    expect((await post('k1')).headers.get('idempotency-replayed')).toBe('true');
  });

  it('many at once give one effect: the others wait their turn or get its answer', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => post('k1', { shell: n % 2 })));
    const done = answers.filter(({ status }) => status === 200);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      expect(code(answer)).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
    }
    expect(await effects()).toBe(1);
  });

  it('work outside a transaction that has written and was not answered is ended by the next request, not begun anew', async () => {
    const path = '/api/v1/t/written';
    mood = 'fail';
    expect((await post('w1', { path })).status).toBeGreaterThanOrEqual(500);
    expect((await post('w1', { path, shell: 1 })).status).toBeGreaterThanOrEqual(500);
    mood = 'succeed';
    const answered = await post('w1', { path, shell: 1 });
    expect([answered.status, written]).toEqual([200, 1]);
    expect((await post('w1', { path })).text).toBe(answered.text);
  });

  // Proves D4.1, C7 IDEMPOTENCY_IN_PROGRESS.
  it('while the first is running, another with its key is told so and one with another key goes ahead', async () => {
    mood = 'wait';
    const running = post('k1');
    await gate.entered;
    expect(code(await post('k1', { shell: 1 }))).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
    mood = 'succeed';
    expect((await post('k2')).status).toBe(200);
    gate.open();
    expect((await running).status).toBe(200);
    expect((await post('k1')).headers.get('idempotency-replayed')).toBe('true');
  });

  it('a refusal is an answer too: stored, replayed, its work undone', async () => {
    mood = 'refuse';
    const refused = await post('k1');
    expect(code(refused)).toEqual([404, 'USER_NOT_FOUND']);
    mood = 'succeed';
    const replay = await post('k1');
    expect([replay.status, replay.text]).toEqual([404, refused.text]);
    expect(replay.headers.get('idempotency-replayed')).toBe('true');
    expect(await effects()).toBe(0);
  });

  it('a refusal reads the same with and without a key', async () => {
    mood = 'refuse';
    const options = { key: keys[0] as string, body: { name: 'a' } };
    const without = await call(shells[0]?.baseUrl ?? '', 'POST', '/api/v1/t/things', options);
    expect((await post('k1')).text).toBe(without.text);
  });

  // Proves D4.1.
  it('a failure is not stored, leaves nothing, and a retry may succeed', async () => {
    mood = 'fail';
    expect(code(await post('k1'))).toEqual([500, 'INTERNAL_ERROR']);
    expect([await effects(), await stored()]).toEqual([0, 0]);
    mood = 'succeed';
    const retried = await post('k1');
    expect([retried.status, retried.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect(await effects()).toBe(1);
  });

  it.each(['things', 'outside'])(
    'a limit is not stored: what it says is over after a while (%s)',
    async (name) => {
      const path = `/api/v1/t/${name}`;
      mood = 'limit';
      const limited = await post('k1', { path });
      expect([...code(limited), limited.headers.get('retry-after')]).toEqual([429, 'RATE_LIMITED', '7']);
      expect([await effects(), await stored()]).toEqual([0, 0]);
      mood = 'succeed';
      const retried = await post('k1', { path });
      expect([retried.status, retried.headers.get('idempotency-replayed')]).toEqual([200, null]);
    },
  );

  it('a request that is not valid does not use up its key', async () => {
    expect(code(await post('k1', { body: { name: 1 } }))).toEqual([400, 'VALIDATION_ERROR']);
    expect((await post('k1')).status).toBe(200);
  });

  it('a process that dies in the middle leaves neither work nor lock behind', async () => {
    mood = 'wait';
    const dying = post('k1');
    await gate.entered;
    await database.owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'causeway-partner' AND state = 'idle in transaction'`,
    );
    gate.open();
    expect((await dying).status).toBe(503);
    mood = 'succeed';
    const retried = await until('the lock is gone', async () => {
      const answer = await post('k1', { shell: 1 });
      return answer.status === 200 && answer;
    });
    expect(retried.headers.get('idempotency-replayed')).toBe(null);
    expect(await effects()).toBe(1);
  });

  // Proves D4.1.
  it('two partners may use the same key and never see each other’s answers', async () => {
    const mine = await post('k1');
    const theirs = await post('k1', { key: keys[1] as string });
    expect(theirs.headers.get('idempotency-replayed')).toBe(null);
    expect(theirs.body.data.id).not.toBe(mine.body.data.id);
  });

  // Proves D4.1.
  it('takes keys of 1 to 255 characters and refuses others before anything happens', async () => {
    for (const wrong of ['', 'x'.repeat(256)]) {
      expect(code(await post(wrong))).toEqual([400, 'VALIDATION_ERROR']);
    }
    expect([await effects(), await stored()]).toEqual([0, 0]);
    for (const right of ['x', 'x'.repeat(255), "'; DROP TABLE intents; --", '"{}"']) {
      expect((await post(right)).status).toBe(200);
      expect((await post(right)).headers.get('idempotency-replayed')).toBe('true');
    }
  });

  // Proves D4.1.
  it('keeps an answer for 24 hours of business time, and not longer', async () => {
    const [shell] = shells as [Shell];
    const original = await post('k1');
    const { rows } = await database.owner.query<{ created_at: Date }>(
      'SELECT created_at FROM idempotent_responses',
    );
    const age = () => shell.clock.now() - (rows[0]?.created_at.getTime() ?? 0);
    shell.clock.moveTo(shell.clock.offsetMs + DAY_MS - age() - 5_000);
    expect((await post('k1')).text).toBe(original.text);
    shell.clock.moveTo(shell.clock.offsetMs + 5_001);
    const fresh = await post('k1', { body: { name: 'something else' } });
    expect([fresh.status, fresh.headers.get('idempotency-replayed')]).toEqual([200, null]);
    expect(await effects()).toBe(2);
  });

  it('without a key, the same request twice takes effect twice', async () => {
    const options = { key: keys[0] as string, body: { name: 'a' } };
    for (let n = 0; n < 2; n++) await call(shells[0]?.baseUrl ?? '', 'POST', '/api/v1/t/things', options);
    expect(await effects()).toBe(2);
  });

  describe('for work that leaves the process', () => {
    const outside = (key: string, options: CallOptions & { shell?: number } = {}) =>
      post(key, { path: '/api/v1/t/outside', body: {}, ...options });

    it('is done once: a replay gets its answer, and one that comes meanwhile is told to wait', async () => {
      mood = 'wait';
      const running = outside('k1');
      await gate.entered;
      expect(code(await outside('k1', { shell: 1 }))).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
      expect(code(await outside('k1', { body: { other: 1 } }))).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
      gate.open();
      const first = await running;
      expect(first.status).toBe(200);
      const replay = await outside('k1', { shell: 1 });
      expect([replay.text, replay.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
    });

    it('a refusal is kept, a failure is not', async () => {
      mood = 'refuse';
      expect(code(await outside('k1'))).toEqual([400, 'WEBHOOK_NOT_CONFIGURED']);
      mood = 'fail';
      expect((await outside('k1')).headers.get('idempotency-replayed')).toBe('true');
      expect(code(await outside('k2'))).toEqual([502, 'WEBHOOK_DELIVERY_FAILED']);
      mood = 'succeed';
      expect([(await outside('k2')).status, await stored()]).toEqual([200, 2]);
    });

    it('keeps its key while it runs, by a lease so short that a killed process does not keep callers waiting', async () => {
      const leasedForMs = async () => {
        const { rows } = await database.owner.query<{ until: Date; ms: number }>(
          `SELECT running_until AS until, 1000 * extract(epoch FROM running_until - clock_timestamp())::float AS ms
             FROM idempotent_responses`,
        );
        return rows[0];
      };
      mood = 'wait';
      const running = outside('k1');
      await gate.entered;
      const first = await leasedForMs();
      expect(first?.ms).toBeLessThanOrEqual(5_000);
      await until('the lease to be renewed', async () => {
        const now = await leasedForMs();
        return now !== undefined && first !== undefined && now.until > first.until;
      });
      expect(code(await outside('k1', { shell: 1 }))).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
      gate.open();
      expect((await running).status).toBe(200);
    });

    it('a key whose process died counts as free after a while', async () => {
      const taken = (await outside('k1')).text;
      const takenUntil = (interval: string) =>
        database.owner.query(
          `UPDATE idempotent_responses SET running_until = clock_timestamp() + $1::interval`,
          [interval],
        );
      await takenUntil('1 minute');
      expect(code(await outside('k1'))).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
      await takenUntil('-1 second');
      const again = await outside('k1');
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, null]);
      expect(again.text).not.toBe(taken);
    });
  });

  it('vendors and operators are answered once a key too, each by its own keys, sealed', async () => {
    const vendorIds = [newId(), newId()];
    const callers: [string, string][] = [];
    for (const vendorId of vendorIds) {
      callers.push(['vendors', await insertKey(database.owner, 'vendor', vendorId)]);
    }
    for (let n = 0; n < 2; n++) {
      callers.push(['operators', await insertKey(database.owner, 'operator', null)]);
    }
    const seen = new Set<string>();
    for (const [path, key] of callers) {
      const send = (shell: number) => post('k1', { key, shell, path: `/api/v1/t/${path}`, body: {} });
      const first = await until('the key is known', async () => {
        const answer = await send(0);
        return answer.status === 200 && answer;
      });
      const replay = await until('the key is known there', async () => {
        const answer = await send(1);
        return answer.status === 200 && answer;
      });
      expect([replay.text, replay.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
      seen.add(first.text);
    }
    expect(seen.size).toBe(4);
    const { rows } = await database.owner.query('SELECT body FROM actor_responses');
    expect(rows).toHaveLength(4);
    for (const { body } of rows) expect(body).not.toContain('call');
  });
});
