import { encodeFunctionData, erc20Abi } from 'viem';
import type { Address, ContractCall, TokenTransfer } from './chain-settings.ts';
import type { ChainClient } from './rpc/chain-client.ts';

/** A plain token transfer out of the sender's own wallet. */
export function tokenTransferCall({ token, to, amount }: TokenTransfer): ContractCall {
  return {
    to: token,
    value: 0n,
    data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }),
  };
}

export function tokenBalance(client: ChainClient, token: Address, holder: Address): Promise<bigint> {
  return client.readContract({ abi: erc20Abi, address: token, functionName: 'balanceOf', args: [holder] });
}

export async function isDeployed(
  client: ChainClient,
  address: Address,
  blockNumber?: bigint,
): Promise<boolean> {
  const code = await client.getCode({ address, ...(blockNumber === undefined ? {} : { blockNumber }) });
  return code !== undefined && code !== '0x';
}
