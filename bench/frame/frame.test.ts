import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { compareFigures } from './compare.ts';
import { measureOps } from './measure-ops.ts';
import { figure } from './measurement.ts';
import { describeMachine, readReport, renderTable } from './report.ts';
import { runBenches } from './run-benches.ts';
import { median, relativeSpread } from './statistics.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bench-frame-'));
  folders.push(folder);
  return folder;
}

describe('statistics', () => {
  test('the median is the middle by value, not by position or by spelling', () => {
    expect(median([10, 9, 100])).toBe(10);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([7])).toBe(7);
    expect(() => median([])).toThrow(RangeError);
  });

  test('the spread is the distance of the extremes over the median', () => {
    expect(relativeSpread([90, 100, 120])).toBeCloseTo(0.3);
  });
});

describe('targets', () => {
  test.each([
    ['higher', 0.8, 0.8, true],
    ['higher', 0.79, 0.8, false],
    ['lower', 1.2, 1.2, true],
    ['lower', 1.21, 1.2, false],
    ['higher', Number.NaN, 0, false],
    ['lower', Number.NaN, 0, false],
  ] as const)('%s is better: %d against %d passes: %s', (better, value, target, passed) => {
    expect(figure({ name: 'x', value, unit: 'ratio', better, target }).passed).toBe(passed);
  });

  test('a figure without a target neither passes nor fails', () => {
    expect(figure({ name: 'x', value: 1, unit: 'MiB', better: 'lower' })).toMatchObject({
      target: null,
      passed: null,
    });
  });
});

describe('measureOps', () => {
  test('counts operations by time, each with the next index', () => {
    const indexes: number[] = [];
    const busyFor = (ms: number) => {
      const end = performance.now() + ms;
      while (performance.now() < end);
    };
    const measured = measureOps({
      name: 'two milliseconds each',
      seconds: 0.3,
      rounds: 3,
      target: 10_000,
      run: (index) => {
        indexes.push(index);
        busyFor(2);
      },
    });
    // Never more than the busy wait allows, whatever else the machine does.
    expect(measured.value).toBeLessThanOrEqual(500);
    expect(measured.value).toBeGreaterThan(20);
    expect(measured.passed).toBe(false);
    expect(measured.details.rounds).toHaveLength(3);
    expect(indexes.slice(0, 3)).toEqual([0, 1, 2]);
  });
});

describe('compareFigures', () => {
  test('measures in turns that change places every round', async () => {
    const turns: string[] = [];
    const measure = (side: string) => async () => turns.push(side);
    await compareFigures({
      name: 'turns',
      baseline: measure('A'),
      candidate: measure('B'),
      sidesUnit: 'requests/s',
      rounds: 3,
      better: 'higher',
    });
    expect(turns.join('')).toBe('ABBAAB');
  });

  test('answers the median of the rounds’ ratios, so a drift of the machine cancels out', async () => {
    const figures = { baseline: [100, 200, 400], candidate: [90, 180, 100] };
    const compared = await compareFigures({
      name: 'drift',
      baseline: async () => figures.baseline.shift() ?? 0,
      candidate: async () => figures.candidate.shift() ?? 0,
      sidesUnit: 'requests/s',
      rounds: 3,
      better: 'higher',
      targetRatio: 0.9,
    });
    expect(compared).toMatchObject({ value: 0.9, unit: 'ratio', passed: true });
    expect(compared.details).toMatchObject({
      baselineMedian: 200,
      candidateMedian: 100,
      ratios: [0.9, 0.9, 0.25],
    });
  });

  test('a lower ratio is the better one for latencies', async () => {
    const compare = (candidate: number) =>
      compareFigures({
        name: 'p99',
        baseline: async () => 10,
        candidate: async () => candidate,
        sidesUnit: 'ms',
        rounds: 1,
        better: 'lower',
        targetRatio: 1.2,
      });
    expect((await compare(11)).passed).toBe(true);
    expect((await compare(13)).passed).toBe(false);
  });
});

describe('report', () => {
  const met = figure({ name: 'quotes', value: 1_234_567, unit: 'ops/s', better: 'higher', target: 1e6 });
  const missed = figure({ name: 'memory', value: 260.5, unit: 'MiB', better: 'lower', target: 250 });

  test('shows result, target and verdict of each measurement', () => {
    expect(renderTable([met, missed]).split('\n')).toEqual([
      'measurement  result           target       spread  verdict',
      'quotes       1,234,567 ops/s  ≥ 1,000,000          met',
      'memory       261 MiB          ≤ 250                MISSED',
    ]);
  });

  test('a figure gone wrong is shown as none, not as a number', () => {
    const wrong = { ...met, value: null as unknown as number, passed: false };
    expect(renderTable([wrong])).toContain('no figure ops/s');
  });

  test('the machine is described by what figures depend on, and by nothing that names it', () => {
    const described = JSON.stringify(describeMachine());
    expect(Object.keys(describeMachine())).toEqual([
      'cores',
      'memoryGib',
      'processor',
      'architecture',
      'node',
    ]);
    expect(described).toContain(process.version);
    expect(described).not.toContain(hostname());
  });
});

