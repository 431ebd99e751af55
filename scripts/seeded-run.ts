import { spawn } from 'node:child_process';

/**
 * Many more rounds of the randomised tests than a test run has. Each takes its arguments in the order of `args`; where one
 * is a seed it is printed, and the same seed repeats a run.
 *
 * npm run fuzz [-- requests [seed]], reconciliation [-- seed [orders]], races [-- rounds [seed]], model [-- runs [seed [minutes at most]]],
 * histories [-- count [seed]], crash [-- kills [database stops [chain stops [seed]]]], toxics [-- seed]
 */
interface SeededRun {
  readonly tests: string;
  /** Variable of the environment and default, by the argument's name. */
  readonly args: Readonly<Record<string, readonly [variable: string, fallback: string]>>;
}

const SEED = String(Math.floor(Math.random() * 2 ** 31));
const RUNS: Readonly<Record<string, SeededRun>> = {
  fuzz: {
    tests: 'test/invariants/fuzz.test.ts',
    args: { requests: ['FUZZ_REQUESTS', '100000'], seed: ['FUZZ_SEED', SEED] },
  },
  reconciliation: {
    tests: 'test/faults/reconciliation.test.ts',
    args: { seed: ['RECONCILIATION_SEED', SEED], orders: ['RECONCILIATION_ORDERS', '40'] },
  },
  races: { tests: 'test/races', args: { rounds: ['RACE_ROUNDS', '1000'], seed: ['RACE_SEED', SEED] } },
  model: {
    tests: 'test/model',
    args: { runs: ['MODEL_RUNS', '10000'], seed: ['MODEL_SEED', SEED], minutes: ['MODEL_MINUTES', '0'] },
  },
  histories: {
    tests: 'test/histories',
    args: { count: ['HISTORIES', '1000'], seed: ['HISTORIES_SEED', SEED] },
  },
  crash: {
    tests: 'test/faults/crash.test.ts',
    args: {
      kills: ['CRASH_KILLS', '200'],
      'database stops': ['CRASH_DATABASE_STOPS', '50'],
      'chain stops': ['CRASH_CHAIN_STOPS', '50'],
      seed: ['CRASH_SEED', SEED],
    },
  },
  toxics: { tests: 'test/faults/toxics.test.ts', args: { seed: ['TOXICS_SEED', SEED] } },
};

const [name = '', ...given] = process.argv.slice(2);
const run = RUNS[name];
if (run === undefined)
  throw new Error(`no run is called "${name}"; there are: ${Object.keys(RUNS).join(', ')}`);
const chosen = Object.entries(run.args).map(([arg, [variable, fallback]], index) => ({
  arg,
  variable,
  value: given[index] ?? fallback,
}));
process.stdout.write(`${name}: ${chosen.map(({ arg, value }) => `${arg} ${value}`).join(', ')}\n`);
const child = spawn('vitest', ['run', run.tests], {
  stdio: 'inherit',
  env: { ...process.env, ...Object.fromEntries(chosen.map(({ variable, value }) => [variable, value])) },
});
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
