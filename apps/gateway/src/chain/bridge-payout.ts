import { erc20Abi, isAddressEqual, parseEventLogs } from 'viem';
import type { Authorization } from './authorization.ts';
import { sameAddress } from './chain-facts.ts';
import type { Hex, TokenTransfer } from './chain-settings.ts';
import type { Chains, ConnectedChain } from './chains.ts';
import { findReceipt, isFinal } from './transaction-rpc.ts';

/**
 * Whether a bridge has really paid out: the transaction it names is final on the other chain and brought the recipient at
 * least what was quoted. A bridge's word alone would complete a send-out that never arrived.
 */
async function isPaidOut(
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

/** `elsewhere`: the payout is on a chain that nobody here can ask. */
export type PayoutSight = 'arrived' | 'not_seen' | 'elsewhere';

/** What a chain of ours shows of a send-out's payout, besides what the same transaction has brought other orders. */
export async function seePayout(
  chains: Chains,
  { bridge, chainId, token: paidToken }: Authorization,
  txHash: Hex,
  ofOthers = 0n,
): Promise<PayoutSight> {
  const from = chains.all.find(({ settings }) => settings.chainId === chainId);
  const to = chains.all.find(({ settings }) => settings.slug === bridge?.destinationChain);
  const code = from?.settings.tokens.find(({ address }) => sameAddress(address, paidToken))?.code;
  const token = to?.settings.tokens.find((candidate) => candidate.code === code);
  if (bridge === null || to === undefined || token === undefined) return 'elsewhere';
  const expected = {
    token: token.address,
    to: bridge.destinationAddress,
    amount: BigInt(bridge.toAmount) + ofOthers,
  };
  return (await isPaidOut(to, txHash, expected)) ? 'arrived' : 'not_seen';
}
