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

export function tokenBalance(
  client: ChainClient,
  token: Address,
  holder: Address,
  blockNumber?: bigint,
): Promise<bigint> {
  return client.readContract({
    abi: erc20Abi,
    address: token,
    functionName: 'balanceOf',
    args: [holder],
    ...(blockNumber === undefined ? {} : { blockNumber }),
  });
}

export async function isDeployed(
  client: ChainClient,
  address: Address,
  blockNumber?: bigint,
): Promise<boolean> {
  const code = await client.getCode({ address, ...(blockNumber === undefined ? {} : { blockNumber }) });
  return code !== undefined && code !== '0x';
}

/** Code that an account with a key of its own has delegated to (EIP-7702) begins with this. */
const DELEGATION = '0xef0100';

/** Whether there can be a key: a contract has code and none. */
export async function canSign(client: ChainClient, address: Address): Promise<boolean> {
  const code = (await client.getCode({ address })) ?? '0x';
  return code === '0x' || code.startsWith(DELEGATION);
}

export function tokenAllowance(
  client: ChainClient,
  token: Address,
  owner: Address,
  spender: Address,
): Promise<bigint> {
  return client.readContract({
    abi: erc20Abi,
    address: token,
    functionName: 'allowance',
    args: [owner, spender],
  });
}

/** Lets the spender take that much from the sender's wallet, in the place of what it could take before. */
export function approvalCall(token: Address, spender: Address, amount: bigint): ContractCall {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] });
  return { to: token, value: 0n, data };
}
