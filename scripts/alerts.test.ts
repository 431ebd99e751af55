import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { nodeTroubles } from '../apps/gateway/src/chain/rpc/chain-client.ts';
import { createLogger } from '../apps/gateway/src/lib/logger.ts';
import { createMetrics } from '../apps/gateway/src/lib/metrics.ts';

const REPOSITORY = new URL('../', import.meta.url);
const read = (path: string) => readFile(new URL(path, REPOSITORY), 'utf8');

/** Words of the language of rules, and labels; the rest are metrics. */
const NO_METRICS = new Set(['max', 'min', 'sum', 'by', 'rate', 'increase', 'absent', 'histogram_quantile']);

/** What of an expression is a name of a metric: neither in braces nor in brackets nor a label to group by. */
function metricsOf(expression: string): string[] {
  const bare = expression.replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"|by \([^)]*\)/g, ' ');
  return [...bare.matchAll(/[a-z_]{2,}/g)].map(([name]) => name).filter((name) => !NO_METRICS.has(name));
}

/** What the first column of a table names that has the form of a metric, or is one. */
function namedIn(table: string, published: ReadonlyMap<string, unknown>): string[] {
  const cells = [...table.matchAll(/^\| (.+?) \|/gm)].map(([, first = '']) => first);
  const words = cells.flatMap((cell) =>
    [...cell.matchAll(/`(\w+)(?:\{[^}]*\})?`/g)].map(([, word = '']) => word),
  );
  return words.filter((word) => word.includes('_') || published.has(word));
}

/** The table of metrics is held against the program by guides.test.ts. */
it('alerts ask for metrics that the program publishes, and every one has its line in the guide', async () => {
  const [rules, guide] = await Promise.all([read('deploy/alerts.yml'), read('docs/guides/observability.md')]);
  const published = new Map(
    [...guide.matchAll(/^\| `(\w+)` \| (gauge|counter|histogram) \|/gm)].map(([, name = '', type]) => [
      name,
      type,
    ]),
  );
  const described = guide.slice(guide.indexOf('## Alerts'), guide.indexOf('## The log'));
  const asked = [...rules.matchAll(/^ {8}expr: (.+)$/gm)].map(([, expression = '']) => metricsOf(expression));
  expect(asked.length).toBe([...rules.matchAll(/- alert: /g)].length);
  expect(asked.length).toBeGreaterThan(5);
  for (const metrics of asked) {
    expect(metrics.length).toBeGreaterThan(0);
    for (const metric of metrics) {
      const name = metric.replace(/_(?:bucket|count|sum)$/, '');
      expect([metric, published.has(metric) || published.get(name) === 'histogram']).toEqual([metric, true]);
    }
  }
  const names = asked.flat().map((metric) => metric.replace(/_(?:bucket|count|sum)$/, ''));
  const promised = namedIn(described, published);
  expect(promised.length).toBeGreaterThan(15);
  expect(promised.filter((name) => !published.has(name))).toEqual([]);
  expect(promised.filter((name) => !names.includes(name))).toEqual([]);
  // 5xx are in the guide as what they are.
  const untold = names.filter(
    (name) => name !== 'http_request_duration_seconds' && !described.includes(name),
  );
  expect(untold).toEqual([]);
});

it('every alert has a name of its own, one severity and a summary that is one text in YAML', async () => {
  const rules = await read('deploy/alerts.yml');
  const [, ...alerts] = rules.split(/^ {6}- alert: /m);
  expect(new Set(alerts.map((alert) => alert.split('\n')[0])).size).toBe(alerts.length);
  for (const alert of alerts) {
    expect(alert).toMatch(/^ {8}labels: \{ severity: (?:page|ticket) \}$/m);
    // Without quotes a comma would begin another annotation.
    expect(alert).toMatch(/^ {8}annotations: \{ summary: (?:"[^"\n]+"|[^",:#{}[\]\n]+) \}$/m);
  }
});

it('a counter whose growth an alert asks for is there with 0 from the start, so that its first step counts', async () => {
  const { registry } = createMetrics({ processMetrics: false });
  nodeTroubles(createLogger({ level: 'silent', format: 'json' }), registry);
  const lines = (await registry.metrics()).split('\n');
  const rules = await read('deploy/alerts.yml');
  const grown = [...rules.matchAll(/increase\((\w+(?:\{[^}]*\})?)\[/g)].map(([, series = '']) => series);
  expect(grown.length).toBeGreaterThan(2);
  for (const series of grown) expect(lines).toContain(`${series} 0`);
});
