import {
  concatHex,
  getAddress,
  getContractAddress,
  type Hex,
  pad,
  recoverTransactionAddress,
  type TransactionSerializedLegacy,
} from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ChainContracts } from '../chain-settings.ts';
import { createChainClient } from '../rpc/chain-client.ts';
import { randomWallet, startTestChain, type TestChain, type TestWallet } from '../testing/local-chain.ts';
import { type RpcProxy, startRpcProxy } from '../testing/rpc-proxy.ts';
import { DeploymentError, deployContracts } from './contract-deployment.ts';
import {
  CONTRACT_ROLES,
  type Create2Factory,
  expectedCode,
  FACTORY_CODE,
  judgeCode,
  KEYLESS_FACTORY,
  SAFE_FACTORY,
} from './contract-plan.ts';
import { coins, estimateDeployment, faultsOf, surveyContracts } from './contract-survey.ts';

const CHAIN_ID = 31_451;
const fast = { pollingMs: 10, timeoutMs: 5_000 };
/** What is paid to the sender of a keyless factory: 100,000 gas at 100 gwei. */
const FACTORY_COST_WEI = 10n ** 16n;

let chain: TestChain;
let proxy: RpcProxy;
let bare: Hex;

beforeAll(async () => {
  chain = await startTestChain(CHAIN_ID);
  proxy = await startRpcProxy(chain.settings.rpcUrl);
});
afterAll(async () => {
  await proxy?.close();
  await chain?.stop();
});
beforeEach(async () => {
  // Every test begins with a chain on which nothing but the sandbox's own contracts stands.
  if (bare !== undefined) await chain.control.revert({ id: bare });
  bare = await chain.control.snapshot();
  proxy.intercept = () => undefined;
  proxy.asked.length = 0;
});

const throughProxy = () =>
  createChainClient({ slug: 'test-chain', chainId: CHAIN_ID, rpcUrl: proxy.url }, { pollingInterval: 20 });

async function deployer(etherWei = 10n ** 18n): Promise<TestWallet> {
  const wallet = randomWallet();
  await chain.control.setBalance({ address: wallet.address, value: etherWei });
  return wallet;
}

/** The well-known factory is part of a local chain; another signature gives the same one another sender and address. */
async function anotherKeylessFactory(): Promise<Required<Create2Factory>> {
  const transaction = KEYLESS_FACTORY.presigned?.transaction.replace(/(22){32}(?=a0)/, '33'.repeat(32));
  const sender = await recoverTransactionAddress({
    serializedTransaction: transaction as TransactionSerializedLegacy,
  });
  const address = getContractAddress({ from: sender, nonce: 0n });
  return { address, presigned: { sender, transaction: transaction as Hex } };
}

const sentBy = ({ address }: TestWallet) => chain.client.getTransactionCount({ address });

describe('the factory', () => {
  test('that is built in is the well-known one: sender and address follow from its transaction, the code is that on chain', async () => {
    const { address, presigned } = KEYLESS_FACTORY;
    const serializedTransaction = presigned?.transaction as TransactionSerializedLegacy;
    const sender = await recoverTransactionAddress({ serializedTransaction });
    expect(sender).toBe(presigned?.sender);
    expect(getContractAddress({ from: sender, nonce: 0n })).toBe(address);
    expect(await chain.client.getCode({ address })).toBe(FACTORY_CODE);
  });

  test('is put on a chain that lacks it by its presigned transaction, and everything else through it', async () => {
    const wallet = await deployer();
    const factory = await anotherKeylessFactory();
    const survey = await surveyContracts(chain.client, { factory });
    expect(survey.missing).toHaveLength(6);
    expect(survey.missingFactories).toEqual([factory]);
    const cost = await estimateDeployment(chain.client, survey);

    await deployContracts(chain.client, wallet, survey.missing, fast);
    expect(await chain.client.getCode({ address: factory.address })).toBe(FACTORY_CODE);
    expect(await faultsOf(chain.client, survey.contracts)).toEqual([]);
    const spent = 10n ** 18n - (await chain.client.getBalance({ address: wallet.address }));
    expect(spent).toBeGreaterThan(FACTORY_COST_WEI);
    expect(spent).toBeLessThanOrEqual(cost.atMostWei);
    expect((await surveyContracts(chain.client, { factory })).missing).toEqual([]);
  });

  test('is explained where the node refuses transactions without a chain id, and its sender is paid only once', async () => {
    const wallet = await deployer();
    const factory = await anotherKeylessFactory();
    proxy.intercept = ({ method, params }) =>
      method === 'eth_sendRawTransaction' && params[0] === factory.presigned.transaction
        ? {
            error: {
              code: -32_000,
              message: 'only replay-protected (EIP-155) transactions allowed over RPC',
            },
          }
        : undefined;
    const { missing } = await surveyContracts(chain.client, { factory });
    for (const attempt of [1, 2]) {
      const refused = deployContracts(throughProxy(), wallet, missing, fast);
      await expect(refused, `attempt ${attempt}`).rejects.toThrow(/replay-protected.*allow-unprotected-txs/s);
    }
    expect(await chain.client.getBalance({ address: factory.presigned.sender })).toBe(FACTORY_COST_WEI);
    expect(await sentBy(wallet)).toBe(1);

    await deployContracts(chain.client, wallet, missing, fast);
    expect((await surveyContracts(chain.client, { factory })).missing).toEqual([]);
  });

  test('is refused where something else stands at its address', async () => {
    const factory = await anotherKeylessFactory();
    await chain.control.setCode({ address: factory.address, bytecode: '0x6001' });
    await expect(surveyContracts(chain.client, { factory })).rejects.toThrow(/other code than .*factory/);
  });
});

