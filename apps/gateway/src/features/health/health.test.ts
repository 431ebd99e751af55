import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway } from '../../../../../test/harness/gateway.ts';
import { until } from '../../../../../test/harness/until.ts';
import { SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import { machineNow } from '../../lib/clock.ts';
import { newId } from '../../lib/ids.ts';
import { createRatePublisher } from '../../upstream/rates/rate-publisher.ts';
import { rateSourcesOf } from '../../upstream/rates/rate-sources.ts';
import { createWorker } from '../../worker.ts';
import { createReadiness } from './health.routes.ts';

const setBook = statement<[legs: string | null, publishedAt: Date]>(
  'test.set_book',
  'UPDATE rate_book SET legs = coalesce($1::jsonb, legs), published_at = $2',
);
interface Leg {
  readonly base: string;
  readonly quote: string;
}
const readLegs = statement<[], { legs: Leg[] }>('test.read_legs', 'SELECT legs FROM rate_book');

describe('what a process says of its health', () => {
  let gateway: TestGateway;
  const logs: string[] = [];

  beforeAll(async () => {
    gateway = await startGateway({ onLog: (line) => logs.push(line) });
  });
  afterAll(() => gateway?.stop());

  const probe = (path: string) => gateway.call('GET', path, { key: null });
  const isReady = () => until('/ready to say yes', async () => (await probe('/ready')).status === 200);
  const isNotReady = () =>
    until('/ready to say no', async () => {
      const { status, body } = await probe('/ready');
      return status === 503 && body;
    });

  const ago = (seconds: number) => new Date(machineNow() - seconds * 1_000);
  const publish = (legs: string | null, at: Date) => gateway.deps.db.query(SYSTEM, setBook, [legs, at]);

  async function legs(): Promise<Leg[]> {
    const [book] = await gateway.deps.db.query(SYSTEM, readLegs, []);
    return book?.legs ?? [];
  }

  async function figures(name: string): Promise<Record<string, number>> {
    const text = await gateway.deps.metrics.registry.getSingleMetricAsString(name);
    return Object.fromEntries(
      [...text.matchAll(/\{\w+="([^"]+)"\} (\S+)/g)].map(([, label, value]) => [label, Number(value)]),
    );
  }

  /** As the worker that keeps the rates does, from its start to its end. */
  async function feedFor(work: () => Promise<unknown>): Promise<void> {
    const keeper = createRatePublisher({
      ...gateway.deps,
      wall: machineNow,
      history: gateway.deps.currenciesParts.history,
      sources: rateSourcesOf(['simulated'], { now: machineNow }),
      holder: newId(),
    });
    await keeper.start();
    await work();
    await keeper.stop();
  }

  it('/ready says no, and why, while nothing can be priced, and yes again when the rates are back', async () => {
    await isReady();
    expect((await figures('rate_legs')).fresh).toBeGreaterThan(50);
    expect((await figures('rate_age_seconds')).simulated).toBeLessThan(60);
    await gateway.deps.currenciesParts.rateKeeper.stop();

    // The feed has stopped: nothing is published any more.
    await publish(null, ago(61));
    expect(await isNotReady()).toEqual({
      success: false,
      error: {
        code: 'SERVICE_UNAVAILABLE',
        message: 'The service is temporarily unavailable.',
        details: {
          failing: [
            { check: 'rates', reason: expect.stringMatching(/no rate is fresh, the newest is \d+ s/) },
          ],
        },
      },
    });
    const quote = await gateway.call('GET', '/api/v1/currency/convert?from=USDC&to=KES&amount=1');
    expect(quote.status).toBe(503);
    expect((await figures('rate_legs')).fresh).toBe(0);
    expect((await probe('/health')).status).toBe(200);

    await feedFor(async () => {
      await isReady();
      expect((await figures('rate_legs')).fresh).toBeGreaterThan(50);
    });
  });

  it('/ready says no where the publisher runs and its sources do not, and their age goes on growing', async () => {
    await feedFor(isReady);
    const stale = (await legs()).map((leg) => ({ ...leg, status: 'stale', sources: [] }));
    const before = (await figures('rate_age_seconds')).simulated as number;
    await publish(JSON.stringify(stale), ago(0));
    await isNotReady();
    await until('the age to grow', async () => ((await figures('rate_age_seconds')).simulated ?? 0) > before);
    expect((await figures('rate_legs')).stale).toBe(stale.length);
  });

  it('/ready says no where there never was a rate', async () => {
    await publish('[]', ago(0));
    await until('the reason', async () =>
      JSON.stringify((await isNotReady()).error.details).includes('there are no rates'),
    );
    await feedFor(isReady);
  });

  it('one currency that can be priced is enough', async () => {
    await feedFor(isReady);
    const mostly = (await legs()).map((leg) =>
      ['USDC/USD', 'USD/KES'].includes(`${leg.base}/${leg.quote}`) ? leg : { ...leg, status: 'stale' },
    );
    await publish(JSON.stringify(mostly), ago(0));
    await until('the publication', async () => (await figures('rate_legs')).fresh === 2);
    await isReady();
  });

  it('all who ask at a time share one look', async () => {
    let looks = 0;
    const readiness = createReadiness(gateway.deps.logger, [
      {
        name: 'counted',
        async failure() {
          looks++;
          return undefined;
        },
      },
    ]);
    readiness.started();
    const answers = await Promise.all(Array.from({ length: 50 }, () => readiness.answer()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(looks).toBe(1);
    await readiness.answer();
    expect(looks).toBe(2);
  });

  it('a worker that cannot reach its chains is not ready, though its loops turn', async () => {
    const worker = createWorker(gateway.deps);
    const readiness = createReadiness(gateway.deps.logger, worker.checks);
    expect((await readiness.answer()).body).toMatchObject({
      error: { details: { failing: [{ check: 'process', reason: 'starting' }] } },
    });
    worker.start();
    readiness.started();
    await until('the chains to be complained of', () =>
      logs.some((line) => line.includes('cannot be watched')),
    );
    expect((await readiness.answer()).body).toMatchObject({
      error: {
        details: {
          failing: [{ check: 'chains', reason: 'not read since the start: base-mainnet, arbitrum-one' }],
        },
      },
    });
    readiness.stopping();
    await worker.stop();
    expect((await readiness.answer()).body).toMatchObject({
      error: { details: { failing: [{ check: 'process', reason: 'stopping' }] } },
    });
  });

  it('probes leave no line a request, a change leaves one', async () => {
    await publish('[]', ago(0));
    await isNotReady();
    logs.length = 0;
    for (let times = 0; times < 5; times++) await probe('/ready');
    await probe('/health');
    expect(logs).toEqual([]);
    await feedFor(isReady);
    await probe('/ready');
    expect(logs.filter((line) => line.includes('ready again'))).toHaveLength(1);
    expect(logs.filter((line) => line.includes('"msg":"request"'))).toEqual([]);
    expect(logs.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
