import { reportEvidence } from '../../bench/frame/evidence.ts';
import { figure, type Measurement } from '../../bench/frame/measurement.ts';
import { median } from '../../bench/frame/statistics.ts';
import { type BenchGateway, withGateway } from '../../bench/gateway.ts';
import { writeOrdersOfOnePartner } from '../../bench/servers/orders-history.ts';

/**
 * `npm run listings`: what a partner with many orders waits for, its lists with their totals, whatever they are filtered by,
 * and a year of statistics. The figures are of one request at a time, so they are latencies and not rates. Exits with 1
 * where a target is missed; the run is recorded.
 */
const SIZES = [100_000, 1_000_000] as const;
const FIRST_PAGE_MS = 5;
/** The first hundreds meet code that is not compiled yet. */
const REQUESTS = 1_000;
const STATISTICS = 8;

const LISTS = [
  { what: 'the first page', query: '', target: FIRST_PAGE_MS },
  { what: 'the first page of one status', query: '?status=failed', target: FIRST_PAGE_MS },
  {
    what: 'the first page of a status that none has',
    query: '?status=dispute_started',
    target: FIRST_PAGE_MS,
  },
  { what: 'the first page of a type that none has', query: '?order_type=offramp', target: FIRST_PAGE_MS },
  {
    what: 'the first page of a month',
    query: '?created_from=2025-05-07T08:09:10Z&created_to=2025-06-07T08:09:10Z',
  },
  { what: 'a page in the middle', query: '?limit=100&page=500' },
  { what: 'the last page', query: (orders: number) => `?limit=100&page=${orders / 100}` },
  { what: 'one reference', query: '?reference_id=ref-5000' },
] as const;

async function measure(): Promise<Measurement[]> {
  const figures: Measurement[] = [];
  const script = new URL('../../bench/servers/orders-gateway.ts', import.meta.url);
  for (const orders of SIZES) {
    await withGateway(script, {}, async (gateway) => {
      await writeOrdersOfOnePartner(gateway.databaseUrl, orders);
      figures.push(...(await measureLists(gateway, orders)));
    });
  }
  return figures;
}

async function measureLists(gateway: BenchGateway, orders: number): Promise<Measurement[]> {
  const figures: Measurement[] = [];
  const of = `of a partner with ${orders.toLocaleString('en')} orders`;
  for (const { what, query, ...list } of LISTS) {
    const path = `/orders${typeof query === 'string' ? query : query(orders)}`;
    figures.push(
      figure({
        name: `listing ${what}, with its total, ${of}`,
        value: await medianMs(gateway, path),
        unit: 'ms',
        better: 'lower',
        target: 'target' in list ? list.target : undefined,
      }),
    );
  }
  figures.push(
    figure({
      name: `statistics of a year, ${of}`,
      value: await medianMs(gateway, '/statistics?from=2025-01-01&to=2025-12-31&interval=month', STATISTICS),
      unit: 'ms',
      better: 'lower',
    }),
  );
  return figures;
}

/** Of the second half. */
async function medianMs(
  { server, apiKey }: BenchGateway,
  path: string,
  requests = REQUESTS,
): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < requests; turn += 1) {
    const startedAt = performance.now();
    const response = await fetch(`${server.url}${path}`, { headers: { 'x-api-key': apiKey } });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    times.push(performance.now() - startedAt);
  }
  return median(times.slice(requests / 2));
}

const met = reportEvidence(
  { run: 'listings', command: 'npm run listings', figures: await measure() },
  { record: true },
);
process.exit(met ? 0 : 1);
