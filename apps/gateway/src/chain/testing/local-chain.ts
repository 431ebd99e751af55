import { startMemoryNode } from '@causeway/local-chain/testing';
import { createTestClient, erc20Abi, http, publicActions } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import {
  type Address,
  type ChainSettings,
  type ContractCall,
  type Hex,
  tokenByCode,
} from '../chain-settings.ts';
import { deployLocalContracts, fundWallets } from '../contracts/local-deployment.ts';
import { createChainClient } from '../rpc/chain-client.ts';
import { localSigner, type Signer } from '../signers/keystore-signer.ts';

/** A real chain with every contract on it, for the tests of this folder. */

export interface TestWallet extends Signer {
  privateKey: Hex;
}

export type TestChain = Awaited<ReturnType<typeof startTestChain>>;

export function randomWallet(): TestWallet {
  const privateKey = generatePrivateKey();
  return { privateKey, ...localSigner(privateKey) };
}

export async function startTestChain(chainId: number) {
  const node = await startMemoryNode(chainId);
  const deployer = randomWallet();
  const treasury = randomWallet().address;
  const local = await deployLocalContracts(node.rpcUrl, deployer.privateKey);
  const settings: ChainSettings = {
    ...local,
    slug: 'test-chain',
    rpcUrl: node.rpcUrl,
    publicRpcUrl: node.rpcUrl,
    confirmations: 1,
    treasury,
  };
  const client = createChainClient(settings, { pollingInterval: 20 });
  const control = createTestClient({ mode: 'hardhat', transport: http(node.rpcUrl) }).extend(publicActions);

  /** A wallet with 100 ether and 1,000 of every token. */
  async function fundedWallet(): Promise<TestWallet> {
    const wallet = randomWallet();
    await fundWallets(node.rpcUrl, deployer.privateKey, {
      wallets: [wallet.address],
      tokens: settings.tokens,
      etherWei: 10n ** 20n,
      wholeTokens: 1_000n,
    });
    return wallet;
  }

  /** Sends a call from a wallet as it is, without asking the node first whether it would fail. */
  async function send(from: TestWallet, call: ContractCall) {
    const account = privateKeyToAccount(from.privateKey);
    const fees = await client.estimateFeesPerGas();
    const signed = await account.signTransaction({
      ...call,
      ...fees,
      chainId,
      type: 'eip1559',
      nonce: await client.getTransactionCount({ address: from.address }),
      gas: 2_000_000n,
    });
    return client.waitForTransactionReceipt({
      hash: await client.sendRawTransaction({ serializedTransaction: signed }),
    });
  }

  const balanceOf = (code: string, account: Address) =>
    client.readContract({
      abi: erc20Abi,
      address: tokenByCode(settings, code).address,
      functionName: 'balanceOf',
      args: [account],
    });

  return {
    settings,
    client,
    control,
    deployer,
    local,
    fundedWallet,
    send,
    balanceOf,
    history: node.history,
    reorganise: (depth: number) => control.request({ method: 'causeway_reorg', params: [depth] } as never),
    stop: node.stop,
  };
}
