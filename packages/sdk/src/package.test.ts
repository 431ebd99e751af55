import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const SDK = join(import.meta.dirname, '..');
const ROOT = join(SDK, '../..');

/** Minified and compressed, as a page would load it. */
async function sizeOf(code: string): Promise<number> {
  const bundle = await rolldown({
    input: 'entry',
    platform: 'browser',
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? '\0entry' : null),
        load: (id) => (id === '\0entry' ? code : null),
      },
    ],
    resolve: {
      alias: {
        'sdk/signing': join(SDK, 'src/signing/index.ts'),
        'sdk/webhooks': join(SDK, 'src/webhooks/index.ts'),
        sdk: join(SDK, 'src/index.ts'),
      },
    },
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  expect(output).toHaveLength(1);
  const [{ code: text }] = output;
  expect(text, 'something of Node').not.toMatch(/from ?["']node:/);
  return gzipSync(text, { level: 9 }).length;
}

describe('sizes', () => {
  it.each([
    ['the client', `export { Causeway, isCausewayError } from 'sdk';`, 15_000],
    ['all of the core', `export * from 'sdk';`, 15_000],
    ['checking a webhook', `export { constructEvent } from 'sdk/webhooks';`, 1_500],
    ['signing with a vault or wallet', `export { signTransfer, kmsSigner } from 'sdk/signing';`, 24_000],
    ['nothing of it', `import 'sdk'; import 'sdk/webhooks';`, 60],
  ])('%s', async (_what, code, budget) => {
    expect(await sizeOf(code)).toBeLessThanOrEqual(budget);
  });
});

describe('the package as it is published', () => {
  let project: string;
  let installed: string;

  /** An empty project with the package's files unpacked where npm puts them. */
  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'causeway-sdk-'));
    const packed = join(project, 'packed');
    await run(process.execPath, [join(SDK, 'build.ts'), packed]);
    installed = join(project, 'node_modules/@causeway/sdk');
    await cp(packed, installed, { recursive: true });
    await cp(join(SDK, 'node_modules/@noble'), join(project, 'node_modules/@noble'), { recursive: true });
    await writeFile(join(project, 'package.json'), '{ "type": "module" }');
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  it('has at most two dependencies, no sources and nothing of ours besides', async () => {
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(2);
    expect(manifest.private).toBeUndefined();
    const files = await readdir(installed, { recursive: true });
    expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
    for (const file of files.filter((one) => /\.(d\.ts|js)$/.test(one))) {
      const text = await readFile(join(installed, file), 'utf8');
      expect(text, file).not.toMatch(/from ['"](?:\.[^'"]*\.ts|@causeway\/protocol|typebox|node:[^'"]*)['"]/);
    }
  });

  it('runs, and its types resolve in every way of resolving', async () => {
    await mkdir(join(project, 'src'));
    const code = `import { Causeway, isCausewayError, type Order } from '@causeway/sdk';
import { privateKeySigner, signTransfer, type Trust } from '@causeway/sdk/signing';
import { constructEvent, createTestEvent, type CausewayEvent } from '@causeway/sdk/webhooks';

const causeway = new Causeway({ baseUrl: 'http://127.0.0.1:9', apiKey: 'cw_test_1', maxRetries: 0 });
const failed: string = await causeway.orders.get('x').then((order: Order) => order.status, (error: unknown) => (isCausewayError(error) ? error.code : 'other'));
const { body, headers } = await createTestEvent('order.status.changed', { status: 'completed' }, { secret: 's' });
const event: CausewayEvent = await constructEvent(body, headers, 's');
if (event.event_type === 'order.status.changed') console.log(failed, event.data.status, privateKeySigner('0x' + '5a'.repeat(32)).address, typeof signTransfer);
// @ts-expect-error: a misspelt field is found.
export const wrong = () => causeway.users.create({ emial: 'ada@example.com' });
export const trust: Partial<Trust> = { chainId: 1 };
export const each = async () => { for await (const order of causeway.orders.list({ limit: 5 })) console.log(order.amounts.crypto_amount); };
`;
    await writeFile(join(project, 'src/main.mts'), code);
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const lib = ['--strict', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--types', ''];
    for (const [module, resolution] of [
      ['node16', 'node16'],
      ['nodenext', 'nodenext'],
      ['esnext', 'bundler'],
    ] as const) {
      const args = [
        tsc,
        ...lib,
        '--module',
        module,
        '--moduleResolution',
        resolution,
        '--outDir',
        'out',
        'src/main.mts',
      ];
      const { stdout } = await run(process.execPath, args, { cwd: project }).catch((error) => error);
      expect(stdout, resolution).toBe('');
    }
    const { stdout } = await run(process.execPath, ['out/main.mjs'], { cwd: project });
    expect(stdout).toMatch(/^CONNECTION_FAILED completed 0x[0-9a-fA-F]{40} function\n$/);
  });
});
