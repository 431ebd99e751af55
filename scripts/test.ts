import { spawn } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { checkAdvisories } from './advisory-faults.ts';
import { checkCitations } from './citations.ts';
import { checkDocs } from './docs.ts';
import { prepareBrowser } from './install-browser.ts';
import { checkLicences } from './licence-faults.ts';
import { checkLock } from './lock-faults.ts';
import { collectRules } from './rules.ts';

/**
 * Everything a change must pass, in the order in which it fails fastest. Each check counts as one, each test as one; the
 * last line says how many passed, failed and were skipped. Nothing is skipped but the browser tests where there is no browser.
 *
 * `npm test` runs all of it; `npm test -- types lint` runs the steps named.
 */
interface Step {
  readonly name: string;
  run(): Promise<Tally>;
}

interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const REPORT = '.cache/vitest.json';
const PASSED: Tally = { passed: 1, failed: 0, skipped: 0 };
const FAILED: Tally = { passed: 0, failed: 1, skipped: 0 };

/** Checks that need nothing but the files: they share the cores. */
const CHECKS: readonly Step[] = [
  command('format and lint', 'biome', ['check', '--error-on-warnings', '.']),
  command('types', 'tsc', ['--noEmit']),
  command('types in a browser', 'tsc', ['--noEmit', '-p', 'packages/protocol']),
  command('types of the SDK in a browser', 'tsc', ['--noEmit', '-p', 'packages/sdk']),
  command('types of the widget', 'tsc', ['--noEmit', '-p', 'apps/widget']),
  command('types of the console', 'tsc', ['--noEmit', '-p', 'apps/console']),
  command('types of the widget’s package', 'tsc', ['--noEmit', '-p', 'packages/widget']),
  command('boundaries', 'depcruise', [
    '--config',
    '.dependency-cruiser.cjs',
    ...['apps', 'backends', 'packages', 'contracts', 'test', 'bench', 'scripts'],
  ]),
  command('unused code', 'knip', []),
  { name: 'generated docs current', run: docsAreCurrent },
  { name: 'citations resolve', run: citationsResolve },
  { name: 'every rule has its test', run: rulesHaveTests },
  { name: 'lock file for every platform', run: lockHasNoFaults },
  { name: 'licences and known advisories', run: packagesAreSound },
];

/** What went wrong in the tests, told once more at the end: a log is often kept from its end only. */
const failures: string[] = [];

/** One run: the long files that need servers leave gaps, which the quick ones fill. */
const TESTS: Step = { name: 'tests', run: runTests };

async function main(): Promise<void> {
  const wanted = process.argv.slice(2);
  const isWanted = ({ name }: Step) => wanted.length === 0 || wanted.some((word) => name.includes(word));
  const browser = isWanted(TESTS) ? prepareBrowser() : undefined;
  const done = await Promise.all(CHECKS.filter(isWanted).map(timed));
  const withoutBrowser = await browser;
  if (isWanted(TESTS)) done.push(await timed(TESTS));
  for (const failure of failures) process.stdout.write(`\n${failure}\n`);
  const sum = (of: keyof Tally) => done.reduce((total, { tally }) => total + tally[of], 0);
  process.stdout.write(`\n${done.map(({ line }) => line).join('\n')}\n\n`);
  if (withoutBrowser !== undefined) process.stdout.write(`Browser tests skipped: ${withoutBrowser}\n`);
  const skipped = sum('skipped') === 0 ? '' : `, ${sum('skipped')} skipped`;
  process.stdout.write(`${sum('passed')} passed, ${sum('failed')} failed${skipped}\n`);
  process.exitCode = sum('failed') === 0 && sum('passed') > 0 ? 0 : 1;
}

async function timed(step: Step): Promise<{ tally: Tally; line: string }> {
  const started = performance.now();
  const tally = await step.run();
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  return { tally, line: `${tally.failed === 0 ? 'ok  ' : 'FAIL'}  ${seconds.padStart(6)} s  ${step.name}` };
}

function command(name: string, program: string, args: readonly string[]): Step {
  return { name, run: async () => ((await execute(program, args)) === 0 ? PASSED : FAILED) };
}

async function runTests(): Promise<Tally> {
  await mkdir('.cache', { recursive: true });
  await rm(REPORT, { force: true });
  const code = await execute('vitest', ['run']);
  const tally = await readTally();
  // A run that broke outside of any test is a failure of its own.
  return code !== 0 && tally.failed === 0 ? { ...tally, failed: 1 } : tally;
}

interface TestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

async function readTally(): Promise<Tally> {
  try {
    const report = JSON.parse(await readFile(REPORT, 'utf8')) as TestReport;
    failures.push(...failuresOf(report));
    return { passed: report.numPassedTests, failed: report.numFailedTests, skipped: report.numPendingTests };
  } catch {
    return FAILED;
  }
}

/** The tests that failed, and files that failed outside of their tests, such as in a hook. */
function failuresOf({ testResults }: TestReport): string[] {
  return testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, message, assertionResults }) => {
      const file = relative('.', name);
      const failed = assertionResults.filter(({ status }) => status === 'failed');
      const tests = failed.map(
        (test) => `FAIL  ${file} > ${test.fullName}\n${excerpt(test.failureMessages.join('\n'))}`,
      );
      return message === '' ? tests : [...tests, `FAIL  ${file}\n${excerpt(message)}`];
    });
}

function excerpt(message: string): string {
  return stripVTControlCharacters(message).split('\n').slice(0, 25).join('\n');
}

async function docsAreCurrent(): Promise<Tally> {
  const stale = await checkDocs();
  for (const file of stale) process.stdout.write(`${file} is not current: run npm run docs\n`);
  return stale.length === 0 ? PASSED : FAILED;
}

async function citationsResolve(): Promise<Tally> {
  const faults = await checkCitations();
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  return faults.length === 0 ? PASSED : FAILED;
}

async function rulesHaveTests(): Promise<Tally> {
  const { faults } = collectRules();
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  return faults.length === 0 ? PASSED : FAILED;
}

async function lockHasNoFaults(): Promise<Tally> {
  const faults = await checkLock();
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  return faults.length === 0 ? PASSED : FAILED;
}

async function packagesAreSound(): Promise<Tally> {
  const faults = [...(await checkLicences()), ...(await checkAdvisories())];
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  return faults.length === 0 ? PASSED : FAILED;
}

function execute(program: string, args: readonly string[]): Promise<number> {
  return new Promise((settle) => {
    const child = spawn(program, [...args], {
      stdio: ['ignore', 'inherit', 'inherit'],
      // For the many processes that tests start; `npm start` has the same. Absolute: some of them start elsewhere.
      env: { ...process.env, NODE_COMPILE_CACHE: resolve('node_modules/.cache/causeway') },
    });
    child.once('error', (error) => {
      process.stdout.write(`${program}: ${error.message}\n`);
      settle(1);
    });
    child.once('exit', (code) => settle(code ?? 1));
  });
}

await main();
