import { promises as dns } from 'node:dns';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNameResolver, LOOKUPS_AN_ASKER } from '../../apps/gateway/src/lib/name-resolver.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { PUBLIC_ADDRESS, startNameServer } from '../harness/name-server.ts';
import { until } from '../harness/until.ts';

/** A look-up gives up after two seconds; what does not wait for one is much faster, even on a busy machine. */
const PROMPT_MS = 1_500;

async function timed<T>(work: Promise<T>): Promise<{ value: T; ms: number }> {
  const began = performance.now();
  return { value: await work, ms: performance.now() - began };
}

describe('names whose server is silent', () => {
  let server: Awaited<ReturnType<typeof startNameServer>>;
  let gateway: TestGateway;

  beforeAll(async () => {
    server = await startNameServer();
    gateway = await startGateway({ env: { DNS_SERVERS: server.address } });
  });
  afterAll(async () => {
    await gateway?.stop();
    server?.socket.close();
  });

  const register = (host: string, partner: 0 | 1) =>
    gateway.call('POST', '/api/v1/partner/webhooks', {
      key: gateway.partners[partner].apiKey,
      body: { url: `https://${host}/hook` },
    });

  /** Registers more silent names than one partner may look up at once, and meanwhile a good one of another partner. */
  async function besideSilence(attempt: number) {
    const silent = Array.from({ length: 32 }, (_, n) => timed(register(`n${n}.a${attempt}.silent.test`, 0)));
    const asked = () => server.asked.filter((line) => line.endsWith(`a${attempt}.silent.test A`)).length;
    await until('the silent names are asked for', () => asked() >= LOOKUPS_AN_ASKER);
    const [other, local] = await Promise.all([
      timed(register(`hooks${attempt}.good.test`, 1)),
      timed(dns.lookup('localhost')),
    ]);
    return { other, local, answers: await Promise.all(silent) };
  }

  // Proves trap 45.
  it('hold up neither another partner’s registration nor any other look-up of the process, and only so many are under way for one partner', async () => {
    // Whoever waits for a silent name is late every time; whoever waits for a busy machine is not.
    let promptAttempts = 0;
    for (let attempt = 0; promptAttempts === 0 && attempt < 5; attempt++) {
      const { other, local, answers } = await besideSilence(attempt);
      expect([other.value.status, other.value.text]).toEqual([
        200,
        expect.stringContaining(`hooks${attempt}.good.test`),
      ]);
      const waited = answers.filter(({ value }) => value.status === 200);
      expect(waited.length).toBeGreaterThanOrEqual(LOOKUPS_AN_ASKER);
      for (const { value } of answers.filter(({ value }) => value.status !== 200)) {
        expect([value.status, value.body.error.code, value.headers.get('ratelimit-limit')]).toEqual([
          429,
          'RATE_LIMITED',
          String(LOOKUPS_AN_ASKER),
        ]);
      }
      // Silence is not held against the partner, and is waited for once only.
      const longest = Math.max(...waited.map(({ ms }) => ms));
      const isPrompt = other.ms < PROMPT_MS && local.ms < PROMPT_MS && longest < 6_000;
      if (isPrompt && waited.length === LOOKUPS_AN_ASKER) promptAttempts += 1;
    }
    expect(promptAttempts).toBe(1);
    expect((await register('later.good.test', 0)).status).toBe(200);
  });

  it('are refused like any other where they lead to this machine', async () => {
    const { socket, address } = await startNameServer();
    PUBLIC_ADDRESS.splice(0, 4, 10, 0, 0, 1);
    try {
      const names = createNameResolver({ servers: [address] });
      expect(await names.lookupFor('p', 'inside.test')).toEqual([{ address: '10.0.0.1', family: 4 }]);
      const inside = await register('inside.good.test', 1);
      expect(inside.body.error).toMatchObject({
        code: 'INVALID_WEBHOOK_URL',
        details: { cause: 'address_not_allowed' },
      });
      // Where the name leads is not told.
      expect(inside.text).not.toContain('10.0.0.1');
    } finally {
      PUBLIC_ADDRESS.splice(0, 4, 93, 184, 216, 34);
      socket.close();
    }
  });

  it('an answer is shared and remembered for a while, a failure for a shorter one; names of this machine are not looked up', async () => {
    let now = 0;
    const names = createNameResolver({ servers: [server.address], wall: () => now });
    const asks = (name: string) => server.asked.filter((line) => line === `${name} A`).length;
    await Promise.all(Array.from({ length: 20 }, (_, n) => names.lookupFor(`p${n}`, 'shared.good.test')));
    expect(asks('shared.good.test')).toBe(1);
    now += 29_000;
    await names.lookupFor('p', 'SHARED.good.test.');
    expect(asks('shared.good.test')).toBe(1);
    now += 2_000;
    await names.lookupFor('p', 'shared.good.test');
    expect(asks('shared.good.test')).toBe(2);
    for (const [after, asked] of [
      [0, 1],
      [4_000, 1],
      [2_000, 2],
    ] as const) {
      now += after;
      await expect(names.lookupFor('p', 'a.missing.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
      expect(asks('a.missing.test')).toBe(asked);
    }
    const addresses = await names.lookupFor('p', 'localhost');
    expect(addresses.map(({ address }) => address)).toContain('127.0.0.1');
    expect(server.asked.some((line) => line.startsWith('localhost'))).toBe(false);
    names.close();
  });
});
