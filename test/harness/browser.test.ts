import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findBrowser, type Machine, madeWhole } from './browser.ts';

function machine(programs: readonly string[], traits: Partial<Machine> = {}): Machine {
  return {
    platform: 'linux',
    arch: 'arm64',
    chromePath: undefined,
    folders: ['/usr/local/bin', '/usr/bin'],
    isProgram: (path) => programs.includes(path),
    runs: () => true,
    ...traits,
  };
}

const at = (executablePath: string) => ({ from: 'machine', executablePath });

describe('the search for a browser', () => {
  test('takes CHROME_PATH before anything else, on any machine', () => {
    const given = { chromePath: '/opt/mine' };
    expect(findBrowser(machine(['/opt/mine', '/usr/bin/chromium'], given))).toEqual(at('/opt/mine'));
    expect(findBrowser(machine(['/opt/mine'], { ...given, arch: 'x64' }))).toEqual(at('/opt/mine'));
  });

  test('fails on a CHROME_PATH that leads nowhere rather than take another', () => {
    expect(() => findBrowser(machine(['/usr/bin/chromium'], { chromePath: '/opt/gone' }))).toThrow(
      'CHROME_PATH is /opt/gone',
    );
  });

  test.each([
    ['linux', 'x64', { from: 'npm' }],
    ['linux', 'arm64', undefined],
    ['darwin', 'x64', undefined],
    ['darwin', 'arm64', undefined],
  ])('takes the one from npm only where its processor is: %s %s', (platform, arch, expected) => {
    expect(findBrowser(machine([], { platform, arch }))).toEqual(expected);
  });

  test.each([
    'chromium',
    'chromium-browser',
    'chromium-headless-shell',
    'google-chrome',
    'google-chrome-stable',
  ])('finds an installed %s in any folder of PATH', (name) => {
    expect(findBrowser(machine([`/usr/bin/${name}`]))).toEqual(at(`/usr/bin/${name}`));
    expect(findBrowser(machine([`/usr/local/bin/${name}`]))).toEqual(at(`/usr/local/bin/${name}`));
    expect(findBrowser(machine([`/elsewhere/${name}`]))).toBeUndefined();
  });

  test('finds the applications of macOS, and only there', () => {
    const chrome = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
    expect(findBrowser(machine([chrome], { platform: 'darwin' }))).toEqual(at(chrome));
    expect(findBrowser(machine([chrome]))).toBeUndefined();
  });

  test('passes over a program that does not run, as a stand-in that only names a store', () => {
    const programs = ['/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
    const runs = (path: string) => path !== '/usr/bin/chromium-browser';
    expect(findBrowser(machine(programs, { runs }))).toEqual(at('/usr/bin/google-chrome'));
    expect(findBrowser(machine(['/usr/bin/chromium-browser'], { runs }))).toBeUndefined();
  });
});

describe('what comes with npm', () => {
  async function emptyFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'causeway-whole-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    return folder;
  }

  test('is whole when it is there, made by whoever was first of several at once', async () => {
    const parent = await emptyFolder();
    const folder = join(parent, 'browser');
    const begun: string[] = [];
    const fill = async (draft: string) => {
      begun.push(draft);
      await writeFile(join(draft, 'first'), '1');
      expect(await readdir(parent)).not.toContain('browser');
      while (begun.length < 2) await new Promise(setImmediate);
      await writeFile(join(draft, 'second'), '2');
    };
    await Promise.all([madeWhole(folder, fill), madeWhole(folder, fill)]);
    await madeWhole(folder, () => Promise.reject(new Error('made again')));
    expect(await readdir(parent)).toEqual(['browser']);
    expect(await readFile(join(folder, 'second'), 'utf8')).toBe('2');
  });

  test('is not there at all where it could not be made', async () => {
    const parent = await emptyFolder();
    const fails = madeWhole(join(parent, 'browser'), async (draft) => {
      await writeFile(join(draft, 'first'), '1');
      throw new Error('no space left');
    });
    await expect(fails).rejects.toThrow('no space left');
    expect(await readdir(parent)).toEqual([]);
  });
});
