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
    const check = async (module: string, resolution: string, ...more: string[]) => {
      const how = ['--module', module, '--moduleResolution', resolution, ...more];
      const { stdout } = await run(process.execPath, [tsc, ...lib, ...how], { cwd: project }).catch(
        (error) => error,
      );
      expect(stdout, resolution).toBe('');
    };
    const examples = await readmeExamples(join(installed, 'README.md'), join(project, 'src'));
    await Promise.all([
      check('node16', 'node16', '--outDir', 'out', 'src/main.mts'),
      check('esnext', 'bundler', '--noEmit', 'src/main.mts', ...examples),
    ]);
    const { stdout } = await run(process.execPath, ['out/main.mjs'], { cwd: project });
    expect(stdout).toMatch(/^CONNECTION_FAILED completed 0x[0-9a-fA-F]{40} function\n$/);
  });
});

/** Names that the README's examples use as a reader would have them. */
const GIVEN = `import type { Causeway as Client, CausewayEvent as Event, Order, OrderFunds, OnrampQuoteRequest, RefundAuthorizationParameters, BridgeAuthorizationParameters, TransferAuthorizationParameters } from '@causeway/sdk';
  import type { EscrowOwners, Signer, Trust } from '@causeway/sdk/signing';
declare global {
  type CausewayEvent = Event;
  var causeway: Client, order: Order, orderId: string, savedCursor: string, request: OnrampQuoteRequest, trust: Trust, signer: Signer;
  var owners: NonNullable<OrderFunds['escrow']>['owners'], typedOwners: EscrowOwners, parameters: TransferAuthorizationParameters;
  var refund: RefundAuthorizationParameters, release: RefundAuthorizationParameters, bridge: BridgeAuthorizationParameters;
  var destination: { destination_chain: string; destination_address: string };
  var viemAccount: { address: string; signTypedData(parameters: object): Promise<string> }, browserWallet: { request(call: object): Promise<unknown> };
  var ethersWallet: { getAddress(): Promise<string>; signTypedData(domain: object, types: object, value: object): Promise<string> };
  var vault: { sign(digest: Uint8Array): Promise<Uint8Array> }, rawBody: string, headers: Headers, webhookSecret: string, newSecret: string, oldSecret: string, webRequest: Request;
  var readFile: (path: string, encoding: 'utf8') => Promise<string>;
  var queue: { add(event: Event): Promise<void> }, createServer: (handler: (request: any, response: any) => unknown) => { listen(port: number): void };
  var expressApp: { post(path: string, handler: (request: any, response: any) => unknown): void }, honoApp: { post(path: string, handler: (context: any) => unknown): void };
  var fastifyApp: { register(plugin: (app: any) => Promise<void>): Promise<void> }, options: { secret: string; onEvent(event: Event): void };
  var redis: { set(key: string, value: string, options: object): Promise<string | null>; get(key: string): Promise<string | null>; del(key: string): Promise<number> };
}
`;

/** Each example of the README as a module of its own. */
async function readmeExamples(readme: string, folder: string): Promise<string[]> {
  const examples = [...(await readFile(readme, 'utf8')).matchAll(/```ts\n(.*?)```/gs)].map(
    ([, code = '']) => code,
  );
  expect(examples.length).toBeGreaterThan(12);
  await writeFile(join(folder, 'given.mts'), GIVEN);
  const files = examples.map((code, at) => ({ file: join(folder, `readme-${at}.mts`), code }));
  for (const { file, code } of files) {
    const isNew = code.includes('new Causeway(') && !code.includes("from '@causeway/sdk';");
    const imports = isNew ? "import { Causeway } from '@causeway/sdk';\n" : '';
    await writeFile(file, `import './given.mjs';\n${imports}${code}\nexport {};\n`);
  }
  return files.map(({ file }) => file);
}
