import { describe, expect, test } from 'vitest';
import { type Installer, prepareBrowser, runForAWhile } from './install-browser.ts';

/** A machine with apt-get, whose commands are noted; installing a package puts its program there unless it fails. */
function aptMachine(traits: {
  offered?: readonly string[];
  offeredAfterUpdate?: readonly string[];
  programs?: readonly string[];
  isRoot?: boolean;
  platform?: string;
  installs?: boolean;
}): { installer: Installer; commands: string[]; said: string[] } {
  const commands: string[] = [];
  const said: string[] = [];
  const programs = new Set(traits.programs ?? ['/usr/bin/apt-get']);
  let offered = traits.offered ?? [];
  const installer: Installer = {
    isRoot: traits.isRoot ?? true,
    machine: {
      platform: traits.platform ?? 'linux',
      arch: 'arm64',
      chromePath: undefined,
      folders: ['/usr/bin'],
      isProgram: (path) => programs.has(path),
      runs: () => true,
    },
    say: (line) => said.push(line),
    unpack: async (found) => commands.push(`unpack ${JSON.stringify(found)}`),
    async run(command, args) {
      const name = args.at(-1) ?? '';
      commands.push(`${command} ${args[0]} ${args[0] === 'update' ? '' : name}`.trim());
      if (command === 'apt-cache') {
        return {
          ok: true,
          output: `${name}:\n  Candidate: ${offered.includes(name) ? '156.0' : '(none)'}\n`,
        };
      }
      if (args[0] === 'update') offered = traits.offeredAfterUpdate ?? offered;
      else if (traits.installs ?? true) programs.add(`/usr/bin/${name}`);
      else return { ok: false, output: 'Reading lists\nE: Unable to fetch some archives' };
      return { ok: true, output: '' };
    },
  };
  return { installer, commands, said };
}

describe('a browser for the tests', () => {
  test('is not installed where there is one, but made ready', async () => {
    const { installer, commands, said } = aptMachine({ programs: ['/usr/bin/apt-get', '/usr/bin/chromium'] });
    expect(await prepareBrowser(installer)).toBeUndefined();
    expect(commands).toEqual(['unpack {"from":"machine","executablePath":"/usr/bin/chromium"}']);
    expect(said).toEqual([]);
  });

  test('that cannot be made ready is left to the tests, which say why', async () => {
    const { installer } = aptMachine({ programs: ['/usr/bin/chromium'] });
    const full = { ...installer, unpack: () => Promise.reject(new Error('no space left')) };
    expect(await prepareBrowser(full)).toBeUndefined();
  });

  test('is installed by root on Debian, and one line says so', async () => {
    const { installer, commands, said } = aptMachine({ offered: ['chromium-headless-shell', 'chromium'] });
    expect(await prepareBrowser(installer)).toBeUndefined();
    expect(commands).toEqual([
      'apt-cache policy chromium-headless-shell',
      'apt-get install chromium-headless-shell',
    ]);
    expect(said).toEqual(['Installing chromium-headless-shell with apt-get, for the browser tests']);
  });

  test('is chromium where the small one is not offered', async () => {
    const { installer, commands } = aptMachine({ offered: ['chromium'] });
    expect(await prepareBrowser(installer)).toBeUndefined();
    expect(commands.at(-1)).toBe('apt-get install chromium');
  });

  test('is looked for again after the lists of packages were fetched', async () => {
    const { installer, commands } = aptMachine({ offeredAfterUpdate: ['chromium-headless-shell'] });
    expect(await prepareBrowser(installer)).toBeUndefined();
    expect(commands).toContain('apt-get update');
    expect(commands.at(-1)).toBe('apt-get install chromium-headless-shell');
  });

  test.each([
    ['somebody who is not root', { isRoot: false, offered: ['chromium'] }],
    ['a machine without apt-get', { programs: [], offered: ['chromium'] }],
    ['macOS', { platform: 'darwin', offered: ['chromium'] }],
  ])('is left to %s, who reads what to install', async (_name, traits) => {
    const { installer, commands } = aptMachine(traits);
    expect(await prepareBrowser(installer)).toContain('install chromium-headless-shell');
    expect(commands).toEqual([]);
  });

  test('that cannot be installed is missing, with the reason, and breaks nothing', async () => {
    const { installer } = aptMachine({ offered: ['chromium'], installs: false });
    expect(await prepareBrowser(installer)).toContain(
      'installing chromium failed: E: Unable to fetch some archives',
    );
    expect(await prepareBrowser(aptMachine({}).installer)).toContain('apt-get offers none');
  });
});

describe('a command that is run for a while', () => {
  test('is ended when its time is over, also where what it started goes on', async () => {
    const began = performance.now();
    const { ok, output } = await runForAWhile('sh', ['-c', 'echo begun; sleep 20 & sleep 20'], 300);
    expect({ ok, output }).toEqual({ ok: false, output: 'begun\n\nsh took longer than 0.3 s' });
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test('that does not exist is a failure', async () => {
    expect((await runForAWhile('no-such-program', [], 1_000)).ok).toBe(false);
  });
});
