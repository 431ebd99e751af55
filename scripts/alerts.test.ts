import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const REPOSITORY = new URL('../', import.meta.url);
const read = (path: string) => readFile(new URL(path, REPOSITORY), 'utf8');

/** Words of the language of rules, and labels; the rest are metrics. */
const NO_METRICS = new Set(['max', 'min', 'sum', 'by', 'rate', 'increase', 'histogram_quantile']);

/** What of an expression is a name of a metric: neither in braces nor in brackets nor a label to group by. */
function metricsOf(expression: string): string[] {
  const bare = expression.replaceAll(/\{[^}]*\}|\[[^\]]*\]|"[^"]*"|by \([^)]*\)/g, ' ');
  return [...bare.matchAll(/[a-z_]{2,}/g)].map(([name]) => name).filter((name) => !NO_METRICS.has(name));
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
  // 5xx are in the guide as what they are.
  const untold = names.filter(
    (name) => name !== 'http_request_duration_seconds' && !described.includes(name),
  );
  expect(untold).toEqual([]);
});
