import { execFile, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';

/** What a search for a browser needs to know of the machine. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** CHROME_PATH, where it is set. */
  readonly chromePath: string | undefined;
  /** The folders of PATH. */
  readonly folders: readonly string[];
  /** A program is there and may be run. */
  isProgram(path: string): boolean;
  /** It runs: Ubuntu has a chromium-browser that only says where to get one. */
  runs(path: string): boolean;
}

/** `npm` is the one that comes with `npm ci`, built for Linux on x64 only. */
export type FoundBrowser =
  | { readonly from: 'npm' }
  | { readonly from: 'machine'; readonly executablePath: string };

const NAMES = [
  'chromium',
  'chromium-browser',
  'chromium-headless-shell',
  'chrome-headless-shell',
  'google-chrome',
  'google-chrome-stable',
];
const MAC_PROGRAMS = ['Google Chrome', 'Chromium'].map(
  (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
);

export const NO_BROWSER =
  'no Chromium or Chrome here: install chromium-headless-shell, chromium or Google Chrome, or set CHROME_PATH';

/** Undefined where there is none; a CHROME_PATH that leads nowhere is a mistake, not an absence. */
export function findBrowser(machine: Machine): FoundBrowser | undefined {
  const { chromePath, platform, arch, folders } = machine;
  if (chromePath !== undefined && chromePath !== '') {
    if (!machine.isProgram(chromePath)) {
      throw new Error(`CHROME_PATH is ${chromePath}, where there is no program.`);
    }
    return { from: 'machine', executablePath: chromePath };
  }
  if (platform === 'linux' && arch === 'x64') return { from: 'npm' };
  const usual = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  const candidates = platform === 'darwin' ? [...MAC_PROGRAMS, ...usual] : usual;
  const executablePath = candidates.find((path) => machine.isProgram(path) && machine.runs(path));
  return executablePath === undefined ? undefined : { from: 'machine', executablePath };
}

export function thisMachine(): Machine {
  const { CHROME_PATH, PATH = '' } = process.env;
  return {
    platform: process.platform,
    arch: process.arch,
    chromePath: CHROME_PATH,
    folders: PATH.split(':').filter((folder) => folder !== ''),
    isProgram(path) {
      try {
        accessSync(path, constants.X_OK);
        return statSync(path).isFile();
      } catch {
        return false;
      }
    },
    runs: (path) => spawnSync(path, ['--version'], { timeout: 20_000, stdio: 'ignore' }).status === 0,
  };
}

const FLAGS = [
  // Without these Chromium asks for updates and lists of its own at every start, which a closed network refuses noisily.
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  // There is no screen: drawing as if for a graphics card costs more than the tests.
  '--disable-gpu',
];

/** A real browser without a window. */
export async function launchBrowser(found: FoundBrowser): Promise<Browser> {
  // Loaded here only: looking for a browser need not wait for them.
  const { chromium: playwright } = await import('playwright-core');
  return playwright.launch({ executablePath: await programOf(found), args: FLAGS });
}

/**
 * The package's own flags are left out: they switch off what a browser keeps pages of different origins apart by, and run
 * everything in one process, which ends with the first context that is closed.
 */
export async function programOf(found: FoundBrowser): Promise<string> {
  return found.from === 'machine' ? found.executablePath : unpackedFromNpm();
}

const PACKAGE = new URL('../../node_modules/@sparticuz/chromium/package.json', import.meta.url);
const UNPACK =
  "const { default: chromium } = await import('@sparticuz/chromium'); await chromium.executablePath();";
const run = promisify(execFile);

async function unpackedFromNpm(): Promise<string> {
  const { version } = JSON.parse(await readFile(PACKAGE, 'utf8')) as { version: string };
  const folder = join(tmpdir(), `causeway-chromium-${version}`);
  await madeWhole(folder, async (draft) => {
    const args = ['--input-type=module', '--eval', UNPACK];
    await run(process.execPath, args, { cwd: import.meta.dirname, env: { ...process.env, TMPDIR: draft } });
  });
  return join(folder, 'chromium');
}

/**
 * A folder that is filled elsewhere and moved to its place when it is whole. The package itself takes for a browser what is
 * there under its name, be it one that another process is still writing, or whose writer was killed.
 */
export async function madeWhole(folder: string, fill: (draft: string) => Promise<void>): Promise<void> {
  if (existsSync(folder)) return;
  const draft = await mkdtemp(`${folder}-`);
  try {
    await fill(draft);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    // Another process was first.
    if (!existsSync(folder)) throw error;
  }
}
