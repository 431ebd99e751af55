import { testTether, testToken } from '@causeway/contracts';
import {
  concatHex,
  createTestClient,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  http,
  keccak256,
  maxUint256,
  publicActions,
  stringToHex,
  walletActions,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Address, ChainContracts, ChainToken, Hex } from '../chain-settings.ts';
import { createChainClient, viemChain } from '../rpc/chain-client.ts';
import { localSigner } from '../signers/keystore-signer.ts';
import { isDeployed } from '../token-reads.ts';
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
/** Enough for a mint or an approval. */
const CALL_GAS = 200_000n;

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

/** Tops wallets up to at least this much ether and this many whole tokens of each kind. */
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
  const mints = wanted.filter(({ missing }) => missing > 0n);
  await sendCalls(
    client,
    mints.map(({ wallet, address, missing }) => ({
      to: address,
      data: encodeFunctionData({ abi: testToken.abi, functionName: 'mint', args: [wallet, missing] }),
    })),
  );
}

/** Gives the router an unlimited allowance for each token, where it does not have one. */
export async function approveRouter(
  rpcUrl: string,
  walletKey: Hex,
  router: Address,
  tokens: readonly ChainToken[],
): Promise<void> {
  const client = await connectLocal(rpcUrl, walletKey);
  const owner = client.account.address;
  const calls = await Promise.all(
    tokens.map(async ({ address }) => {
      const read = { abi: erc20Abi, address, functionName: 'allowance', args: [owner, router] } as const;
      const allowance = await client.readContract(read);
      if (allowance === maxUint256) return [];
      // USDT refuses to change an allowance that is not zero.
      return (allowance === 0n ? [maxUint256] : [0n, maxUint256]).map((amount) => ({
        to: address,
        data: encodeFunctionData({ abi: testTether.abi, functionName: 'approve', args: [router, amount] }),
      }));
    }),
  );
  await sendCalls(client, calls.flat());
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
      // Calls made together travel together, in their order.
      transport: http(rpcUrl, { batch: true }),
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

/**
 * Signed with nonce, gas and fees known beforehand and sent together: asking the node for each of them, and waiting for
 * each transaction, would be most of a sandbox's first start. In the order of their nonces: a node parks a transaction
 * that comes before its turn, and may then never mine it.
 */
async function sendCalls(client: LocalClient, calls: readonly { to: Address; data: Hex }[]): Promise<void> {
  if (calls.length === 0) return;
  const { account, chain } = client;
  const [firstNonce, gasPrice] = await Promise.all([
    client.getTransactionCount({ address: account.address }),
    client.getGasPrice(),
  ]);
  const signed = await Promise.all(
    calls.map((call, position) =>
      account.signTransaction({
        ...call,
        type: 'eip1559',
        chainId: chain.id,
        nonce: firstNonce + position,
        gas: CALL_GAS,
        maxFeePerGas: gasPrice * 2n,
        maxPriorityFeePerGas: 0n,
      }),
    ),
  );
  const sent = await Promise.all(
    signed.map((serializedTransaction) => client.sendRawTransaction({ serializedTransaction })),
  );
  for (const hash of sent.slice(-1)) await client.waitForTransactionReceipt({ hash });
  const receipts = await Promise.all(sent.map((hash) => client.getTransactionReceipt({ hash })));
  if (receipts.some(({ status }) => status !== 'success')) {
    throw new Error('a local deployment transaction failed');
  }
}
