import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { EdgeVM } from '@edge-runtime/vm';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newerThanOldestNode } from '../../../test/harness/oldest-node.ts';
import {
  type InstalledPackages,
  installPacked,
  nodesToRunOn,
  packageProblems,
} from '../../../test/harness/packed-package.ts';

const run = promisify(execFile);
const SDK = join(import.meta.dirname, '..');
const ROOT = join(SDK, '../..');

/** A module that is no file; what it imports is looked for from where it would be one. */
function inMemory(name: string, code: string, path = `\0${name}`) {
  return {
    name,
    resolveId: (id: string) => (id === name ? path : null),
    load: (id: string) => (id === path ? code : null),
  };
}

/** Minified and compressed, as a page would load it. */
async function sizeOf(code: string): Promise<number> {
  const bundle = await rolldown({
    input: 'entry',
    platform: 'browser',
    plugins: [inMemory('entry', code)],
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
  let packed: InstalledPackages;
  let project: string;
  let installed: string;

  beforeAll(async () => {
    packed = await installPacked([SDK]);
    ({ project } = packed);
    installed = packed.folderOf('@causeway/sdk');
    await mkdir(join(project, 'src'));
    await writeFile(join(project, 'src/main.mts'), CONSUMER);
  }, 60_000);
  afterAll(() => packed?.remove());

  it('has at most two dependencies, no sources and nothing of ours besides', async () => {
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(2);
    expect(manifest.private).toBeUndefined();
    const files = await readdir(installed, { recursive: true });
    expect(files.filter((file) => /(?<!\.d)\.ts$/.test(file))).toEqual([]);
    for (const file of files.filter((one) => /\.(d\.ts|js)$/.test(one))) {
      const text = await readFile(join(installed, file), 'utf8');
      expect(newerThanOldestNode(text), file).toEqual([]);
      expect(text, file).not.toMatch(/from ['"](?:\.[^'"]*\.ts|@causeway\/protocol|typebox|node:[^'"]*)['"]/);
    }
  });

  it('has nothing that publint or the check of its types finds fault with', async () => {
    expect(await packageProblems(packed.tarballs.get('@causeway/sdk') ?? '')).toEqual([]);
  });

  it('runs on every Node from 20 on, and its types resolve in every way of resolving', async () => {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const lib = ['--strict', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--types', ''];
    const check = async (module: string, resolution: string, ...more: string[]) => {
      const how = ['--module', module, '--moduleResolution', resolution, ...more];
      const { stdout } = await run(process.execPath, [tsc, ...lib, ...how], { cwd: project }).catch(
        (error) => error,
      );
      expect(stdout, resolution).toBe('');
    };
    const pages = ['README.md', 'METHODS.md'].map((page) => join(installed, page));
    const examples = await pageExamples(pages, join(project, 'src'));
    await Promise.all([
      check('node16', 'node16', '--outDir', 'out', 'src/main.mts'),
      check('nodenext', 'nodenext', '--noEmit', 'src/main.mts'),
      check('esnext', 'bundler', '--noEmit', 'src/main.mts', ...examples),
    ]);
    await writeFile(join(project, 'required.cjs'), REQUIRED);
    const nodes = await nodesToRunOn();
    expect(nodes.map(({ program }) => program)).toContain(process.execPath);
    for (const { program, version } of nodes) {
      const { stdout } = await run(program, ['out/main.mjs'], { cwd: project });
      expect(stdout, version).toMatch(/^CONNECTION_FAILED completed 0x[0-9a-fA-F]{40} function\n$/);
      const required = await run(program, ['required.cjs'], { cwd: project });
      expect(required.stdout, version).toBe('function function function\n');
    }
  }, 60_000);

  it('runs where there is no Node: in an edge runtime it calls, checks a webhook and makes a signer', async () => {
    const seen: IncomingHttpHeaders[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ success: true, data: { corridors: [{ rails: ['pix'] }] } }));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const bundle = await rolldown({
      cwd: project,
      input: 'entry',
      platform: 'browser',
      plugins: [inMemory('entry', EDGE, join(project, 'edge.mjs'))],
    });
    const { output } = await bundle.generate({ format: 'iife', name: 'edge', exports: 'named' });
    await bundle.close();
    const vm = new EdgeVM();
    try {
      vm.evaluate(output[0].code);
      const told = await vm.evaluate(`edge.main('http://127.0.0.1:${port}')`);
      expect(JSON.parse(JSON.stringify(told))).toEqual({
        without: ['undefined', 'undefined', 'undefined'],
        rails: ['pix'],
        status: 'completed',
        forged: 'SIGNATURE_MISMATCH',
        address: '0x1a642f0E3c3aF545E7AcBD38b07251B3990914F1',
      });
      expect(seen.map((headers) => headers['x-api-key'])).toEqual(['cw_test_1']);
    } finally {
      server.close();
    }
  });
});

/** A program of a partner's, with one mistake that the types have to find. */
const CONSUMER = `import { Causeway, isCausewayError, type Order } from '@causeway/sdk';
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

/** Programs that are not modules have it by require, as Node allows since 20.19. */
const REQUIRED = `const { Causeway } = require('@causeway/sdk');
const { signTransfer } = require('@causeway/sdk/signing');
const { constructEvent } = require('@causeway/sdk/webhooks');
console.log(typeof Causeway, typeof signTransfer, typeof constructEvent);
`;

const EDGE = `import { Causeway } from '@causeway/sdk';
  import { privateKeySigner } from '@causeway/sdk/signing';
  import { constructEvent, createTestEvent } from '@causeway/sdk/webhooks';

export async function main(baseUrl) {
  const causeway = new Causeway({ baseUrl, apiKey: 'cw_test_1' });
  const { corridors } = await causeway.supported.corridors();
  const { body, headers } = await createTestEvent('order.status.changed', { status: 'completed' }, { secret: 's' });
  const event = await constructEvent(body, headers, 's');
  const forged = await constructEvent(body, headers, 'another').catch(({ code }) => code);
  return {
    without: [typeof process, typeof Buffer, typeof require],
    rails: corridors[0].rails,
    status: event.data.status,
    forged,
    address: privateKeySigner('0x' + '01'.repeat(32)).address,
  };
}
`;

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

/** Each example of the pages as a module of its own. */
async function pageExamples(pages: readonly string[], folder: string): Promise<string[]> {
  const texts = await Promise.all(pages.map((page) => readFile(page, 'utf8')));
  const blocks = texts.map((text) => [...text.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code));
  for (const examples of blocks) expect(examples.length).toBeGreaterThan(12);
  // What paths name is a text that the reader has.
  const paths = texts.flatMap((text) => text.match(/`[A-Z]+ \/\S+`$/gm) ?? []).join();
  const camelCase = (name: string) => name.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase());
  const named = new Set([...paths.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => camelCase(name)));
  const ids = [...named].filter((name) => name !== 'orderId').map((name) => `  var ${name}: string;\n`);
  await writeFile(join(folder, 'given.mts'), `${GIVEN}declare global {\n${ids.join('')}}\n`);
  const files = blocks.flat().map((code, at) => ({ file: join(folder, `example-${at}.mts`), code }));
  for (const { file, code } of files) {
    await writeFile(file, `import './given.mjs';\n${missingImports(code)}${code}\nexport {};\n`);
  }
  return files.map(({ file }) => file);
}

/** Short examples leave out what the first one of their page imports. */
function missingImports(code: string): string {
  const makesClient = code.includes('new Causeway(') && !code.includes("from '@causeway/sdk';");
  const client = makesClient ? "import { Causeway } from '@causeway/sdk';\n" : '';
  const [, sign = ''] = /await (sign(?:Transfer|Refund|Release|Bridge))\(/.exec(code) ?? [];
  if (sign === '' || code.includes(`from '@causeway/sdk/signing';`)) return client;
  const parameters = `declare const parameters: Parameters<typeof ${sign}>[0]['parameters'];\n`;
  return `${client}import { ${sign} } from '@causeway/sdk/signing';\n${parameters}`;
}
