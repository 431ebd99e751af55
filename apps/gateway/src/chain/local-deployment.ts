import { testTether, testToken } from '@causeway/contracts';
import {
  concatHex,
  createTestClient,
  encodeAbiParameters,
  erc20Abi,
  http,
  keccak256,
  maxUint256,
  publicActions,
  stringToHex,
  walletActions,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { createChainClient, viemChain } from './chain-client.ts';
import type { Address, ChainContracts, ChainToken, Hex } from './chain-settings.ts';
import { deployContracts } from './contract-deployment.ts';
import {
  KEYLESS_FACTORY,
  type PlannedContract,
  planContract,
  planForwarder,
  planRouter,
  planSafe,
  saltOf,
} from './contract-plan.ts';
import { faultsOf } from './contract-survey.ts';
import { localSigner } from './signer.ts';
import { isDeployed } from './token-reads.ts';

/**
 * Puts everything a sandbox needs on a local chain. Every address follows from the code and the chain id
 * (CREATE2), so a second run finds what is there and adds only what is missing. The calls of one deployer are made one
 * after another: they share its nonce.
 */

export interface LocalContracts {
  chainId: number;
  contracts: ChainContracts;
  tokens: ChainToken[];
}

const DEPLOYER_BALANCE_WEI = 10n ** 21n;
const LOCAL_POLLING_MS = 20;
const STABLECOIN_DECIMALS = 6;
/** Said outright, so that nothing has to be estimated against a state that earlier mints still change. */
const MINT_GAS = 200_000n;

const localTokens = [
  { code: 'USDC', name: 'USD Coin', bytecode: testToken.bytecode },
  { code: 'USDT', name: 'Tether USD', bytecode: testTether.bytecode },
  { code: 'USDT0', name: 'USDT0', bytecode: testToken.bytecode },
] as const;

/** Deploys what is missing, and sends nothing where nothing is. */
export async function deployLocalContracts(rpcUrl: string, deployerKey: Hex): Promise<LocalContracts> {
  const local = await connectLocal(rpcUrl, deployerKey);
  const client = createChainClient(
    { slug: 'local', chainId: local.chain.id, rpcUrl },
    { pollingInterval: LOCAL_POLLING_MS },
  );
  const { planned, result } = planDeployment(local.chain.id, local.account.address);
  const present = await Promise.all(planned.map(({ address }) => isDeployed(client, address)));
  const missing = planned.filter((_, place) => !present[place]);
  if (missing.length > 0) {
    await local.setBalance({ address: local.account.address, value: DEPLOYER_BALANCE_WEI });
    await deployContracts(client, localSigner(deployerKey), missing, { pollingMs: LOCAL_POLLING_MS });
  }
  const faults = await faultsOf(client, result.contracts);
  if (faults.length > 0)
    throw new Error(`This chain cannot be used: ${faults.map(({ text }) => text).join('; ')}`);
  return result;
}

/** Tops a wallet up to at least this much ether and this many whole tokens of each kind. */
export async function fundWallet(
  rpcUrl: string,
  deployerKey: Hex,
  funding: { wallet: Address; tokens: readonly ChainToken[]; etherWei: bigint; wholeTokens: bigint },
): Promise<void> {
  const client = await connectLocal(rpcUrl, deployerKey);
  const { wallet, tokens, etherWei, wholeTokens } = funding;
  if ((await client.getBalance({ address: wallet })) < etherWei) {
    await client.setBalance({ address: wallet, value: etherWei });
  }
  for (const { address, decimals } of tokens) {
    const balance = await client.readContract({
      abi: erc20Abi,
      address,
      functionName: 'balanceOf',
      args: [wallet],
    });
    const missing = wholeTokens * 10n ** BigInt(decimals) - balance;
    if (missing <= 0n) continue;
    await mined(
      client,
      client.writeContract({ abi: testToken.abi, address, functionName: 'mint', args: [wallet, missing] }),
    );
  }
}

/**
 * Tops many wallets up at once. Every mint is sent before the first is waited for, each with its own nonce: waiting for
 * each would be most of a sandbox's first start.
 */
export async function fundWallets(
  rpcUrl: string,
  deployerKey: Hex,
  funding: {
    wallets: readonly Address[];
    tokens: readonly ChainToken[];
    etherWei: bigint;
    wholeTokens: bigint;
  },
): Promise<void> {
  const client = await connectLocal(rpcUrl, deployerKey);
  const { wallets, tokens, etherWei, wholeTokens } = funding;
  await Promise.all(
    wallets.map(async (address) => {
      if ((await client.getBalance({ address })) < etherWei)
        await client.setBalance({ address, value: etherWei });
    }),
  );
  const wanted = await Promise.all(
    wallets.flatMap((wallet) =>
      tokens.map(async ({ address, decimals }) => {
        const read = { abi: erc20Abi, address, functionName: 'balanceOf', args: [wallet] } as const;
        const missing = wholeTokens * 10n ** BigInt(decimals) - (await client.readContract(read));
        return { wallet, address, missing };
      }),
    ),
  );
  const firstNonce = await client.getTransactionCount({ address: client.account.address });
  const mints = wanted.filter(({ missing }) => missing > 0n);
  const sent: Hex[] = [];
  // Sent in the order of their nonces: a node parks a transaction that comes before its turn, and may then never mine it.
  for (const [position, { wallet, address, missing }] of mints.entries()) {
    const mint = { abi: testToken.abi, address, functionName: 'mint', args: [wallet, missing] } as const;
    sent.push(await client.writeContract({ ...mint, nonce: firstNonce + position, gas: MINT_GAS }));
  }
  await Promise.all(sent.map((hash) => mined(client, hash)));
}

/** Gives the router an unlimited allowance for each token, where it does not have one. */
export async function approveRouter(
  rpcUrl: string,
  walletKey: Hex,
  router: Address,
  tokens: readonly ChainToken[],
): Promise<void> {
  const client = await connectLocal(rpcUrl, walletKey);
  for (const { address } of tokens) {
    const allowance = await client.readContract({
      abi: erc20Abi,
      address,
      functionName: 'allowance',
      args: [client.account.address, router],
    });
    if (allowance === maxUint256) continue;
    // USDT refuses to change an allowance that is not zero.
    for (const amount of allowance === 0n ? [maxUint256] : [0n, maxUint256]) {
      await mined(
        client,
        client.writeContract({
          abi: testTether.abi,
          address,
          functionName: 'approve',
          args: [router, amount],
        }),
      );
    }
  }
}

/** A key that a sandbox need not keep, because it follows from one that it keeps. */
export function derivedKey(from: Hex, purpose: string): Hex {
  return keccak256(concatHex([from, stringToHex(purpose)]));
}

type LocalClient = Awaited<ReturnType<typeof connectLocal>>;

async function connectLocal(rpcUrl: string, privateKey: Hex) {
  const connect = (chainId: number) =>
    createTestClient({
      mode: 'hardhat',
      account: privateKeyToAccount(privateKey),
      chain: viemChain('local', chainId, rpcUrl),
      transport: http(rpcUrl),
      pollingInterval: LOCAL_POLLING_MS,
      cacheTime: 0,
    })
      .extend(publicActions)
      .extend(walletActions);
  return connect(await connect(0).getChainId());
}

function planDeployment(
  chainId: number,
  owner: Address,
): { planned: PlannedContract[]; result: LocalContracts } {
  // The chain id keeps the same contract at different addresses on two chains, unlike on real networks: a test that mixes
  // up two chains then fails instead of happening to work.
  const placeOf = (name: string) => saltOf(`${chainId}:${name}`);
  const safes = {
    safeSingleton: planSafe('safeSingleton', KEYLESS_FACTORY, placeOf('safe')),
    safeProxyFactory: planSafe('safeProxyFactory', KEYLESS_FACTORY, placeOf('safe-proxy-factory')),
    multiSendCallOnly: planSafe('multiSendCallOnly', KEYLESS_FACTORY, placeOf('multi-send-call-only')),
    fallbackHandler: planSafe('fallbackHandler', KEYLESS_FACTORY, placeOf('fallback-handler')),
  };
  const forwarder = planForwarder(KEYLESS_FACTORY, placeOf('forwarder'));
  const router = planRouter(KEYLESS_FACTORY, forwarder.address, placeOf('router'));
  const plannedTokens = localTokens.map(({ code, name, bytecode }) => {
    const constructorArguments = encodeAbiParameters(
      [{ type: 'string' }, { type: 'string' }, { type: 'uint8' }, { type: 'address' }],
      [name, code, STABLECOIN_DECIMALS, owner],
    );
    const place = { factory: KEYLESS_FACTORY, salt: placeOf(code) };
    return planContract(code, { bytecode, constructorArguments }, place);
  });
  const contracts: ChainContracts = {
    safeSingleton: safes.safeSingleton.address,
    safeProxyFactory: safes.safeProxyFactory.address,
    multiSendCallOnly: safes.multiSendCallOnly.address,
    fallbackHandler: safes.fallbackHandler.address,
    forwarder: forwarder.address,
    router: router.address,
  };
  const tokens = plannedTokens.map(({ name, address }) => ({
    code: name,
    address,
    decimals: STABLECOIN_DECIMALS,
  }));
  return {
    planned: [...Object.values(safes), forwarder, router, ...plannedTokens],
    result: { chainId, contracts, tokens },
  };
}

async function mined(client: LocalClient, sent: Hex | Promise<Hex>): Promise<void> {
  const { status } = await client.waitForTransactionReceipt({ hash: await sent });
  if (status !== 'success') throw new Error('a local deployment transaction failed');
}
