import {
  causewayRouter,
  compatibilityFallbackHandler,
  erc2771Forwarder,
  multiSendCallOnly,
  safe,
  safeProxyFactory,
  testTether,
  testToken,
} from '@causeway/contracts';
import {
  concatHex,
  createTestClient,
  encodeAbiParameters,
  erc20Abi,
  getContractAddress,
  http,
  keccak256,
  maxUint256,
  publicActions,
  stringToHex,
  walletActions,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { viemChain } from './chain-client.ts';
import type { Address, ChainContracts, ChainToken, Hex } from './chain-settings.ts';
import { FORWARDER_NAME } from './forward-request.ts';

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

interface PlannedContract {
  address: Address;
  salt: Hex;
  creationCode: Hex;
}

/** The keyless CREATE2 deployer, which every local chain has from its first block. */
const CREATE2_DEPLOYER: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
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

/** Deploys what is missing; with a `previous` result whose code is still on the chain it sends nothing at all. */
export async function deployLocalContracts(
  rpcUrl: string,
  deployerKey: Hex,
  previous?: LocalContracts,
): Promise<LocalContracts> {
  const client = await connectLocal(rpcUrl, deployerKey);
  if (previous !== undefined && (await allHaveCode(client, addressesOf(previous)))) return previous;

  const { planned, result } = planDeployment(client.chain.id, client.account.address);
  if (!(await allHaveCode(client, [CREATE2_DEPLOYER]))) {
    throw new Error('this chain has no CREATE2 deployer: it is not a local chain');
  }
  await client.setBalance({ address: client.account.address, value: DEPLOYER_BALANCE_WEI });
  for (const { address, salt, creationCode } of planned) {
    if (await allHaveCode(client, [address])) continue;
    await mined(
      client,
      client.sendTransaction({ to: CREATE2_DEPLOYER, data: concatHex([salt, creationCode]) }),
    );
  }
  if (!(await allHaveCode(client, addressesOf(result)))) {
    throw new Error('a contract is not where CREATE2 should have put it');
  }
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
  // Sent in the order of their nonces, so that each is mined as it comes.
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
  const planned: PlannedContract[] = [];
  const plan = (name: string, bytecode: Hex, constructorArguments: Hex = '0x'): Address => {
    // The chain id keeps the same contract at different addresses on two chains, as on real networks: an address used
    // on the wrong chain then fails instead of happening to work.
    const salt = keccak256(stringToHex(`causeway:${chainId}:${name}`));
    const creationCode = concatHex([bytecode, constructorArguments]);
    const address = getContractAddress({
      opcode: 'CREATE2',
      from: CREATE2_DEPLOYER,
      salt,
      bytecode: creationCode,
    });
    planned.push({ address, salt, creationCode });
    return address;
  };
  const forwarder = plan(
    'forwarder',
    erc2771Forwarder.bytecode,
    encodeAbiParameters([{ type: 'string' }], [FORWARDER_NAME]),
  );
  const contracts: ChainContracts = {
    safeSingleton: plan('safe', safe.bytecode),
    safeProxyFactory: plan('safe-proxy-factory', safeProxyFactory.bytecode),
    multiSendCallOnly: plan('multi-send-call-only', multiSendCallOnly.bytecode),
    fallbackHandler: plan('fallback-handler', compatibilityFallbackHandler.bytecode),
    forwarder,
    router: plan('router', causewayRouter.bytecode, encodeAbiParameters([{ type: 'address' }], [forwarder])),
  };
  const tokens = localTokens.map(({ code, name, bytecode }) => ({
    code,
    address: plan(
      code,
      bytecode,
      encodeAbiParameters(
        [{ type: 'string' }, { type: 'string' }, { type: 'uint8' }, { type: 'address' }],
        [name, code, STABLECOIN_DECIMALS, owner],
      ),
    ),
    decimals: STABLECOIN_DECIMALS,
  }));
  return { planned, result: { chainId, contracts, tokens } };
}

function addressesOf({ contracts, tokens }: LocalContracts): Address[] {
  return [...Object.values(contracts), ...tokens.map(({ address }) => address)];
}

async function allHaveCode(client: LocalClient, addresses: readonly Address[]): Promise<boolean> {
  const codes = await Promise.all(addresses.map((address) => client.getCode({ address })));
  return codes.every((code) => code !== undefined);
}

async function mined(client: LocalClient, sent: Hex | Promise<Hex>): Promise<void> {
  const { status } = await client.waitForTransactionReceipt({ hash: await sent });
  if (status !== 'success') throw new Error('a local deployment transaction failed');
}
