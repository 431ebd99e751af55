import { erc20Abi, maxUint256 } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tokenByCode } from '../chain-settings.ts';
import { startTestChain, type TestChain } from '../testing/local-chain.ts';
import { approveRouter, deployLocalContracts, fundWallets } from './local-deployment.ts';

let testChain: TestChain;

beforeAll(async () => {
  testChain = await startTestChain(31_401);
});
afterAll(() => testChain?.stop());

const blockNumber = () => testChain.client.getBlockNumber();

test('a deployed chain has code at every address and the three stablecoins with 6 decimals', async () => {
  const { settings, client } = testChain;
  for (const address of Object.values(settings.contracts)) {
    expect(await client.getCode({ address })).toMatch(/^0x[0-9a-f]{100,}$/);
  }
  expect(settings.tokens.map(({ code }) => code)).toEqual(['USDC', 'USDT', 'USDT0']);
  for (const { code, address, decimals } of settings.tokens) {
    expect(await client.readContract({ abi: erc20Abi, address, functionName: 'symbol' })).toBe(code);
    expect(await client.readContract({ abi: erc20Abi, address, functionName: 'decimals' })).toBe(decimals);
    expect(decimals).toBe(6);
  }
});

test('deploying again sends nothing and answers the same', async () => {
  const { settings, deployer, local } = testChain;
  const before = await blockNumber();
  expect(await deployLocalContracts(settings.rpcUrl, deployer.privateKey)).toEqual(local);
  expect(await blockNumber()).toBe(before);
});

test('two chains have different token and router addresses', async () => {
  const other = await startTestChain(31_402);
  try {
    const addresses = ({ contracts, tokens }: TestChain['local']) => [
      ...Object.values(contracts),
      ...tokens.map(({ address }) => address),
    ];
    const here = new Set<string>(addresses(testChain.local));
    expect(addresses(other.local).filter((address) => here.has(address))).toEqual([]);
  } finally {
    await other.stop();
  }
});

test('a funded wallet holds what was asked for, and funding it again changes nothing', async () => {
  const { settings, client, deployer, balanceOf, fundedWallet } = testChain;
  const wallet = await fundedWallet();
  for (const { code } of settings.tokens) expect(await balanceOf(code, wallet.address)).toBe(1_000_000_000n);
  expect(await client.getBalance({ address: wallet.address })).toBe(10n ** 20n);

  const before = await blockNumber();
  await fundWallets(settings.rpcUrl, deployer.privateKey, {
    wallets: [wallet.address],
    tokens: settings.tokens,
    etherWei: 10n ** 20n,
    wholeTokens: 1_000n,
  });
  expect(await blockNumber()).toBe(before);
});

test('approving gives the router an unlimited allowance once, also where a smaller one must be reset first', async () => {
  const { settings, client, fundedWallet, send } = testChain;
  const wallet = await fundedWallet();
  const { router } = settings.contracts;
  const usdt = tokenByCode(settings, 'USDT');
  const approveOne = `0x095ea7b3${router.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}` as const;
  expect((await send(wallet, { to: usdt.address, value: 0n, data: approveOne })).status).toBe('success');

  await approveRouter(settings.rpcUrl, wallet.privateKey, router, settings.tokens);
  for (const { address } of settings.tokens) {
    const allowance = await client.readContract({
      abi: erc20Abi,
      address,
      functionName: 'allowance',
      args: [wallet.address, router],
    });
    expect(allowance).toBe(maxUint256);
  }
  const before = await blockNumber();
  await approveRouter(settings.rpcUrl, wallet.privateKey, router, settings.tokens);
  expect(await blockNumber()).toBe(before);
});
