import { spawn } from 'node:child_process';
import {
  type FoundBrowser,
  findBrowser,
  type Machine,
  NO_BROWSER,
  programOf,
  thisMachine,
} from '../test/harness/browser.ts';

/**
 * A browser for the browser tests. Where the machine has none and lets us (root on Debian or Ubuntu), it is installed;
 * otherwise, or where that fails, the tests are skipped and the answer says why. Never fails a run, never hangs.
 */
export interface Installer {
  readonly machine: Machine;
  readonly isRoot: boolean;
  /** Makes the one that came with `npm ci` ready, before several tests want it at once. */
  unpack(found: FoundBrowser): Promise<unknown>;
  run(command: string, args: readonly string[], timeoutMs: number): Promise<{ ok: boolean; output: string }>;
  say(line: string): void;
}

const PACKAGES = ['chromium-headless-shell', 'chromium'];
const LOOK_MS = 20_000;
const UPDATE_MS = 90_000;
const INSTALL_MS = 240_000;
/** Another apt-get may be at work: waited for, but not for long. */
const LOCK_TIMEOUT = ['-o', 'DPkg::Lock::Timeout=30'];

/** Undefined where there is a browser in the end; otherwise why the tests that need one are skipped. */
export async function prepareBrowser(installer: Installer = thisInstaller()): Promise<string | undefined> {
  const { machine, isRoot } = installer;
  const found = findBrowser(machine);
  if (found !== undefined) {
    // Where it fails, the first test that wants a browser fails with the reason.
    await installer.unpack(found).catch(() => {});
    return undefined;
  }
  const hasApt = machine.folders.some((folder) => machine.isProgram(`${folder}/apt-get`));
  if (machine.platform !== 'linux' || !isRoot || !hasApt) return NO_BROWSER;
  const wanted = await availablePackage(installer);
  if (wanted === undefined) return `${NO_BROWSER} (apt-get offers none)`;
  installer.say(`Installing ${wanted} with apt-get, for the browser tests`);
  const args = ['install', '-y', '-qq', '--no-install-recommends', ...LOCK_TIMEOUT, wanted];
  const { ok, output } = await installer.run('apt-get', args, INSTALL_MS);
  if (findBrowser(machine) !== undefined) return undefined;
  const reason = ok ? 'it does not run' : (output.trim().split('\n').at(-1) ?? '');
  return `${NO_BROWSER} (installing ${wanted} failed: ${reason})`;
}

/** Asked before and after the lists are fetched: an image often comes without them. */
async function availablePackage(installer: Installer): Promise<string | undefined> {
  const found = await firstOffered(installer);
  if (found !== undefined) return found;
  await installer.run('apt-get', ['update', '-qq', ...LOCK_TIMEOUT], UPDATE_MS);
  return firstOffered(installer);
}

async function firstOffered({ run }: Installer): Promise<string | undefined> {
  for (const name of PACKAGES) {
    const { ok, output } = await run('apt-cache', ['policy', name], LOOK_MS);
    if (ok && /Candidate: (?!\(none\))\S/.test(output)) return name;
  }
  return undefined;
}

function thisInstaller(): Installer {
  return {
    machine: thisMachine(),
    isRoot: process.getuid?.() === 0,
    unpack: programOf,
    run: runForAWhile,
    say: (line) => process.stdout.write(`${line}\n`),
  };
}

/** Ends with the program or with the time, whichever is first; what it started may hold its pipes open for longer. */
export function runForAWhile(
  command: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, [...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const end = (ok: boolean, reason = '') => {
      clearTimeout(timer);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      child.unref();
      resolve({ ok, output: output + reason });
    };
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      end(false, `\n${command} took longer than ${timeoutMs / 1_000} s`);
    }, timeoutMs);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    child.once('error', (error) => end(false, error.message));
    child.once('exit', (code) => end(code === 0));
  });
}