describe('a deployment', () => {
  test('interrupted after any of its transactions goes on with the rest, and sends none twice', async () => {
    const { missing } = await surveyContracts(chain.client);
    expect(missing).toHaveLength(6);
    for (let lastSent = 1; lastSent <= missing.length; lastSent += 1) {
      const snapshot = await chain.control.snapshot();
      const wallet = await deployer();
      let sent = 0;
      // The transaction arrives, its answer and everything after it do not: as if the machine were switched off.
      proxy.intercept = async ({ method, passOn }) => {
        if (sent === lastSent) return 'drop';
        if (method !== 'eth_sendRawTransaction') return undefined;
        sent += 1;
        const answer = await passOn();
        return sent === lastSent ? 'drop' : answer;
      };
      await expect(deployContracts(throughProxy(), wallet, missing, fast)).rejects.toThrow(DeploymentError);
      expect(await sentBy(wallet)).toBe(lastSent);

      const rest = await surveyContracts(chain.client);
      expect(rest.missing).toHaveLength(missing.length - lastSent);
      await deployContracts(chain.client, wallet, rest.missing, fast);
      expect(await sentBy(wallet)).toBe(missing.length);
      expect(await faultsOf(chain.client, rest.contracts)).toEqual([]);
      await chain.control.revert({ id: snapshot });
    }
  });

  test('with a transaction still in the pool waits for it instead of paying again', async () => {
    const wallet = await deployer();
    const { missing, contracts } = await surveyContracts(chain.client);
    await chain.control.setAutomine(false);
    const shortTimeout = { ...fast, timeoutMs: 200 };
    await expect(deployContracts(chain.client, wallet, missing, shortTimeout)).rejects.toThrow(
      /not mined yet/,
    );
    await expect(deployContracts(chain.client, wallet, missing, shortTimeout)).rejects.toThrow(
      /waiting to be mined/,
    );
    await chain.control.mine({ blocks: 1 });
    await chain.control.setAutomine(true);
    expect(await sentBy(wallet)).toBe(1);
    await deployContracts(chain.client, wallet, missing, fast);
    expect(await sentBy(wallet)).toBe(missing.length);
    expect(await faultsOf(chain.client, contracts)).toEqual([]);
  });

  test('is refused on a chain older than Cancun, where the router would stand and never work', async () => {
    const probe = /^0x5f5f5d/;
    proxy.intercept = ({ method, params }) =>
      method === 'eth_call' && probe.test((params[0] as { data: string }).data)
        ? { error: { code: -32_000, message: 'invalid opcode: PUSH0' } }
        : undefined;
    const survey = await surveyContracts(chain.client);
    await expect(estimateDeployment(throughProxy(), survey)).rejects.toThrow(/Cancun/);
    expect((await estimateDeployment(chain.client, survey)).steps).toHaveLength(6);
  });
});

