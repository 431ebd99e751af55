import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  type Advisory,
  type AdvisorySnapshot,
  advisoryFaults,
  checkAdvisories,
  readSnapshot,
} from './advisory-faults.ts';
import { askRegistry, versionsIn, withAnswer } from './registry-advisories.ts';

const WS: Advisory = {
  id: 'GHSA-test-ws',
  package: 'ws',
  vulnerable: '>=7.0.0 <7.5.10 || >=8.0.0 <8.17.1',
  severity: 'high',
  title: 'crashes',
};
const KNOWN: AdvisorySnapshot = { takenAt: '2026-01-01', source: 'a test', advisories: [WS] };

function lockOf(versions: Record<string, string>) {
  return { packages: Object.fromEntries(Object.entries(versions).map(([k, version]) => [k, { version }])) };
}

async function startRegistry(status: number, answer: unknown): Promise<{ url: string; asked: unknown[] }> {
  const asked: unknown[] = [];
  const server = createServer(async (request, response) => {
    asked.push([request.method, request.url, await json(request)]);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/npm`, asked };
}

describe('known advisories', () => {
  test('concern no package of the lock file', async () => {
    expect(await checkAdvisories()).toEqual([]);
  });

  test('are of packages by their whole name, and each is named once', async () => {
    const { advisories } = await readSnapshot();
    const keys = advisories.map((one) => `${one.package} ${one.id}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test.each([
    ['node_modules/ws', '7.4.6', true],
    ['node_modules/a/node_modules/ws', '8.17.0', true],
    ['node_modules/ws', '8.17.1-beta.1', true],
    ['node_modules/ws', '7.5.10', false],
    ['node_modules/ws', '8.21.0', false],
    ['node_modules/isows', '7.4.6', false],
    ['node_modules/@x/ws', '7.4.6', false],
  ])('%s %s is refused: %s', (path, version, isRefused) => {
    const faults = advisoryFaults(lockOf({ [path]: version }), KNOWN, []);
    expect(faults).toEqual(isRefused ? [expect.stringContaining(`${path} ${version} is in`)] : []);
  });

  test('are left out by an exception, which is dropped once it is not needed', () => {
    const exceptions = [{ id: WS.id, reason: 'only its client is used' }];
    expect(advisoryFaults(lockOf({ 'node_modules/ws': '7.4.6' }), KNOWN, exceptions)).toEqual([]);
    expect(advisoryFaults(lockOf({ 'node_modules/ws': '8.21.0' }), KNOWN, exceptions)).toEqual([
      expect.stringContaining('concerns no package'),
    ]);
  });

  test('with a range that cannot be read are refused, not passed over', () => {
    const snapshot = { ...KNOWN, advisories: [{ ...WS, vulnerable: 'all of them' }] };
    expect(advisoryFaults(lockOf({}), snapshot, [])).toEqual([expect.stringContaining('all of them')]);
  });
});

describe('npm run advisories', () => {
  test('asks for every version in the lock file and keeps what it knew before', async () => {
    const lock = lockOf({ 'node_modules/ws': '8.0.0', 'node_modules/a/node_modules/ws': '7.0.0' });
    const registry = await startRegistry(200, {
      ws: [
        {
          url: 'https://advisories.example/GHSA-new',
          title: 'leaks',
          severity: 'low',
          vulnerable_versions: '<9',
        },
      ],
    });
    const answered = await askRegistry(registry.url, lock);
    expect(registry.asked).toEqual([
      ['POST', '/npm/-/npm/v1/security/advisories/bulk', { ws: ['7.0.0', '8.0.0'] }],
    ]);
    const after = withAnswer(KNOWN, answered, '2026-02-02');
    expect(after.takenAt).toBe('2026-02-02');
    expect(after.advisories.map(({ id }) => id)).toEqual(['GHSA-new', 'GHSA-test-ws']);
    expect(advisoryFaults(lock, after, [])).toHaveLength(4);
    expect(withAnswer(after, [{ ...WS, vulnerable: '<1' }], '2026-02-03').advisories).toContainEqual({
      ...WS,
      vulnerable: '<1',
    });
  });

  test('fails where the registry serves packages only', async () => {
    const { url } = await startRegistry(405, {});
    await expect(askRegistry(url, lockOf({}))).rejects.toThrow('405');
  });

  test('asks about nothing that is a folder of this repository', () => {
    const packages = { '': { version: '1.0.0' }, 'apps/a': {}, 'node_modules/a': { link: true } };
    expect(versionsIn({ packages })).toEqual({});
  });
});
