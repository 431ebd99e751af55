import { describe, expect, test } from 'vitest';
import { checkLicences, isAllowed, type LicenceException, licenceFaults } from './licence-faults.ts';

const none = () => undefined;
const MPL: LicenceException = {
  name: /^tool$/,
  licence: 'MPL-2.0',
  developmentOnly: true,
  reason: 'not passed on',
};

function lockOf(packages: Record<string, { license?: string; dev?: boolean; link?: boolean }>) {
  return { packages: { '': {}, 'apps/gateway': {}, ...packages } };
}

describe('licences', () => {
  test('of every package in the lock file are allowed', async () => {
    expect(await checkLicences()).toEqual([]);
  });

  test.each([
    ['a licence that asks for more', { license: 'GPL-3.0' }, 'is under GPL-3.0, which is not allowed'],
    ['no licence', {}, 'names no licence'],
  ])('a package with %s is refused', (_name, entry, fault) => {
    expect(licenceFaults(lockOf({ 'node_modules/a/node_modules/@x/planted': entry }), none, [])).toEqual([
      `node_modules/a/node_modules/@x/planted ${fault}`,
    ]);
  });

  test('a package that names its licence only in its own manifest is judged by that', () => {
    const lock = lockOf({ 'node_modules/old': {} });
    expect(licenceFaults(lock, () => 'MIT', [])).toEqual([]);
    expect(licenceFaults(lock, () => 'AGPL-3.0', [])).toHaveLength(1);
  });

  test('folders of this repository are not judged', () => {
    expect(licenceFaults(lockOf({ 'node_modules/@causeway/sdk': { link: true } }), none, [])).toEqual([]);
  });

  test('an exception holds for its licence and for development only, and is dropped once it is not needed', () => {
    const tool = (entry: { license: string; dev?: boolean }) =>
      licenceFaults(lockOf({ 'node_modules/tool': entry }), none, [MPL]);
    expect(tool({ license: 'MPL-2.0', dev: true })).toEqual([]);
    expect(tool({ license: 'MPL-2.0' })).toEqual([expect.stringContaining('a production install brings it')]);
    expect(tool({ license: 'GPL-2.0', dev: true })).toEqual([
      'node_modules/tool is under GPL-2.0, which is not allowed',
      expect.stringContaining('not needed'),
    ]);
    expect(tool({ license: 'MIT' })).toEqual([expect.stringContaining('not needed')]);
  });

  test.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0)', true],
    ['MIT or MPL-2.0', true],
    ['GPL-3.0 OR MIT', true],
    ['MIT AND GPL-3.0', false],
    ['Apache-2.0 AND MIT', true],
    ['(MIT OR GPL-3.0) AND Zlib', true],
    ['(GPL-3.0 AND MIT) OR MIT', true],
    ['MIT OR GPL-3.0 AND GPL-2.0', true],
    ['GPL-3.0 OR MIT AND GPL-2.0', false],
    ['(MIT', false],
    ['MIT )', false],
    ['SEE LICENSE IN LICENSE', false],
    ['mit', false],
    ['', false],
  ])('the expression %j is allowed: %s', (expression, allowed) => {
    expect(isAllowed(expression)).toBe(allowed);
  });
});
