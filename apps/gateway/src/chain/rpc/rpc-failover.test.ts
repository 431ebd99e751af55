import { encodeFunctionData, erc20Abi } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { tokenByCode } from '../chain-settings.ts';
import { randomWallet, startTestChain, type TestChain } from '../testing/local-chain.ts';
import { type RpcProxy, startRpcProxy } from '../testing/rpc-proxy.ts';
import {
  CallRevertsError,
  ChainUnavailableError,
  estimateGas,
  isFinal,
} from '../transactions/transaction-rpc.ts';
import { createChainClient } from './chain-client.ts';
import type { ChainDisagreementError, NodeGroupOptions } from './rpc-failover.ts';

let chain: TestChain;
const proxies: RpcProxy[] = [];

beforeAll(async () => {
  chain = await startTestChain(31_407);
});
afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});
afterAll(() => chain?.stop());

/** Two nodes of the same real chain, each behind a proxy of its own. */
async function twoNodes(options: NodeGroupOptions = {}) {
  const [first, second] = [
    await startRpcProxy(chain.settings.rpcUrl),
    await startRpcProxy(chain.settings.rpcUrl),
  ];
  proxies.push(first, second);
  const troubles: string[] = [];
  const client = createChainClient(
    { ...chain.settings, rpcUrls: [first.url, second.url] },
    { onTrouble: (trouble) => troubles.push(trouble), ...options },
  );
  return { first, second, client, troubles };
}

describe('several nodes', () => {
  test.each([
    ['drops the connection', 'drop' as const],
    ['answers 503', 503],
    ['limits the rate', { error: { code: -32_005, message: 'limit exceeded' } }],
    ['answers nonsense', { nonsense: true } as object],
  ])(
    'where the first %s, the second answers, and the first is left alone for a while',
    async (_name, fault) => {
      const { first, second, client, troubles } = await twoNodes();
      first.intercept = () => fault;
      expect(await client.getChainId()).toBe(31_407);
      const asked = first.asked.length;
      expect(await client.getGasPrice()).toBeGreaterThan(0n);
      expect(first.asked).toHaveLength(asked);
      expect(second.asked).toContain('eth_gasPrice');
      expect(troubles).toHaveLength(1);
      expect(troubles[0]).toContain('node 1 of test-chain');
    },
  );

  test('the first is asked again once its rest is over', async () => {
    const { first, client } = await twoNodes({ restMs: 0 });
    first.intercept = () => 'drop';
    await client.getGasPrice();
    first.intercept = () => undefined;
    const asked = first.asked.length;
    await client.getGasPrice();
    expect(first.asked.length).toBeGreaterThan(asked);
  });

  test('where none answers, the error says so without an address', async () => {
    const { first, second, client } = await twoNodes();
    first.intercept = second.intercept = () => 'drop';
    const error = await client.getGasPrice().catch((caught: unknown) => caught);
    expect(String(error)).toContain('unavailable');
    expect(JSON.stringify(error) + String(error) + (error as Error).stack).not.toContain('provider-key');
  });

  test('one of another chain is never believed', async () => {
    const { first, client, troubles } = await twoNodes();
    first.intercept = ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : { result: '0xbad' });
    expect(await client.getGasPrice()).not.toBe(0xbadn);
    expect(troubles[0]).toContain('another chain');
    expect(first.asked.every((method) => method === 'eth_chainId')).toBe(true);
  });

  test('one that is far behind is reported and not asked, and what only the other has is not the head yet', async () => {
    const { first, second, client, troubles } = await twoNodes({ maxLagBlocks: 3 });
    const head = await chain.client.getBlockNumber();
    first.intercept = ({ method }) =>
      method === 'eth_blockNumber' ? { result: `0x${(head - 4n).toString(16)}` } : undefined;
    expect(await client.getBlockNumber({ cacheTime: 0 })).toBe(head - 4n);
    expect(troubles[0]).toContain('4 blocks behind');
    second.asked.length = 0;
    await client.getGasPrice();
    expect(second.asked).toEqual(['eth_gasPrice']);
  });

  test('a verdict about a call is taken from the first and not argued with', async () => {
    const { second, client } = await twoNodes();
    const poor = randomWallet().address;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [poor, 1n] });
    const call = { to: tokenByCode(chain.settings, 'USDC').address, data, value: 0n };
    await expect(estimateGas(client, poor, call)).rejects.toThrow(CallRevertsError);
    expect(second.asked).not.toContain('eth_estimateGas');
  });
});

describe('a block is final', () => {
  async function receiptOfTransfer() {
    const wallet = await chain.fundedWallet();
    return chain.send(wallet, { to: wallet.address, data: '0x', value: 1n });
  }

  test('when all nodes know it by the same hash', async () => {
    const { client } = await twoNodes();
    expect(await isFinal(client, await receiptOfTransfer(), 1)).toBe(true);
  });

  test('not while two nodes know it by different hashes', async () => {
    const { second, client, troubles } = await twoNodes();
    const receipt = await receiptOfTransfer();
    second.intercept = async ({ method, passOn }) => {
      if (method !== 'eth_getBlockByNumber') return undefined;
      const { result } = await passOn();
      return { result: { ...(result as object), hash: `0x${'ee'.repeat(32)}` } };
    };
    await expect(isFinal(client, receipt, 1)).rejects.toThrow(ChainUnavailableError);
    await expect(client.agreedBlockHash(receipt.blockNumber)).rejects.toMatchObject({
      name: 'ChainDisagreementError',
    } satisfies Partial<ChainDisagreementError>);
    expect(troubles.join()).toContain('disagree');
  });

  test('not while half of the nodes have never heard of it', async () => {
    const { second, client } = await twoNodes();
    const receipt = await receiptOfTransfer();
    second.intercept = ({ method }) => (method === 'eth_getBlockByNumber' ? { result: null } : undefined);
    await expect(isFinal(client, receipt, 1)).rejects.toThrow('too few nodes');
  });

  test('on the word of the others where one is out of reach', async () => {
    const { first, client } = await twoNodes();
    const receipt = await receiptOfTransfer();
    first.intercept = () => 503;
    expect(await isFinal(client, receipt, 1)).toBe(true);
  });
});
