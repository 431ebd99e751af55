import type { Address, TokenTransfer } from './chain-settings.ts';

/**
 * Who receives what when an escrow is emptied. Each function empties it exactly: what it pays sums to what was
 * deposited, so nothing is created, lost or left behind.
 */

interface ReleaseFigures {
  token: Address;
  /** The order's crypto_amount, in atomic units. */
  cryptoAmount: bigint;
  platformFee: bigint;
  treasury: Address;
  partnerWallet: Address;
}

/** On-ramp: the vendor deposited crypto_amount. What the partner keeps as its own fee is part of its share. */
export function onrampRelease(figures: ReleaseFigures): TokenTransfer[] {
  const { token, cryptoAmount, platformFee, treasury, partnerWallet } = figures;
  return payable([
    { token, to: partnerWallet, amount: cryptoAmount - platformFee },
    { token, to: treasury, amount: platformFee },
  ]);
}

/** Off-ramp: the partner deposited crypto_amount + partner_fee, less what the platform accepted to be missing. */
export function offrampRelease(
  figures: ReleaseFigures & { partnerFee: bigint; shortfall?: bigint; buyer: Address },
): TokenTransfer[] {
  const {
    token,
    cryptoAmount,
    platformFee,
    partnerFee,
    shortfall = 0n,
    treasury,
    partnerWallet,
    buyer,
  } = figures;
  return payable([
    { token, to: buyer, amount: cryptoAmount - platformFee },
    { token, to: treasury, amount: platformFee - shortfall },
    { token, to: partnerWallet, amount: partnerFee },
  ]);
}

/** The whole deposit back to whoever sold, in either direction. */
export function refund(figures: { token: Address; deposit: bigint; seller: Address }): TokenTransfer[] {
  return payable([{ token: figures.token, to: figures.seller, amount: figures.deposit }]);
}

/** A fee of zero is not transferred: some tokens refuse it, and it would cost gas to say nothing. */
function payable(transfers: TokenTransfer[]): TokenTransfer[] {
  if (transfers.some(({ amount }) => amount < 0n)) throw new Error('a payout cannot be negative');
  const positive = transfers.filter(({ amount }) => amount > 0n);
  if (positive.length === 0) throw new Error('a payout moves something');
  return positive;
}
