import { erc20Abi, isAddressEqual, parseEventLogs } from 'viem';
import type { Authorization } from '../authorization/authorization.ts';
import type { Address, Hex } from '../chain-settings.ts';
import type { Chains, ConnectedChain } from '../chains.ts';
import { findReceipt, isFinal } from '../transactions/transaction-rpc.ts';
import { sameAddress } from '../watcher/chain-facts.ts';

/** What a final transaction of the other chain paid a wallet. A bridge's word alone would complete a send-out that never arrived. */
async function receivedIn(
  { settings, client }: ConnectedChain,
  txHash: Hex,
  token: Address,
  recipient: Address,
): Promise<bigint> {
  const receipt = await findReceipt(client, [txHash]);
  if (receipt?.status !== 'success') return 0n;
  if (!(await isFinal(client, receipt, settings.confirmations))) return 0n;
  return parseEventLogs({ abi: erc20Abi, eventName: 'Transfer', logs: receipt.logs })
    .filter(({ address, args }) => isAddressEqual(address, token) && isAddressEqual(args.to, recipient))
    .reduce((sum, { args }) => sum + args.value, 0n);
}

/** `elsewhere`: the payout is on a chain that is not configured here. */
export type PayoutSight = 'arrived' | 'not_seen' | 'elsewhere';

export interface SeenPayout {
  readonly sight: PayoutSight;
  /** The token's code, or its address where the chain it came from is not configured any more. */
  readonly asset: string;
  /** All that the transaction brought the recipient; other send-outs may have been paid by it too. */
  readonly received: bigint;
}

/** What a chain of ours shows of a send-out's payout; the quoted amount where only the bridge's own report can be had. */
export async function seePayout(
  chains: Chains,
  { bridge, chainId, token: paidToken }: Authorization,
  txHash: Hex,
): Promise<SeenPayout> {
  if (bridge === null) return { sight: 'not_seen', asset: paidToken, received: 0n };
  const from = chains.all.find(({ settings }) => settings.chainId === chainId);
  const to = chains.all.find(({ settings }) => settings.slug === bridge.destinationChain);
  const code = from?.settings.tokens.find(({ address }) => sameAddress(address, paidToken))?.code;
  const token = to?.settings.tokens.find((candidate) => candidate.code === code);
  const asset = code ?? paidToken;
  const quoted = BigInt(bridge.toAmount);
  if (to === undefined || token === undefined) return { sight: 'elsewhere', asset, received: quoted };
  const received = await receivedIn(to, txHash, token.address, bridge.destinationAddress);
  return { sight: received >= quoted ? 'arrived' : 'not_seen', asset, received };
}
