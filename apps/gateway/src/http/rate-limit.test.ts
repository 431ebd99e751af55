import { Type } from 'typebox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, call } from '../../../../test/harness/call.ts';
import { insertPartner, openTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { insertKey, type Shell, startShell } from '../../../../test/harness/shell.ts';
import { until } from '../../../../test/harness/until.ts';
import { newId } from '../lib/ids.ts';
import { createLogger } from '../lib/logger.ts';
import { createRateLimit, type RateLimit } from './rate-limit.ts';
import { route } from './route.ts';

const logger = createLogger({ level: 'silent', format: 'json' });
const MINUTE = 60_000;
const START = 1_800_000_000_000 - (1_800_000_000_000 % MINUTE);

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase(10);
});
afterAll(() => database?.close());

describe('counting requests', () => {
  let now = START;
  const limits: RateLimit[] = [];
  const start = () => {
    const made = createRateLimit(database.db, () => now, logger);
    limits.push(made);
    return made;
  };
  afterEach(() => Promise.all(limits.splice(0).map((limit) => limit.stop())));

  it('a small limit is exact, however many processes share it', async () => {
    const processes = [start(), start(), start()];
    const verdicts = await Promise.all(
      Array.from({ length: 90 }, (_, n) => (processes[n % 3] as RateLimit).take('small', 20)),
    );
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(20);
    const remaining = verdicts.filter(({ allowed }) => allowed).map((verdict) => verdict.remaining);
    expect(remaining.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  it('a large limit is never undershot, and overshot by no more than the credit of each process', async () => {
    const processes = [start(), start()];
    const limit = 1_000;
    let allowed = 0;
    for (let n = 0; n < 2 * limit; n++) {
      const verdict = await (processes[n % 2] as RateLimit).take('large', limit);
      if (verdict.allowed) allowed++;
    }
    expect(allowed).toBeGreaterThanOrEqual(limit);
    expect(allowed).toBeLessThanOrEqual(limit * 1.04);
  });

  it('far from a large limit nothing waits for the database', () => {
    expect(start().take('fast', 100_000)).not.toBeInstanceOf(Promise);
  });

  it('a new minute starts from nothing, and the old one is dropped', async () => {
    const limit = start();
    now = START + 10 * MINUTE + 59_000;
    for (let n = 0; n < 3; n++) await limit.take('minute', 2);
    expect(await limit.take('minute', 2)).toMatchObject({ allowed: false, remaining: 0, resetSeconds: 1 });
    now += 1_000;
    expect(await limit.take('minute', 2)).toEqual({
      allowed: true,
      limit: 2,
      remaining: 1,
      resetSeconds: 60,
    });
    now += 5 * MINUTE;
    await limit.sweep();
    const { rowCount } = await database.owner.query(`SELECT FROM rate_limit_windows WHERE bucket = 'minute'`);
    expect(rowCount).toBe(0);
  });

  it('without the database each process still holds its own line', async () => {
    const limit = start();
    await database.owner.query('ALTER TABLE rate_limit_windows RENAME TO away');
    try {
      const verdicts = [];
      for (let n = 0; n < 6; n++) verdicts.push(await limit.take('alone', 4));
      expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, true, false, false]);
    } finally {
      await database.owner.query('ALTER TABLE away RENAME TO rate_limit_windows');
    }
  });

  it('what was counted in memory reaches the others, at the latest when the process stops', async () => {
    const limit = start();
    for (let n = 0; n < 7; n++) limit.take('pushed', 100_000);
    await limit.stop();
    await until('counted', async () => {
      const { rows } = await database.owner.query(
        `SELECT used FROM rate_limit_windows WHERE bucket = 'pushed'`,
      );
      return rows[0]?.used === '7';
    });
  });
});

describe('limits of a server', () => {
  const partners = [newId(), newId()] as const;
  let keys: string[];
  let shells: Shell[];
  let now = START;

  beforeAll(async () => {
    for (const partner of partners) await insertPartner(database.owner, partner);
    keys = [];
    for (const partner of [partners[0], partners[0], partners[1]]) {
      keys.push(await insertKey(database.owner, 'partner', partner));
    }
    const start = () =>
      startShell({
        databaseUrl: database.url,
        wall: () => now,
        partnerPerMinute: 5,
        publicPerMinute: 3,
        wrongKeysPerMinute: 4,
        trustedProxies: ['127.0.0.1'],
        routes: (app) => {
          const spec = { method: 'GET', tag: 'Orders', summary: 'x', data: Type.Object({}) } as const;
          route(app, {
            access: 'partner',
            transaction: 'none',
            ...spec,
            url: '/api/v1/t/partner',
            operationId: 'a',
            handle: () => ({}),
          });
          route(app, {
            access: 'public',
            transaction: 'none',
            ...spec,
            url: '/api/v1/t/public',
            operationId: 'b',
            handle: () => ({}),
          });
        },
      });
    shells = await Promise.all([start(), start()]);
  });
  afterAll(() => Promise.all((shells ?? []).map((shell) => shell.stop())));

  const get = (shell: number, path: string, key: string | null, headers: Record<string, string> = {}) =>
    call(shells[shell]?.baseUrl ?? '', 'GET', `/api/v1/t/${path}`, { key, headers });
  const limitsOf = ({ headers }: Answer) =>
    ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset', 'retry-after'].map((name) =>
      headers.get(name),
    );

  // Proves D4.2, C7 RATE_LIMITED.
  it('a partner has one allowance for all of its keys and all processes, and is told when to come back', async () => {
    now = START + 20 * MINUTE + 18_000;
    const answers = [];
    for (let n = 0; n < 7; n++) answers.push(await get(n % 2, 'partner', keys[n % 2] as string));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect(limitsOf(answers[0] as Answer)).toEqual(['5', '4', '42', null]);
    const refused = answers[5] as Answer;
    expect(limitsOf(refused)).toEqual(['5', '0', '42', '42']);
    expect(refused.body).toMatchObject({ success: false, error: { code: 'RATE_LIMITED' } });
    expect(refused.headers.get('x-request-id')).toBeTruthy();
    expect((await get(0, 'partner', keys[2] as string)).status).toBe(200);
    now += 42_000;
    expect((await get(0, 'partner', keys[0] as string)).status).toBe(200);
  });

  // Proves D4.2.
  it('a public route is limited by address, as told by a proxy that is trusted, whatever key is sent', async () => {
    now = START + 30 * MINUTE;
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const statuses = [];
    for (let n = 0; n < 5; n++) {
      const key = n % 2 === 0 ? null : (keys[0] as string);
      statuses.push((await get(n % 2, 'public', key, from('203.0.113.7'))).status);
    }
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect((await get(0, 'public', null, from('203.0.113.8'))).status).toBe(200);
  });

  it('all addresses of an IPv6 /64 are one, an IPv4 address inside IPv6 is that address', async () => {
    now = START + 35 * MINUTE;
    const statusFrom = async (address: string) =>
      (await get(0, 'public', null, { 'x-forwarded-for': address })).status;
    const statuses = [];
    for (const host of ['::1', '::2', ':a:b:c:d', ':ffff::9']) {
      statuses.push(await statusFrom(`2001:db8:1:2${host}`));
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect(await statusFrom('2001:db8:1:3::1')).toBe(200);
    for (const same of ['::ffff:198.51.100.7', '198.51.100.7', '::ffff:c633:6407']) {
      expect(await statusFrom(same)).toBe(200);
    }
    expect(await statusFrom('198.51.100.7')).toBe(429);
    expect(await statusFrom('::ffff:198.51.100.8')).toBe(200);
  });

  it('a request without a valid key is refused as such and counts for no partner', async () => {
    now = START + 40 * MINUTE;
    for (let n = 0; n < 3; n++) expect((await get(0, 'partner', 'wrong')).status).toBe(401);
    expect(limitsOf(await get(0, 'partner', keys[0] as string))[1]).toBe('4');
  });

  it('a refusal of a limit takes its time, so that repeating it at once gains nothing', async () => {
    const address = { 'x-forwarded-for': '203.0.113.77' };
    const timed = async () => {
      const began = performance.now();
      const { status } = await get(0, 'public', null, address);
      return { status, ms: performance.now() - began };
    };
    const answers = [await timed(), await timed(), await timed(), await timed()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers.at(-1)?.ms).toBeGreaterThan(190);
  });

  it('guessing keys is limited by address over all processes, and a good key behind it still passes', async () => {
    now = START + 50 * MINUTE + 18_000;
    const guesser = { 'x-forwarded-for': '2001:db8:5::1' };
    const guesses = [];
    for (let n = 0; n < 7; n++) guesses.push(await get(n % 2, 'partner', `cw_test_guess_${n}`, guesser));
    expect(guesses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 429, 429, 429]);
    // The answer tells of the limit that refused it, which is not the partner's.
    expect(limitsOf(guesses[4] as Answer)).toEqual(['4', '0', '42', '42']);
    expect(guesses[4]?.body).toMatchObject({ success: false, error: { code: 'RATE_LIMITED' } });
    const neighbour = { 'x-forwarded-for': '2001:db8:5::2' };
    expect((await get(0, 'partner', 'another guess', neighbour)).status).toBe(429);
    const good = await get(0, 'partner', keys[0] as string, guesser);
    expect([good.status, limitsOf(good)]).toEqual([200, ['5', '4', '42', null]]);
    // No key is no guess.
    expect((await get(0, 'partner', null, guesser)).status).toBe(401);
    expect((await get(0, 'partner', 'a guess', { 'x-forwarded-for': '2001:db8:6::1' })).status).toBe(401);
  });
});
