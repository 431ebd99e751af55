import { describe, expect, test } from 'vitest';
import { figure } from '../../bench/frame/measurement.ts';
import type { SavedReport } from '../../bench/frame/report.ts';
import { renderBenchPage } from './bench.ts';

const ratio = figure({
  name: 'quotes | bare',
  value: 0.6543,
  unit: 'ratio',
  better: 'higher',
  target: 0.7,
  details: { sidesUnit: 'requests/s', candidateMedian: 654.3, baselineMedian: 1_000 },
});
const memory = figure({ name: 'memory', value: 199.6, unit: 'MiB', better: 'lower', target: 250 });
const gas = figure({ name: 'refund', value: 261_001, unit: 'gas', better: 'lower' });
const report: SavedReport = {
  machine: { cores: 2, memoryGib: 8, processor: 'Neoverse-N1', architecture: 'arm64', node: 'v24.0.0' },
  benches: {
    a: { measuredAt: '2026-01-02T03:04:05.000Z', finished: true, measurements: [ratio, memory, gas] },
    b: { measuredAt: '2026-01-03T03:04:05.000Z', finished: false, measurements: [] },
  },
};

describe('the page of measurements', () => {
  test('shows ours, the baseline, their ratio, the target and whether it was met', () => {
    const page = renderBenchPage(['a'], report);
    expect(page).toContain('Recorded on 2 cores, 8 GiB of memory, Neoverse-N1 (arm64), Node v24.0.0.\n');
    expect(page).toContain(
      [
        '## a',
        '',
        '2026-01-02',
        '',
        '| Measurement | Ours | Baseline | Ratio | Target | Met |',
        '|---|---:|---:|---:|---:|---|',
        '| quotes \\| bare | 654 requests/s | 1,000 requests/s | 0.654 | ≥ 0.7 | **no** |',
        '| memory | 200 MiB | – | – | ≤ 250 | yes |',
        '| refund | 261,001 gas | – | – | – | – |',
      ].join('\n'),
    );
  });

  test('a bench without figures is said to have none, and one that broke off to be incomplete', () => {
    const page = renderBenchPage(['b', 'c'], report);
    expect(page).toContain('## b\n\n2026-01-03; **ended by an error, figures are missing**\n');
    expect(page).toContain('## c\n\nNot recorded yet.\n');
    expect(page).not.toContain('## a');
  });

  test('without a report nothing is claimed', () => {
    const page = renderBenchPage(['a', 'b'], undefined);
    expect(page.match(/Not recorded yet\./g)).toHaveLength(3);
  });
});
