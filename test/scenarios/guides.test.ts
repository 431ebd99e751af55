import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pickPort } from '../../apps/gateway/src/local/free-port.ts';
import {
  type GuideBlock,
  hidesCommand,
  isScript,
  isShell,
  pastingFaults,
  readBlocks,
} from '../harness/guide-blocks.ts';
import { installed } from '../harness/installed.ts';
import { COMPILED, type GatewayProcess, startProcess } from '../harness/process.ts';

/**
 * What the README and the guides show is run as it would be pasted: every block of a page in one shell, page by page, against
 * one fresh sandbox. In zsh where there is one; the README in bash besides, which is also its second time.
 */
const REPOSITORY = new URL('../..', import.meta.url).pathname;
const README = 'README.md';
const PAGES = [README, ...globSync('docs/guides/*.md', { cwd: REPOSITORY }).toSorted()];
const SHELL = hasProgram('zsh') ? 'zsh' : 'bash';
/** Pages that move the clock or switch simulated actors off are in the way of all others. */
const DISTURBING = /\/sandbox\/(clock|settings)/;
const AT_A_TIME = 3;
const PAGE_TIMEOUT_MS = 100_000;
/** Of the shell blocks; what cannot be run here should be rare. */
const MOST_NOT_RUN = 1 / 4;

const blocks = new Map<string, readonly GuideBlock[]>();
for (const page of PAGES) blocks.set(page, readBlocks(page, await readFile(join(REPOSITORY, page), 'utf8')));
const all = [...blocks.values()].flat();
const placeOf = ({ guide, line }: GuideBlock) => `${guide}:${line}`;
const pasted = (page: string) => (blocks.get(page) ?? []).filter(isRunHere);

function isRunHere(block: GuideBlock): boolean {
  return isShell(block) && block.notRun === undefined && block.needs.every(hasProgram);
}

function hasProgram(name: string): boolean {
  return installed(name).length > 0;
}

describe('blocks of the README and the guides', () => {
  it('fit every terminal: no taken names, comments, prompts or placeholders; a second time makes new customers', () => {
    const shells = all.filter((block) => isShell(block) && block.notRun === undefined);
    const faults = shells.flatMap((block) =>
      pastingFaults(block).map((fault) => `${placeOf(block)} ${fault}`),
    );
    expect(faults).toEqual([]);
  });

  it('say why where they are not run, which few are, and hide no command from it', () => {
    expect(all.filter(({ notRun }) => notRun !== undefined && notRun.length < 20).map(placeOf)).toEqual([]);
    expect(all.filter(hidesCommand).map(placeOf)).toEqual([]);
    const shells = all.filter(isShell);
    const left = shells.filter(({ notRun }) => notRun !== undefined);
    expect(left.length, left.map(placeOf).join('\n')).toBeLessThan(shells.length * MOST_NOT_RUN);
  });

  it('show code as it is in the file that they name', async () => {
    const shown = all.filter((block) => isScript(block) && block.shows !== undefined);
    expect(shown.length).toBeGreaterThan(0);
    for (const block of shown) {
      const file = await readFile(join(REPOSITORY, block.shows ?? ''), 'utf8');
      expect(file.includes(block.text), `${placeOf(block)} is ${block.shows}`).toBe(true);
    }
  });

  it('show code that can be loaded where it names no file', async () => {
    const alone = all.filter(
      (block) => isScript(block) && block.shows === undefined && block.notRun === undefined,
    );
    const folder = await mkdtemp(join(tmpdir(), 'causeway-guide-code-'));
    for (const [index, block] of alone.entries()) {
      const file = join(folder, `block-${index}.ts`);
      await writeFile(file, block.text);
      await expect(
        import(/* @vite-ignore */ pathToFileURL(file).href),
        placeOf(block),
      ).resolves.toBeDefined();
    }
    await rm(folder, { recursive: true });
  });
});

