import { testToken } from '@causeway/contracts';
import { createWalletClient, erc20Abi, getAddress, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import type { ContractCall } from '../../apps/gateway/src/chain/chain-settings.ts';
import { viemChain } from '../../apps/gateway/src/chain/rpc/chain-client.ts';
import { callRpc, toQuantity } from '../../apps/gateway/src/local/chain-rpc.ts';
import type { SandboxPartner } from '../../apps/gateway/src/local/sandbox-file.ts';
import type { TestGateway } from '../harness/gateway.ts';

/** What a scenario does to the settlement chain itself; only where no other order is on its way there. */
export interface ChainDriver {
  /** The partner's wallet pays USDC to somebody in a transaction of its own. */
  pay(partner: SandboxPartner, to: string, amount: bigint): Promise<void>;
  /** Any wallet pays any token; USDC of the settlement chain where none is named. */
  transfer(key: string, to: string, amount: bigint, token?: string): Promise<void>;
  /** A token that the chain is not configured for, all of it in this wallet. */
  deployToken(key: string, supply: bigint): Promise<`0x${string}`>;
  /** Any wallet sends any call, as anyone may. */
  send(key: string, call: ContractCall): Promise<void>;
  /** What the router may take from the partner's wallet; 0 makes every signed request revert. */
  allowRouter(partner: SandboxPartner, amount: bigint): Promise<void>;
  /** Nothing is mined while `work` runs. */
  withoutBlocks<T>(work: () => Promise<T>): Promise<T>;
  /** The chain's own clock, by which signed requests lapse. */
  passTime(seconds: number): Promise<void>;
}

const CHAIN = 'base-mainnet';

export function chainDriver(gateway: TestGateway): ChainDriver {
  const { settings, client } = gateway.deps.chains.get(CHAIN);
  const { rpcUrl, chainId, slug } = settings;
  const usdc = settings.tokens.find(({ code }) => code === 'USDC')!.address;

  const walletOf = (key: string) =>
    createWalletClient({
      account: privateKeyToAccount(key as `0x${string}`),
      chain: viemChain(slug, chainId, rpcUrl),
      transport: http(rpcUrl),
    });

  async function write(
    key: string,
    functionName: 'approve' | 'transfer',
    to: string,
    amount: bigint,
    token: string = usdc,
  ): Promise<void> {
    const args = [getAddress(to), amount] as const;
    const address = getAddress(token);
    const hash = await walletOf(key).writeContract({ abi: erc20Abi, address, functionName, args });
    expect(await client.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'success' });
  }

  return {
    pay: (partner, to, amount) => write(partner.walletPrivateKey, 'transfer', to, amount),
    transfer: (key, to, amount, token) => write(key, 'transfer', to, amount, token),
    async send(key, call) {
      const hash = await walletOf(key).sendTransaction(call);
      expect(await client.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'success' });
    },
    allowRouter: (partner, amount) =>
      write(partner.walletPrivateKey, 'approve', settings.contracts.router, amount),

    async deployToken(key, supply) {
      const wallet = walletOf(key);
      const { abi, bytecode } = testToken;
      const owner = wallet.account.address;
      const made = await wallet.deployContract({ abi, bytecode, args: ['Stray', 'STRAY', 9, owner] });
      const { contractAddress } = await client.waitForTransactionReceipt({ hash: made });
      const address = getAddress(contractAddress!);
      const hash = await wallet.writeContract({ abi, address, functionName: 'mint', args: [owner, supply] });
      await client.waitForTransactionReceipt({ hash });
      return address;
    },

    async withoutBlocks(work) {
      await callRpc(rpcUrl, 'evm_setAutomine', [false]);
      try {
        return await work();
      } finally {
        await callRpc(rpcUrl, 'evm_setAutomine', [true]);
        await callRpc(rpcUrl, 'hardhat_mine', [toQuantity(1)]);
      }
    },

    async passTime(seconds) {
      await callRpc(rpcUrl, 'evm_increaseTime', [seconds]);
      await callRpc(rpcUrl, 'hardhat_mine', [toQuantity(settings.confirmations + 1)]);
    },
  };
}
