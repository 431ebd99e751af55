import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { tokenByCode } from '../../apps/gateway/src/chain/chain-settings.ts';
import { checkChain } from '../../apps/gateway/src/chain/contracts/contract-check.ts';
import { openKeystore, sealKeystore } from '../../apps/gateway/src/chain/signers/keystore-signer.ts';
import {
  randomWallet,
  startTestChain,
  type TestChain,
  type TestWallet,
} from '../../apps/gateway/src/chain/testing/local-chain.ts';
import { startRpcProxy } from '../../apps/gateway/src/chain/testing/rpc-proxy.ts';
import { parseChainsFile } from '../../apps/gateway/src/config/chains-file.ts';
import { type DeployRequest, deployToChain } from '../../apps/gateway/src/deploy-contracts.ts';

const SLUG = 'test-chain';
const CHAIN_ID = 31_461;
const cheap = { n: 1_024, r: 8, p: 1 };

let chain: TestChain;
let folder: string;
let file: string;
let bare: `0x${string}` | undefined;
const deployer = randomWallet();
const treasury = randomWallet().address;

beforeAll(async () => {
  chain = await startTestChain(CHAIN_ID);
  await chain.control.setBalance({ address: deployer.address, value: 10n ** 18n });
});
afterAll(() => chain?.stop());
beforeEach(async () => {
  if (bare !== undefined) await chain.control.revert({ id: bare });
  bare = await chain.control.snapshot();
  folder = await mkdtemp(join(tmpdir(), 'causeway-deploy-'));
  file = join(folder, 'chains.json');
  return () => rm(folder, { recursive: true, force: true });
});

const usdc = () => tokenByCode(chain.settings, 'USDC').address;
const blockNumber = () => chain.client.getBlockNumber();
const entriesIn = async () => JSON.parse(await readFile(file, 'utf8'));

describe('the commands as an operator runs them', () => {
  it('make a key that only its password opens, print its address, and overwrite none', async () => {
    const keystore = join(folder, 'service.json');
    const made = await run('keys-new', [keystore]);
    const [text, password] = [
      await readFile(keystore, 'utf8'),
      await readFile(`${keystore}.password`, 'utf8'),
    ];
    const signer = await openKeystore(text, password.trim());
    expect(made).toEqual({ code: 0, output: `${signer.address}\n` });
    await expect(openKeystore(text, 'guessed')).rejects.toThrow('password');
    for (const path of [keystore, `${keystore}.password`])
      expect((await stat(path)).mode & 0o777).toBe(0o600);

    expect(await run('keys-new', [keystore])).toMatchObject({
      code: 1,
      output: expect.stringContaining('is there already'),
    });
    expect(await readFile(keystore, 'utf8')).toBe(text);
  });

  /** A process of its own, seen by what it prints and how it ends. */
  function run(script: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const path = new URL(`../../scripts/${script}.ts`, import.meta.url).pathname;
    return new Promise<{ code: number | null; output: string }>((resolve) => {
      const options = { env: { PATH: process.env.PATH ?? '', CHAINS_FILE: file, ...env } };
      const child = execFile(process.execPath, [path, ...args], options, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode, output: stdout + stderr }),
      );
    });
  }

  it('deploy with the key of a keystore, never print it, write the entry, and find everything right', async () => {
    const keystore = join(folder, 'deployer.json');
    await writeFile(keystore, await sealKeystore(deployer.privateKey, 'right', cheap));
    const key = (password: string) => ({
      DEPLOYER_KEYSTORE: keystore,
      DEPLOYER_KEYSTORE_PASSWORD: password,
      DEPLOY_RPC_URL: chain.settings.rpcUrl,
    });
    const flags = [
      ...['--chain', SLUG, '--token', `USDC=${usdc().toLowerCase()}`, '--treasury', treasury],
      ...['--public-rpc', 'https://node.example.com', '--confirmations', '3'],
    ];
    const [dry, unasked, shut, usage] = await Promise.all([
      run('contracts-deploy', [...flags, '--dry-run'], key('right')),
      run('contracts-deploy', flags, key('right')),
      run('contracts-deploy', [...flags, '--yes'], key('wrong')),
      run('contracts-deploy', []),
    ]);
    expect(dry).toMatchObject({ code: 0, output: expect.stringContaining('this was a dry run') });
    for (const words of ['router', 'to deploy', 'gas', 'It costs about', `${deployer.address} has 1`]) {
      expect(dry.output).toContain(words);
    }
    expect(unasked).toMatchObject({ code: 1, output: expect.stringContaining('Add --yes') });
    expect(shut).toMatchObject({ code: 1, output: expect.stringContaining('password') });
    expect(usage).toMatchObject({ code: 2, output: expect.stringContaining('--chain is missing') });
    await expect(stat(file)).rejects.toThrow('ENOENT');

    const done = await run('contracts-deploy', [...flags, '--yes'], key('right'));
    expect(done).toMatchObject({
      code: 0,
      output: expect.stringContaining('exactly the code of this build'),
    });
    for (const { output } of [dry, unasked, done]) expect(output).not.toContain(deployer.privateKey.slice(2));
    expect(parseChainsFile(await readFile(file, 'utf8')).problems).toBeUndefined();
    expect((await stat(file)).mode & 0o777).toBe(0o600);

    const [entry] = await entriesIn();
    const wrong = join(folder, 'wrong.json');
    const contracts = { ...entry.contracts, router: entry.contracts.forwarder };
    await writeFile(wrong, JSON.stringify([{ ...entry, contracts }]));
    const [check, json, none] = await Promise.all([
      run('contracts-check', ['--chain', SLUG]),
      run('contracts-check', ['--json', '--chains-file', wrong]),
      run('contracts-check', ['--rpc', chain.settings.rpcUrl]),
    ]);
    expect(check).toMatchObject({ code: 0, output: expect.stringContaining('All is as it should be') });
    expect(none).toMatchObject({ code: 0, output: expect.stringContaining(`chain ${CHAIN_ID}`) });
    const report = JSON.parse(json.output);
    expect([json.code, report.ok, report.chains[0].slug, report.chains[0].ok]).toEqual([
      1,
      false,
      SLUG,
      false,
    ]);
    const fault = { subject: `router ${contracts.router}`, ok: false, message: 'it is the forwarder' };
    expect(report.chains[0].checks).toContainEqual(fault);
  });
});