describe('the README and the guides', () => {
  const runs = new Map<string, Promise<void>>();
  let home: string;
  let sandbox: GatewayProcess;
  let metricsUrl: string;

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'causeway-guides-'));
    sandbox = startProcess({ CAUSEWAY_HOME: home, PORT: '0' });
    await sandbox.ready();
    metricsUrl = /Metrics +(\S+)\/metrics/.exec(sandbox.output())?.[1] ?? '';
    startRuns();
  }, 90_000);
  afterAll(async () => {
    await Promise.allSettled(runs.values());
    sandbox?.child.kill('SIGTERM');
    await sandbox?.exited;
    await rm(home, { recursive: true, force: true });
  });

  const runnable = PAGES.filter((page) => pasted(page).length > 0);

  /** Pages beside each other; afterwards, one by one, those that would disturb them. */
  function startRuns(): void {
    const disturbs = (page: string) => pasted(page).some(({ text }) => DISTURBING.test(text));
    // The longest first, so that none is waited for alone.
    const beside = runnable
      .filter((page) => !disturbs(page))
      .toSorted((left, right) => pasted(right).length - pasted(left).length);
    const waiting = [...beside];
    const lanes = Array.from({ length: AT_A_TIME }, () => startNext());
    let before: Promise<unknown> = Promise.all(lanes);
    for (const page of runnable.filter(disturbs)) {
      runs.set(
        page,
        Promise.resolve(before).then(() => runPage(page)),
      );
      before = Promise.allSettled([runs.get(page)]);
    }
    for (const run of runs.values()) run.catch(() => undefined);

    async function startNext(): Promise<void> {
      for (let page = waiting.shift(); page !== undefined; page = waiting.shift()) {
        runs.set(page, runPage(page));
        await Promise.allSettled([runs.get(page)]);
      }
    }
  }

  async function runPage(page: string): Promise<void> {
    await paste(page, SHELL);
    if (page === README) await paste(page, 'bash');
  }

  /** One shell for the whole page, which ends at the first command that fails. */
  async function paste(page: string, shell: string): Promise<void> {
    const script = pasted(page).map((block) => `echo '@ ${placeOf(block)}' >&2\n${block.text}`);
    const { PATH = '', HOME = '' } = process.env;
    const env = {
      ...{ PATH, HOME, NODE_COMPILE_CACHE: COMPILED, CAUSEWAY_HOME: home },
      // No profile that somebody has saved on this machine.
      CAUSEWAY_CONFIG_DIR: home,
      // Where a page names the usual port; picked now, so that nobody else has it when the page comes to it.
      ...{ METRICS_URL: metricsUrl, HOOK_PORT: String(await pickPort(undefined)) },
    };
    const options = { cwd: REPOSITORY, env, timeout: PAGE_TIMEOUT_MS, maxBuffer: 2 ** 26 };
    return new Promise((resolve, reject) => {
      execFile(shell, ['-c', `set -euo pipefail\n${script.join('\n')}`], options, (error, stdout, stderr) => {
        if (error === null) return resolve();
        const place = [...stderr.matchAll(/^@ (.*)$/gm)].at(-1)?.[1];
        const printed = `${stdout.slice(-1_500)}\n${stderr.slice(-1_500)}`;
        reject(new Error(`${place} failed in ${shell} (${error.code ?? error.signal}):\n${printed}`));
      });
    });
  }

  it.each(runnable)('%s runs as pasted', async (page) => {
    await expect.poll(() => runs.has(page), { timeout: PAGE_TIMEOUT_MS, interval: 50 }).toBe(true);
    await runs.get(page);
  });

  it('the table of metrics is what the program publishes', async () => {
    const response = await fetch(`${metricsUrl}/metrics`);
    const published = [...(await response.text()).matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(
      ([, name, type]) => `${name} ${type}`,
    );
    const guide = await readFile(join(REPOSITORY, 'docs/guides/observability.md'), 'utf8');
    const described = [...guide.matchAll(/^\| `(\w+)` \| (gauge|counter|histogram) \|/gm)].map(
      ([, name, type]) => `${name} ${type}`,
    );
    const own = published.filter((metric) => !/^(process|nodejs)_/.test(metric));
    expect(described.toSorted()).toEqual(own.toSorted());
  });
});
