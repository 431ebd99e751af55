import { erc20Abi, isAddressEqual, parseEventLogs } from 'viem';
import type { Hex, TokenTransfer } from './chain-settings.ts';
import type { ConnectedChain } from './chains.ts';
import { findReceipt, isFinal } from './transaction-rpc.ts';

/**
 * Whether a bridge has really paid out: the transaction it names is final on the other chain and brought the recipient at
 * least what was quoted. A bridge's word alone would complete a send-out that never arrived.
 */
export async function isPaidOut(
  { settings, client }: ConnectedChain,
  txHash: Hex,
  expected: TokenTransfer,
): Promise<boolean> {
  const receipt = await findReceipt(client, [txHash]);
  if (receipt?.status !== 'success') return false;
  if (!(await isFinal(client, receipt, settings.confirmations))) return false;
  const received = parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs })
    .filter(
      ({ address, args }) => isAddressEqual(address, expected.token) && isAddressEqual(args.to, expected.to),
    )
    .reduce((sum, { args }) => sum + args.value, 0n);
  return received >= expected.amount;
}
