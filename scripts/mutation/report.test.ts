import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readEvidence } from '../../bench/frame/evidence.ts';
import { AREAS, SCORE_TARGET } from './areas.ts';
import { areaFigure, SURVIVORS, survivorSection, verdictOn, withSection } from './report.ts';
import type { Survivor } from './run-area.ts';
import { VERDICTS, type Verdict } from './verdicts.ts';

const survivor: Survivor = {
  file: 'packages/protocol/src/money/rate.ts',
  line: 7,
  mutator: 'EqualityOperator',
  original: 'a > b',
  replacement: 'a >= b',
  context: 'if (a > b) return;',
  covered: true,
};
const verdict: Verdict = {
  file: 'money/rate.ts',
  original: 'a > b',
  replacement: 'a >= b',
  verdict: 'equivalent',
  why: 'a | b differ always',
};

describe('the recorded mutation run', () => {
  test('has each area at its target, with a verdict on every survivor', () => {
    const figures = readEvidence('mutation')?.figures ?? [];
    const areas = figures.map(({ details }) => details.area);
    expect(areas).toEqual(expect.arrayContaining(['money', 'machines', 'matching', 'signatures']));
    for (const { value, details } of figures) {
      expect(Object.keys(AREAS)).toContain(details.area);
      expect(value, `${details.area}`).toBeGreaterThanOrEqual(SCORE_TARGET);
      expect(details.undecided, `${details.area}`).toBe(0);
    }
    expect(readFileSync(SURVIVORS, 'utf8')).not.toContain('undecided');
  });

  test('has no verdict on code that is gone', () => {
    const gone = VERDICTS.filter(({ file, original, on = '' }) => {
      const [path, another] = globSync(`{apps,backends,packages}/*/src/**/${file}`);
      const text = path === undefined || another !== undefined ? '' : readFileSync(path, 'utf8');
      return !text.includes(original) || !text.includes(on);
    });
    expect(gone).toEqual([]);
  });

  test('is of files and tests that exist', () => {
    for (const [name, { mutate, tests }] of Object.entries(AREAS)) {
      for (const pattern of [...mutate, ...tests].filter((one) => !one.startsWith('!'))) {
        expect(globSync(pattern).length, `${name}: ${pattern}`).toBeGreaterThan(0);
      }
    }
  });
});

describe('a mutation report', () => {
  test('counts what was noticed against all there is, equivalent ones included', () => {
    const { value, passed, details } = areaFigure(
      'money',
      { killed: 15, timedOut: 2, survivors: [survivor, { ...survivor, replacement: 'false' }] },
      [verdict],
    );
    expect([value, passed]).toEqual([89.5, true]);
    expect(details).toMatchObject({ mutants: 19, survived: 2, equivalent: 1, accepted: 0, undecided: 1 });
    expect(areaFigure('money', { killed: 4, timedOut: 0, survivors: [survivor] }, [verdict]).passed).toBe(
      false,
    );
  });

  test('has a verdict for the same change of the same code only', () => {
    expect(verdictOn(survivor, [verdict])).toBe(verdict);
    expect(verdictOn({ ...survivor, original: 'b > a' }, [verdict])).toBeUndefined();
    expect(verdictOn({ ...survivor, replacement: 'true' }, [verdict])).toBeUndefined();
    expect(verdictOn({ ...survivor, file: 'money/other.ts' }, [verdict])).toBeUndefined();
    expect(verdictOn(survivor, [{ ...verdict, on: 'return;' }])).toBeDefined();
    expect(verdictOn(survivor, [{ ...verdict, on: 'while' }])).toBeUndefined();
  });

  test('replaces an area’s survivors and keeps the others’', () => {
    const first = withSection('', 'money', survivorSection('money', [survivor], []));
    expect(first).toContain('rate.ts:7 | `a > b` | `a >= b` | **undecided**');
    const both = withSection(first, 'machines', survivorSection('machines', [], []));
    const after = withSection(both, 'money', survivorSection('money', [survivor], [verdict]));
    expect(after).toContain('equivalent | a \\| b differ always |');
    expect(after).not.toContain('undecided');
    expect(after.match(/^## /gm)).toHaveLength(2);
    expect(after).toContain('## machines\n\nNone.');
  });
});
