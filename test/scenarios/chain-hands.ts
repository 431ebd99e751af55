import { createWalletClient, erc20Abi, getAddress, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { viemChain } from '../../apps/gateway/src/chain/chain-client.ts';
import { callRpc, toQuantity } from '../../apps/gateway/src/local/chain-rpc.ts';
import type { SandboxPartner } from '../../apps/gateway/src/local/sandbox-file.ts';
import type { TestGateway } from '../harness/gateway.ts';

/** What a scenario does to the settlement chain itself; only where no other order is on its way there. */
export interface ChainHands {
  /** The partner's wallet pays USDC to somebody in a transaction of its own. */
  pay(partner: SandboxPartner, to: string, amount: bigint): Promise<void>;
  /** What the router may take from the partner's wallet; 0 makes every signed request revert. */
  allowRouter(partner: SandboxPartner, amount: bigint): Promise<void>;
  /** Nothing is mined while `work` runs. */
  withoutBlocks<T>(work: () => Promise<T>): Promise<T>;
  /** The chain's own clock, by which signed requests lapse. */
  passTime(seconds: number): Promise<void>;
}

const CHAIN = 'base-mainnet';

export function chainHands(gateway: TestGateway): ChainHands {
  const { settings, client } = gateway.deps.chains.get(CHAIN);
  const { rpcUrl, chainId, slug } = settings;
  const usdc = settings.tokens.find(({ code }) => code === 'USDC')!.address;

  async function write(
    partner: SandboxPartner,
    functionName: 'approve' | 'transfer',
    to: string,
    amount: bigint,
  ): Promise<void> {
    const wallet = createWalletClient({
      account: privateKeyToAccount(partner.walletPrivateKey as `0x${string}`),
      chain: viemChain(slug, chainId, rpcUrl),
      transport: http(rpcUrl),
    });
    const args = [getAddress(to), amount] as const;
    const hash = await wallet.writeContract({ abi: erc20Abi, address: usdc, functionName, args });
    expect(await client.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'success' });
  }

  return {
    pay: (partner, to, amount) => write(partner, 'transfer', to, amount),
    allowRouter: (partner, amount) => write(partner, 'approve', settings.contracts.router, amount),

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