describe('Safe', () => {
  const OFFICIAL = {
    safeSingleton: '0x41675C099F32341bf84BFc5382aF534df5C7461a',
    safeProxyFactory: '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
    multiSendCallOnly: '0x9641d764fc13c8B624c04430C7356C1C7C8102e2',
    fallbackHandler: '0xfd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99',
  };

  test('is put at its usual addresses where its authors’ factory is, and found there afterwards', async () => {
    const wallet = await deployer();
    await chain.control.setCode({ address: SAFE_FACTORY.address, bytecode: FACTORY_CODE });
    const survey = await surveyContracts(chain.client);
    expect(survey.contracts).toMatchObject(OFFICIAL);
    await deployContracts(chain.client, wallet, survey.missing, fast);
    const again = await surveyContracts(chain.client);
    expect(again).toMatchObject({ contracts: survey.contracts, missing: [], notes: [] });
  });

  test('is put elsewhere where its usual address has other code, and where its factory is not', async () => {
    const without = await surveyContracts(chain.client);
    expect(without.notes).toEqual([expect.stringContaining('not at its usual addresses')]);
    for (const address of Object.values(OFFICIAL))
      expect(Object.values(without.contracts)).not.toContain(address);

    await chain.control.setCode({ address: SAFE_FACTORY.address, bytecode: FACTORY_CODE });
    await chain.control.setCode({ address: OFFICIAL.safeSingleton as Hex, bytecode: '0x6001' });
    const odd = await surveyContracts(chain.client);
    expect(odd.contracts).toMatchObject({ ...OFFICIAL, safeSingleton: without.contracts.safeSingleton });
    expect(odd.notes.join()).toContain('usual address of the Safe singleton there is other code');
  });
});

describe('contracts of a chains file', () => {
  test('are kept as long as their code is right, wherever they stand, so that escrow addresses do not move', async () => {
    const { contracts } = chain.settings;
    expect(await surveyContracts(chain.client, { configured: contracts })).toMatchObject({
      contracts,
      missing: [],
    });
  });

  test('are refused when one has other code, and only that one is planned anew with replace', async () => {
    const configured = { ...chain.settings.contracts };
    await chain.control.setCode({ address: configured.router, bytecode: '0x6001' });
    await expect(surveyContracts(chain.client, { configured })).rejects.toThrow(
      `router ${configured.router}: other code than this build's`,
    );
    const survey = await surveyContracts(chain.client, { configured, replace: true });
    expect(survey.contracts).toEqual({ ...configured, router: survey.missing[0]?.address });
    await deployContracts(chain.client, await deployer(), survey.missing, fast);
    expect(await faultsOf(chain.client, survey.contracts)).toEqual([]);
  });

  test('cannot be planned where CREATE2 finds other code at the address', async () => {
    const { contracts } = await surveyContracts(chain.client);
    await chain.control.setCode({ address: contracts.forwarder, bytecode: '0x6001' });
    await expect(surveyContracts(chain.client)).rejects.toThrow(
      /where CREATE2 puts the forwarder.*do not trust/s,
    );
  });
});

describe('the verdict on code', () => {
  const context = () => ({ chainId: CHAIN_ID, contracts: chain.settings.contracts });

  test('is right for every contract that a constructor has put on a real chain, to the byte', async () => {
    for (const role of CONTRACT_ROLES) {
      const code = await chain.client.getCode({ address: chain.settings.contracts[role] });
      expect(code, role).toBe(expectedCode(role, context()));
    }
  });

  test('names the mistake: swapped lines, another forwarder, another chain, another build, nothing', () => {
    const other = getAddress(pad('0xaa', { size: 20 }));
    const elsewhere: ChainContracts = { ...chain.settings.contracts, forwarder: other };
    const codeOf = (
      role: (typeof CONTRACT_ROLES)[number],
      chainId = CHAIN_ID,
      contracts = chain.settings.contracts,
    ) => expectedCode(role, { chainId, contracts });
    const reason = (role: (typeof CONTRACT_ROLES)[number], code: Hex) =>
      judgeCode(role, context(), code).reason;
    expect(reason('safeSingleton', codeOf('safeProxyFactory'))).toBe('it is the Safe proxy factory');
    expect(reason('router', codeOf('router', CHAIN_ID, elsewhere))).toContain(
      `trusts another forwarder (${other})`,
    );
    expect(reason('forwarder', codeOf('forwarder', 1))).toContain('was made on chain 1');
    expect(reason('forwarder', codeOf('forwarder', CHAIN_ID, elsewhere))).toContain(`was made for ${other}`);
    expect(reason('router', concatHex([codeOf('router'), '0x00']))).toContain("other code than this build's");
    expect(judgeCode('router', context(), undefined)).toEqual({ state: 'missing' });
    expect(judgeCode('router', context(), codeOf('router'))).toEqual({ state: 'right' });
  });
});

test('amounts of coins are short; what must be sent is never stated too low, what is there never too high', () => {
  const amounts = [0n, 1n, 10n ** 18n, 123_456_789_012_345_678n, 15n * 10n ** 17n];
  expect(amounts.map((wei) => coins(wei))).toEqual(['0', '0.000000000000000001', '1', '0.1234', '1.5']);
  expect(coins(123_456_789_012_345_678n, 'up')).toBe('0.1235');
});