describe('runBenches', () => {
  const bench = (name: string, body: string) => [
    `${name}.bench.ts`,
    `export function run(report) { ${body} }`,
  ];
  const measured = (passed: boolean | null, name = 'm') =>
    `report.add(${JSON.stringify({ name, value: 1, unit: 'ratio', better: 'higher', target: 1, passed, details: {} })});`;

  const MACHINE = { cores: 2, memoryGib: 8, processor: 'P', architecture: 'arm64', node: 'v24.0.0' };

  interface Run {
    readonly args?: readonly string[];
    /** Of an earlier run, with its benches and its report. */
    readonly folder?: string;
    readonly machine?: typeof MACHINE;
  }

  async function runIn(
    files: string[][],
    { args = [], folder = emptyFolder(), machine = MACHINE }: Run = {},
  ) {
    for (const [name = '', text = ''] of files) writeFileSync(join(folder, name), text);
    const printed: string[] = [];
    const benches = pathToFileURL(`${folder}/`);
    const exitCode = await runBenches({
      benches,
      reports: new URL('reports/', benches),
      args,
      machine,
      now: () => new Date('2024-01-01T00:00:00Z'),
      print: (text) => printed.push(text),
    });
    const text = () => readFileSync(join(folder, 'reports', 'latest.json'), 'utf8');
    const figures = (name: string) => readReport(new URL('reports/', benches))?.benches[name]?.measurements;
    return { folder, exitCode, printed: printed.join('\n'), text, figures };
  }

  test('all targets met or only reported is a success', async () => {
    const { exitCode, text } = await runIn([bench('a', measured(true)), bench('b', measured(null))]);
    expect(exitCode).toBe(0);
    const saved = JSON.parse(text());
    expect(saved.machine).toEqual(MACHINE);
    expect(Object.keys(saved.benches)).toEqual(['a', 'b']);
  });

  test('one missed target fails the run, and the other benches still run', async () => {
    const { exitCode, figures } = await runIn([bench('a', measured(false)), bench('b', measured(true))]);
    expect(exitCode).toBe(1);
    expect(figures('b')).toHaveLength(1);
  });

  test('a bench that throws fails the run; what it measured is saved, its message is not', async () => {
    const throwing = bench('a', `${measured(true, 'before')} throw new Error('at /home/somebody');`);
    const { exitCode, printed, text } = await runIn([throwing]);
    expect(exitCode).toBe(1);
    expect(printed).toContain('/home/somebody');
    expect(JSON.parse(text()).benches.a.finished).toBe(false);
    expect(text()).toContain('before');
    for (const personal of ['somebody', hostname(), process.cwd()]) expect(text()).not.toContain(personal);
  });

  test('a bench that measures nothing fails the run', async () => {
    expect((await runIn([bench('a', '')])).exitCode).toBe(1);
  });

  test('names run the benches they are part of and keep the recorded figures of the others', async () => {
    const { folder } = await runIn([bench('money', measured(true, 'first'))]);
    const files = [bench('http', measured(true, 'second')), bench('quotes', measured(true, 'third'))];
    const { exitCode, figures } = await runIn(files, { args: ['htt', 'quotes'], folder });
    expect(exitCode).toBe(0);
    expect(['http', 'money', 'quotes'].map((name) => figures(name)?.[0]?.name)).toEqual([
      'second',
      'first',
      'third',
    ]);
  });

  test('a name that no bench has is an error that lists them, and nothing runs', async () => {
    const { exitCode, printed, figures } = await runIn([bench('money', measured(true))], {
      args: ['money', 'mony'],
    });
    expect(exitCode).toBe(2);
    expect(printed).toContain('there are: money');
    expect(figures('money')).toBeUndefined();
  });

  test('figures of two machines never stand in one report: some benches are only shown, all of them replace it', async () => {
    const { folder } = await runIn([bench('a', measured(true, 'old')), bench('b', measured(true, 'old b'))]);
    const machine = { ...MACHINE, cores: 64 };
    const some = await runIn([], { args: ['b'], folder, machine });
    expect(some.printed).toContain('another machine');
    expect(JSON.parse(some.text()).machine).toEqual(MACHINE);
    const all = await runIn([], { folder, machine });
    expect(JSON.parse(all.text())).toMatchObject({ machine, benches: { a: {}, b: {} } });
  });

  test('a bench that is no more leaves the report', async () => {
    const { folder } = await runIn([bench('gone', measured(true)), bench('kept', measured(true))]);
    rmSync(join(folder, 'gone.bench.ts'));
    const { text } = await runIn([], { folder });
    expect(Object.keys(JSON.parse(text()).benches)).toEqual(['kept']);
  });

  test('comparing records nothing, does not judge targets and fails on a regression only', async () => {
    // A module is loaded once: this one asks what to answer.
    const changing = bench(
      'a',
      `const value = globalThis.benchedRatio;
       const judged = { unit: 'ratio', better: 'higher', target: 9, passed: false };
       report.add({ name: 'm', value, ...judged, details: { ratios: [value, value, value] } });`,
    );
    const answer = (ratio: number) => Object.assign(globalThis, { benchedRatio: ratio });
    answer(1);
    const { folder, text, exitCode: missedTarget } = await runIn([changing]);
    expect(missedTarget).toBe(1);
    const recorded = text();
    answer(0.97);
    const noise = await runIn([], { args: ['--compare'], folder });
    expect([noise.exitCode, noise.text()]).toEqual([0, recorded]);
    answer(0.8);
    const worse = await runIn([], { args: ['a', '--compare'], folder });
    expect([worse.exitCode, worse.text()]).toEqual([1, recorded]);
    expect(worse.printed).toMatch(/m +1 ratio +0\.8 ratio +-20\.0 % +± 5\.0 % +REGRESSED/);
  });
});
