import type { OperatorOrder, OrderAuditTrail } from '@causeway/sdk';
import { type Address, type reviewEscrowPayout, SigningRefusedError } from '@causeway/sdk/signing';

type Transfer = Parameters<typeof reviewEscrowPayout>[2][number];

/** What the escrow of an order may pay, and to which wallet the partner’s fee where it is paid apart. */
export interface Payout {
  readonly transfers: readonly Transfer[];
  readonly feeWallet?: string;
}

export interface PayoutTerms {
  readonly order: Pick<
    OperatorOrder,
    'direction' | 'origin' | 'crypto_amount' | 'platform_fee' | 'partner_fee'
  >;
  /** What the escrow was to be paid, as decimal text. */
  readonly deposit: string;
  /** As they were fixed with the escrow. */
  readonly owners: { readonly seller: string; readonly buyer: string };
  readonly token: { readonly address: string; readonly decimals: number };
  readonly treasury: string;
  /** The partner’s, of now and of the time since the order was opened. */
  readonly wallets: readonly string[];
}

/**
 * The wallet that a partner has now, and those that it has had since. An escrow keeps the wallets of its time, and the API
 * names its owners, not to whom the partner’s fee goes.
 */
export function walletsSince(
  current: string,
  changes: readonly Pick<OrderAuditTrail['audit'][number], 'before'>[],
): readonly string[] {
  const earlier = changes
    .map(({ before }) => before?.wallet_address)
    .filter((wallet) => typeof wallet === 'string');
  return [...new Set([current, ...earlier])];
}

/** Every payout that is right for the order, the likeliest first: they differ in nothing but in how the partner has its fee. */
export function payoutsOf(terms: PayoutTerms, purpose: 'release' | 'refund'): readonly Payout[] {
  const { order, deposit, owners, token, treasury, wallets } = terms;
  const atomic = (amount: string) => unitsOf(amount, token.decimals);
  const pay = (to: string, amount: bigint): Transfer => ({
    token: token.address as Address,
    to: to as Address,
    amount,
  });
  if (purpose === 'refund') return [{ transfers: [pay(owners.seller, atomic(deposit))] }];
  const [crypto, platform, fee] = [order.crypto_amount, order.platform_fee, order.partner_fee].map(
    atomic,
  ) as [bigint, bigint, bigint];
  const isOnramp = order.direction === 'onramp';
  const opener = isOnramp ? owners.buyer : owners.seller;
  // Off-ramp the platform may have taken a deposit that is short, out of its own fee.
  const toPlatform = isOnramp ? platform : platform - (crypto + fee - atomic(deposit));
  const apart = (feeWallet: string): Payout => ({
    feeWallet,
    transfers: [
      pay(owners.buyer, crypto - platform - (isOnramp ? fee : 0n)),
      pay(treasury, toPlatform),
      pay(feeWallet, fee),
    ],
  });
  // What is the partner’s own escrow pays it all at once, or back to where it came from.
  const own: Payout = isOnramp
    ? { transfers: [pay(owners.buyer, crypto - platform), pay(treasury, toPlatform)] }
    : { transfers: apart(opener).transfers };
  if (order.origin !== 'widget') return [own];
  const isOwn = wallets.some((wallet) => wallet.toLowerCase() === opener.toLowerCase());
  return [...(isOwn ? [own] : []), ...wallets.map(apart)];
}

/** With what the review of it answers; where none fits, the first says what is wrong. */
export function firstThatFits<Reviewed>(
  payouts: readonly Payout[],
  review: (payout: Payout) => Reviewed,
): { readonly fitting: Payout; readonly reviewed: Reviewed } {
  let refusal: unknown;
  for (const fitting of payouts) {
    try {
      return { fitting, reviewed: review(fitting) };
    } catch (error) {
      if (!(error instanceof SigningRefusedError)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

/** A decimal amount in the smallest units, without a float on the way. */
function unitsOf(amount: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  if (fraction.length > decimals)
    throw new SigningRefusedError('AMOUNT_MISMATCH', 'amount', `${decimals} decimals`, amount);
  return BigInt(whole + fraction.padEnd(decimals, '0'));
}
