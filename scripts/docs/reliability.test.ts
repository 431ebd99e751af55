import { describe, expect, test } from 'vitest';
import { figure } from '../../bench/frame/measurement.ts';
import { renderReliabilityPage } from './reliability.ts';

const run = { run: 'crash', title: 'Crashes', shows: 'Processes are killed.', shortRun: 'two kills.' };
const machine = { cores: 2, memoryGib: 24, processor: 'A processor', architecture: 'x64', node: 'v24.0.0' };

describe('the page of reliability runs', () => {
  test('a figure stands with its target, the command and the seed that repeat it', () => {
    const page = renderReliabilityPage([
      {
        ...run,
        findings: [{ found: 'a payout sent twice | once lost', mended: 'its key is unique' }],
        evidence: {
          run: 'crash',
          command: 'npm run crash -- 200',
          seed: '7',
          measuredAt: '2026-11-17T00:00:00.000Z',
          machine,
          figures: [
            figure({ name: 'lost', value: 0, unit: 'answers', better: 'lower', target: 0 }),
            figure({ name: 'resumed after', value: 9.5, unit: 's', better: 'lower', target: 5 }),
          ],
        },
      },
    ]);
    expect(page).toContain('| Crashes | lost | 0 answers | ≤ 0 | yes | `npm run crash -- 200` | 7 |');
    expect(page).toContain('|  | resumed after | 9.5 s | ≤ 5 | **no** |  |  |');
    expect(page).toContain('| a payout sent twice \\| once lost | its key is unique |');
  });

  test('a run without a record is said to have none', () => {
    const page = renderReliabilityPage([{ ...run, findings: [], evidence: undefined }]);
    expect(page).toContain('| Crashes | not recorded yet |');
    expect(page).toContain('Found so far: nothing.');
  });
});
