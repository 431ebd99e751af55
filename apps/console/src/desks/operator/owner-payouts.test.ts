import { SigningRefusedError } from '@causeway/sdk/signing';
import { describe, expect, it } from 'vitest';
import { firstThatFits, type PayoutTerms, payoutsOf, walletsSince } from './owner-payouts.ts';

const [VENDOR, CUSTOMER, TREASURY, THEN, NOW] = ['aa', 'bb', 'cc', 'dd', 'ee'].map(
  (byte) => `0x${byte.repeat(20)}`,
) as [string, string, string, string, string];

const ONRAMP: PayoutTerms = {
  order: {
    direction: 'onramp',
    origin: 'widget',
    crypto_amount: '100.00',
    platform_fee: '1.50',
    partner_fee: '2.00',
  },
  deposit: '100.00',
  owners: { seller: VENDOR, buyer: CUSTOMER },
  token: { address: `0x${'01'.repeat(20)}`, decimals: 2 },
  treasury: TREASURY,
  wallets: [NOW, THEN],
};
const OFFRAMP: PayoutTerms = {
  ...ONRAMP,
  order: { ...ONRAMP.order, direction: 'offramp' },
  deposit: '102.00',
  owners: { seller: CUSTOMER, buyer: VENDOR },
};
const byApi = (terms: PayoutTerms, wallet: string): PayoutTerms => {
  const { direction } = terms.order;
  const own = direction === 'onramp' ? { buyer: wallet } : { seller: wallet };
  return { ...terms, order: { ...terms.order, origin: 'api' }, owners: { ...terms.owners, ...own } };
};

/** Whom each payout pays, in cents. */
const paid = (terms: PayoutTerms, purpose: 'release' | 'refund' = 'release') =>
  payoutsOf(terms, purpose).map(({ transfers }) => transfers.map(({ to, amount }) => [to, Number(amount)]));

describe('what an escrow may pay', () => {
  it('of a partner’s own order is the wallet that owns it, whatever wallet the partner has now', () => {
    expect(paid(byApi(ONRAMP, THEN))).toEqual([
      [
        [THEN, 9_850],
        [TREASURY, 150],
      ],
    ]);
    expect(paid(byApi(OFFRAMP, THEN))).toEqual([
      [
        [VENDOR, 9_850],
        [TREASURY, 150],
        [THEN, 200],
      ],
    ]);
  });

  it('of a customer’s order is the customer, and the partner’s fee at a wallet that it has or had', () => {
    const rest = [
      [CUSTOMER, 9_650],
      [TREASURY, 150],
    ];
    expect(paid(ONRAMP)).toEqual([
      [...rest, [NOW, 200]],
      [...rest, [THEN, 200]],
    ]);
    expect(payoutsOf(ONRAMP, 'release').map(({ feeWallet }) => feeWallet)).toEqual([NOW, THEN]);
    const toVendor = [
      [VENDOR, 9_850],
      [TREASURY, 150],
    ];
    expect(paid(OFFRAMP)).toEqual([
      [...toVendor, [NOW, 200]],
      [...toVendor, [THEN, 200]],
    ]);
  });

  it('where a former wallet of the partner opened it, that owner may also have it all at once', () => {
    const [whole, ...others] = paid({ ...ONRAMP, owners: { ...ONRAMP.owners, buyer: THEN.toUpperCase() } });
    expect(whole).toEqual([
      [THEN.toUpperCase(), 9_850],
      [TREASURY, 150],
    ]);
    expect(others).toHaveLength(2);
  });

  it('takes what is missing of a deposit from the platform’s fee', () => {
    expect(paid({ ...OFFRAMP, deposit: '101.00', wallets: [NOW] })).toEqual([
      [
        [VENDOR, 9_850],
        [TREASURY, 50],
        [NOW, 200],
      ],
    ]);
  });

  it('as a refund is the whole deposit, to the seller', () => {
    expect(paid(OFFRAMP, 'refund')).toEqual([[[CUSTOMER, 10_200]]]);
    expect(paid(ONRAMP, 'refund')).toEqual([[[VENDOR, 10_000]]]);
  });

  it('refuses an amount that the token cannot have', () => {
    expect(() => payoutsOf({ ...ONRAMP, deposit: '100.001' }, 'refund')).toThrow(SigningRefusedError);
  });
});

describe('wallets of a partner', () => {
  it('are the one of now and those before each change, each once', () => {
    const changes = [
      { before: { wallet_address: THEN } },
      { before: { platform_fee_pct: '1.5' } },
      { before: null },
      { before: { wallet_address: NOW } },
    ];
    expect(walletsSince(NOW, changes)).toEqual([NOW, THEN]);
    expect(walletsSince(NOW, [])).toEqual([NOW]);
  });
});

describe('the payout that fits', () => {
  const [first, second] = payoutsOf(ONRAMP, 'release');
  const refusal = (what: string) => new SigningRefusedError('CALLDATA_MISMATCH', what, 'a', 'b');

  it('is the first that the review takes', () => {
    const answer = firstThatFits(
      [first, second].filter((one) => one !== undefined),
      (payout) => {
        if (payout === first) throw refusal('first');
        return 'reviewed';
      },
    );
    expect(answer).toEqual({ fitting: second, reviewed: 'reviewed' });
  });

  it('is none where none is taken, and the first says why', () => {
    const refused = () =>
      firstThatFits(payoutsOf(ONRAMP, 'release'), ({ feeWallet }) => {
        throw refusal(feeWallet ?? '');
      });
    expect(refused).toThrow(refusal(NOW));
  });

  it('hides no fault of the review itself', () => {
    const broken = () =>
      firstThatFits(payoutsOf(ONRAMP, 'release'), () => {
        throw new TypeError('broken');
      });
    expect(broken).toThrow(TypeError);
  });
});
