import type { Address, Hex } from './chain-settings.ts';

/**
 * The way to other chains: a bridge quotes, is paid by the router with the quote's id, and pays out on the other side.
 * Whether it has is its word, asked for again until it is final.
 */
export interface BridgePort {
  /** Throws `BridgeRefusedError` where it does not serve the wish. */
  quote(wish: BridgeWish): Promise<BridgeQuote>;
  track(quoteId: Hex): Promise<BridgeProgress>;
}

export interface BridgeWish {
  readonly fromChainId: number;
  readonly toChainId: number;
  /** On the chain it comes from. */
  readonly token: Address;
  readonly amount: bigint;
  /** Whoever pays the deposit, and gets it back if the bridge cannot do it. */
  readonly sender: Address;
  readonly recipient: Address;
}

export interface BridgeQuote {
  readonly quoteId: Hex;
  /** Where the deposit goes. */
  readonly solver: Address;
  /** What arrives, in atomic units of the token on the other chain. */
  readonly toAmount: bigint;
  readonly expiresAt: Date;
}

export type BridgeProgress =
  | { readonly state: 'pending' }
  | { readonly state: 'settled'; readonly txHash: Hex; readonly toAmount: bigint }
  /** It will not be paid out any more, and whoever deposited has the deposit back. */
  | { readonly state: 'failed'; readonly reason: string };

export class BridgeRefusedError extends Error {
  override readonly name = 'BridgeRefusedError';
}

/** The bridge does not answer, or not with an answer: nothing is known. */
export class BridgeUnavailableError extends Error {
  override readonly name = 'BridgeUnavailableError';
}