interface Attempt {
  readonly request?: Partial<DeployRequest>;
  readonly by?: TestWallet;
}

/** The same, within this process. Answers what it printed. */
async function deploy({ request = {}, by = deployer }: Attempt = {}): Promise<string> {
  const printed: string[] = [];
  await deployToChain(
    {
      ...{ slug: SLUG, rpcUrls: [], chainsFile: file, tokens: [] },
      ...{ dryRun: false, replace: false, anySymbol: false },
      ...request,
    },
    {
      deployer: by,
      listed: (slug) => (slug === 'base-mainnet' ? { chainId: 8_453, tokens: [] } : undefined),
      print: (text) => printed.push(text),
      confirm: async () => true,
      pollingMs: 10,
    },
  );
  return printed.join('\n');
}

const whole = (): Partial<DeployRequest> => ({
  rpcUrls: [chain.settings.rpcUrl],
  publicRpcUrl: 'https://node.example.com',
  confirmations: 3,
  tokens: [{ code: 'USDC', address: usdc() }],
  treasury,
});

describe('contracts:deploy', () => {
  it('sends nothing and leaves the file alone when everything is there', async () => {
    await deploy({ request: whole() });
    const before = [await blockNumber(), await readFile(file, 'utf8')];
    expect(await deploy()).toContain('nothing was sent');
    expect([await blockNumber(), await readFile(file, 'utf8')]).toEqual(before);
  });

  it('adds to a file and keeps what else is in it: other chains, fields and tokens, and its mode', async () => {
    await deploy({ request: whole() });
    const [ours] = await entriesIn();
    const other = { ...ours, slug: 'other-chain', chain_id: 7, note: 'kept' };
    await writeFile(file, JSON.stringify([other, { ...ours, quorum: 1 }]));
    await chmod(file, 0o640);
    const { address } = tokenByCode(chain.settings, 'USDT');
    await deploy({ request: { tokens: [{ code: 'USDT', address }], confirmations: 9 } });
    const tokens = [...ours.tokens, { code: 'USDT', address, decimals: 6 }];
    expect(await entriesIn()).toEqual([other, { ...ours, quorum: 1, confirmations: 9, tokens }]);
    expect((await stat(file)).mode & 0o777).toBe(0o640);
  });

  const refusals: [string, () => Partial<DeployRequest>, string][] = [
    ['a node that does not answer', () => ({ rpcUrls: ['http://127.0.0.1:1/secret'] }), 'ECONNREFUSED'],
    [
      'a slug of another chain',
      () => ({ slug: 'base-mainnet' }),
      `is chain 8453, and the node serves chain ${CHAIN_ID}`,
    ],
    [
      'an address without a token',
      () => ({ tokens: [{ code: 'USDC', address: treasury }] }),
      'nothing answers decimals()',
    ],
    [
      'a token of another name',
      () => ({ tokens: [{ code: 'USDT', address: usdc() }] }),
      'calls itself "USDC", not USDT',
    ],
    ['a token that is not listed', () => ({ tokens: [{ code: 'USDT' }] }), 'the listing has no USDT'],
    [
      'an address with a slip in it',
      () => ({ tokens: [{ code: 'USDC', address: slipped(usdc()) }] }),
      'its checksum is wrong',
    ],
    ['a treasury without a checksum', () => ({ treasury: treasury.toLowerCase() }), 'with its checksum'],
    ['a token as the treasury', () => ({ treasury: usdc() }), 'take a wallet'],
    ['no confirmations', () => ({ confirmations: 0 }), 'confirmations'],
  ];
  it.each(refusals)('refuses %s before anything is sent', async (_name, request, message) => {
    const before = await blockNumber();
    const error = await deploy({ request: { ...whole(), ...request() } }).catch((reason: Error) => reason);
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
    expect(String(error)).not.toContain('secret');
    expect(await blockNumber()).toBe(before);
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  it('refuses a deployer that cannot pay, and says how much to send to whom', async () => {
    const by = randomWallet();
    const short = new RegExp(`too little: send 0\\.\\d+ or more to ${by.address}`);
    await expect(deploy({ request: whole(), by })).rejects.toThrow(short);
    await expect(stat(file)).rejects.toThrow('ENOENT');
  });

  it('refuses a file that it could not add to, and leaves it as it is', async () => {
    await writeFile(file, '{ broken');
    await expect(deploy({ request: whole() })).rejects.toThrow('not valid JSON');
    expect(await readFile(file, 'utf8')).toBe('{ broken');
    const nowhere = { ...whole(), chainsFile: join(folder, 'missing', 'chains.json') };
    await expect(deploy({ request: nowhere })).rejects.toThrow('its folder is missing');
  });
});

/** Another case of one letter: the same bytes, a wrong checksum. */
function slipped(address: string): string {
  return address.replace(/[a-f](?=[^a-f]*$)|[A-F](?=[^A-F]*$)/, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

describe('contracts:check', () => {
  const wrongLines = async (change: (entry: Parameters<typeof checkChain>[0]) => object) => {
    const [entry] = parseChainsFile(await readFile(file, 'utf8')).chains ?? [];
    if (entry === undefined) throw new Error('the file has no chain');
    const results = await checkChain({ ...entry, ...change(entry) });
    return results.filter(({ ok }) => !ok).map(({ subject, message }) => `${subject}: ${message}`);
  };
  beforeEach(async () => {
    await deploy({ request: whole() });
  });

  it('finds nothing wrong after a deployment', async () => {
    expect(await wrongLines(() => ({}))).toEqual([]);
  });

  it('names a contract that is missing, decimals that differ and a node that is away, without its address', async () => {
    const found = await wrongLines(({ rpcUrl, contracts, tokens }) => ({
      rpcUrls: [rpcUrl, 'http://127.0.0.1:1/secret'],
      contracts: { ...contracts, safeSingleton: treasury },
      tokens: tokens.map((token) => ({ ...token, decimals: 18 })),
    }));
    expect(found).toEqual([
      'node 2: node 2 of test-chain is unavailable (ECONNREFUSED)',
      `Safe singleton ${treasury}: there is no contract`,
      `USDC ${usdc()}: has 6 decimals, and the chains file says 18`,
    ]);
  });

  it('notices a node that has thrown away the blocks, logs or states that are needed', async () => {
    const proxy = await startRpcProxy(chain.settings.rpcUrl);
    const missing = { error: { code: -32_000, message: 'pruned history unavailable' } };
    const withProxy = () => wrongLines(({ rpcUrl }) => ({ rpcUrls: [rpcUrl, proxy.url], confirmations: 2 }));
    expect(await withProxy()).toEqual([]);
    proxy.intercept = ({ method, params }) => {
      if (method === 'eth_getLogs') return missing;
      if (method === 'eth_getBlockByNumber' && params[0] === '0x0') return { result: null };
      return method === 'eth_getTransactionCount' && params[1] !== 'latest' ? missing : undefined;
    };
    expect(await withProxy()).toEqual([
      expect.stringMatching(
        /^node 2 history: does not give block 0 and the logs of block 0 and the state of block \d+$/,
      ),
    ]);
    await proxy.close();
  });

  it('notices a node of another chain, and then asks it nothing else', async () => {
    expect(await wrongLines(() => ({ chainId: 1 }))).toEqual([`node 1: serves chain ${CHAIN_ID}, not 1`]);
  });

  it('notices a router that trusts another forwarder', async () => {
    // The sandbox's own contracts stand on the same chain at other addresses.
    const { router, forwarder } = chain.settings.contracts;
    const found = await wrongLines(({ contracts }) => ({ contracts: { ...contracts, router } }));
    expect(found).toEqual([
      `router ${router}: a router of this build that trusts another forwarder (${forwarder})`,
      `router: trusts ${forwarder}, which is not the forwarder`,
    ]);
  });
});
