import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type GuideBlock,
  hidesCommand,
  isScript,
  isShell,
  pastingFaults,
  readBlocks,
} from '../harness/guide-blocks.ts';
import { installed } from '../harness/installed.ts';
import { type GatewayProcess, startProcess } from '../harness/process.ts';

/**
 * What the README and the guides show is run as it would be pasted: every block of a page in one shell, page by page, against
 * one fresh sandbox. Each page twice, the second time in zsh where there is one, because a reader may begin again.
 */
const REPOSITORY = new URL('../..', import.meta.url).pathname;
const PAGES = ['README.md', ...globSync('docs/guides/*.md').toSorted()];
const [zsh] = installed('zsh');
const SHELLS = ['bash', zsh === undefined ? 'bash' : 'zsh'];
/** Pages that move the clock or switch simulated actors off are in the way of all others. */
const DISTURBING = /\/sandbox\/(clock|settings)/;
const AT_A_TIME = 3;
const PAGE_TIMEOUT_MS = 100_000;

const blocks = new Map<string, readonly GuideBlock[]>(
  await Promise.all(
    PAGES.map(async (page) => [page, readBlocks(page, await readFile(page, 'utf8'))] as const),
  ),
);
const all = [...blocks.values()].flat();
const isRunHere = (block: GuideBlock) =>
  isShell(block) && block.notRun === undefined && block.needs.every((program) => hasProgram(program));
const hasProgram = (name: string) => installed(name).length > 0;
const runnable = PAGES.filter((page) => blocks.get(page)?.some(isRunHere));
const placeOf = ({ guide, line }: GuideBlock) => `${guide}:${line}`;

describe('the README and the guides', () => {
  let home: string;
  let sandbox: GatewayProcess;
  let metricsUrl: string;
  const runs = new Map<string, Promise<string[]>>();

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'causeway-guides-'));
    sandbox = startProcess({ CAUSEWAY_HOME: home, PORT: '0' });
    await sandbox.ready();
    metricsUrl = /Metrics +(\S+)\/metrics/.exec(sandbox.output())?.[1] ?? '';
    startRuns();
  }, 90_000);
  afterAll(async () => {
    sandbox?.child.kill('SIGTERM');
    await sandbox?.exited;
    await rm(home, { recursive: true, force: true });
  });

  /** Pages beside each other; afterwards, one by one, those that would disturb them. */
  function startRuns(): void {
    const disturbs = (page: string) =>
      blocks.get(page)?.some((block) => isRunHere(block) && DISTURBING.test(block.text)) ?? false;
    const beside = runnable.filter((page) => !disturbs(page));
    const lanes = Array.from({ length: AT_A_TIME }, () => Promise.resolve<unknown>(undefined));
    for (const [index, page] of beside.entries()) {
      const lane = index % AT_A_TIME;
      runs.set(
        page,
        lanes[lane]!.then(() => runTwice(page)),
      );
      lanes[lane] = runs.get(page)!.catch(() => undefined);
    }
    let quiet = Promise.all(lanes).then(() => undefined as unknown);
    for (const page of runnable.filter(disturbs)) {
      runs.set(
        page,
        quiet.then(() => runTwice(page)),
      );
      quiet = runs.get(page)!.catch(() => undefined);
    }
    for (const run of runs.values()) run.catch(() => undefined);
  }

  async function runTwice(page: string): Promise<string[]> {
    const outputs: string[] = [];
    for (const shell of SHELLS) outputs.push(await runPage(page, shell));
    return outputs;
  }

  /** One shell for the whole page, which ends at the first command that fails. */
  function runPage(page: string, shell: string): Promise<string> {
    const pasted = (blocks.get(page) ?? []).filter(isRunHere);
    const script = pasted.map((block) => `echo '@ ${placeOf(block)}' >&2\n${block.text}`).join('\n');
    const { PATH = '', HOME = '' } = process.env;
    return new Promise((resolve, reject) => {
      execFile(
        shell,
        ['-c', `set -euo pipefail\n${script}`],
        {
          cwd: REPOSITORY,
          env: { PATH, HOME, CAUSEWAY_HOME: home, METRICS_URL: metricsUrl },
          timeout: PAGE_TIMEOUT_MS,
          maxBuffer: 2 ** 26,
        },
        (error, stdout, stderr) => {
          if (error === null) return resolve(stdout);
          const place = [...stderr.matchAll(/^@ (.*)$/gm)].at(-1)?.[1];
          reject(
            new Error(
              `${place} in ${shell}: ${error.message.slice(-400)}\n${stdout.slice(-1_500)}\n${stderr.slice(-1_500)}`,
            ),
          );
        },
      );
    });
  }

  it.each(runnable)('%s runs as pasted, twice', async (page) => {
    const outputs = await runs.get(page);
    expect(outputs).toHaveLength(2);
  });

  it('blocks fit every terminal: no taken names, comments, prompts or placeholders', () => {
    const faults = all
      .filter((block) => isShell(block) && block.notRun === undefined)
      .flatMap((block) => pastingFaults(block).map((fault) => `${placeOf(block)} ${fault}`));
    expect(faults).toEqual([]);
  });

  it('what is not run says why, and no command hides in a block without a language', () => {
    const unexplained = all.filter(({ notRun }) => notRun !== undefined && notRun.length < 15);
    expect(unexplained.map(placeOf)).toEqual([]);
    expect(all.filter(hidesCommand).map(placeOf)).toEqual([]);
    const left = all.filter(({ notRun }) => notRun !== undefined);
    const run = all.filter(isRunHere);
    expect(left.map(placeOf).join('\n'), 'few blocks are not run').not.toBe('');
    expect(left.length / run.length).toBeLessThan(0.4);
  });

  it('code that a guide shows is the code of the file it names', async () => {
    const shown = all.filter((block) => isScript(block) && block.shows !== undefined);
    expect(shown.length).toBeGreaterThan(0);
    for (const block of shown) {
      expect(await readFile(join(REPOSITORY, block.shows ?? ''), 'utf8'), placeOf(block)).toContain(
        block.text,
      );
    }
  });

  it('the guide to metrics names every metric of the program, with its labels', async () => {
    const response = await fetch(`${metricsUrl}/metrics`);
    const published = [...(await response.text()).matchAll(/^# TYPE (\w+) /gm)]
      .map(([, name]) => name as string)
      .filter((name) => !/^(process|nodejs)_/.test(name));
    const guide = await readFile('docs/guides/observability.md', 'utf8');
    const described = [...guide.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name as string);
    expect(described.toSorted()).toEqual(published.toSorted());
  });
});
