import { encodeFunctionData, erc20Abi } from 'viem';
import type { ChainClient } from './chain-client.ts';
import type { Address, ChainSettings, ContractCall, Hex, TokenTransfer } from './chain-settings.ts';

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

// Public nodes refuse log queries over more blocks than this.
const MAX_LOG_RANGE = 5_000n;

/** What an address holds as of the last block that counts as final, and the newest transfer that brought it. */
export async function finalBalance(
  client: ChainClient,
  settings: Pick<ChainSettings, 'confirmations'>,
  token: Address,
  holder: Address,
): Promise<{ balance: bigint; txHash: Hex | undefined }> {
  const head = await client.getBlockNumber();
  const finalBlock = head - BigInt(settings.confirmations) + 1n;
  if (finalBlock < 0n) return { balance: 0n, txHash: undefined };
  const balance = await client.readContract({
    abi: erc20Abi,
    address: token,
    functionName: 'balanceOf',
    args: [holder],
    blockNumber: finalBlock,
  });
  if (balance === 0n) return { balance, txHash: undefined };
  const transfers = await client.getContractEvents({
    abi: erc20Abi,
    address: token,
    eventName: 'Transfer',
    args: { to: holder },
    fromBlock: finalBlock > MAX_LOG_RANGE ? finalBlock - MAX_LOG_RANGE : 0n,
    toBlock: finalBlock,
  });
  return { balance, txHash: transfers.at(-1)?.transactionHash };
}

export async function isDeployed(client: ChainClient, address: Address): Promise<boolean> {
  const code = await client.getCode({ address });
  return code !== undefined && code !== '0x';
}
