import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { matchOffer } from '../matching/index.ts';
import { aContext, anOffer, aRequest, aVendor } from '../testing/offer-fixtures.ts';
import { contextArb, requestArb, rowsArb } from '../testing/offer-world.ts';
import type { Offer } from './offer.ts';
import { OfferBook } from './offer-book.ts';

const bookOf = (...offers: Offer[]) => OfferBook.of({ vendors: [aVendor()], offers });

describe('a row that cannot be used is left out and named', () => {
  test.each<[string, Partial<Offer>]>([
    ['unknown_vendor', { vendorId: 'nobody' }],
    ['kind_differs_from_vendor', { kind: 'direct' }],
    ['invalid_price', { pricing: { type: 'fixed', price: '0' } }],
    ['invalid_price', { pricing: { type: 'fixed', price: '1e3' } }],
    ['invalid_margin', { pricing: { type: 'margin', percent: '100' } }],
    ['invalid_margin', { pricing: { type: 'margin', percent: '-100' } }],
    ['invalid_margin', { pricing: { type: 'margin', percent: '0.0000001' } }],
    ['invalid_range', { minAmount: '1000.01' }],
    ['invalid_range', { minAmount: '-1' }],
    ['invalid_range', { minAmount: '0', maxAmount: '0' }],
    ['invalid_range', { maxAmount: '1.0000001' }],
    ['invalid_balance', { availableBalance: '' }],
    ['no_payment_option', { paymentOptions: [] }],
    ['no_payment_option', { paymentOptions: [{ networkSlug: 'pix', methodSlugs: [] }] }],
    [
      'repeated_payment_network',
      { paymentOptions: Array(2).fill({ networkSlug: 'pix', methodSlugs: 'all' }) },
    ],
    ['invalid_version', { version: 0 }],
  ])('%s', (problem, changes) => {
    const book = bookOf(anOffer({ offerId: 'good' }), anOffer({ offerId: 'bad', ...changes }));
    expect(book.problems()).toEqual([{ offerId: 'bad', problem }]);
    expect(book.pair('SELL', 'USDC', 'EUR')?.eligible.fixed.map(({ offer }) => offer.offerId)).toEqual([
      'good',
    ]);
    expect(book.eligibleOffer('bad')).toBeUndefined();
  });

  test('and comes in when its vendor does', () => {
    const early = OfferBook.of({ vendors: [], offers: [anOffer()] });
    expect(early.problems()).toHaveLength(1);
    const later = early.withChanged({ vendors: [aVendor()] });
    expect(later.problems()).toEqual([]);
    expect(later.eligibleOffer('offer-1')?.offer).toEqual(anOffer());
  });
});

describe('a change', () => {
  test('makes another book and leaves the first as it was', () => {
    const before = bookOf(anOffer());
    const after = before.withChanged({ vendors: [aVendor({ online: false })] });
    expect(before.eligibleOffer('offer-1')).toBeDefined();
    expect(after.eligibleOffer('offer-1')).toBeUndefined();
    expect(after.pair('SELL', 'USDC', 'EUR')?.ineligible.vendor_offline).toBe(1);
  });

  test('shares the pairs it does not touch', () => {
    const before = bookOf(anOffer(), anOffer({ offerId: 'other', fiatCurrency: 'GBP' }));
    const after = before.withChanged({ offers: [anOffer({ version: 2, authorized: false })] });
    expect(after.pair('SELL', 'USDC', 'GBP')).toBe(before.pair('SELL', 'USDC', 'GBP'));
    expect(after.pair('SELL', 'USDC', 'EUR')).not.toBe(before.pair('SELL', 'USDC', 'EUR'));
  });

  test('that is older than what is known is ignored', () => {
    const book = bookOf(anOffer({ version: 3 })).withChanged({
      offers: [anOffer({ version: 2, authorized: false })],
    });
    expect(book.offer('offer-1')).toEqual(anOffer({ version: 3 }));
  });

  test('of the same version is taken: the row read last is the one that holds', () => {
    const book = bookOf(anOffer()).withChanged({ offers: [anOffer({ availableBalance: '7' })] });
    expect(book.offer('offer-1')?.availableBalance).toBe('7');
  });

  test('moves an offer from one pair to another', () => {
    const book = bookOf(anOffer()).withChanged({ offers: [anOffer({ version: 2, side: 'BUY' })] });
    expect(book.pair('SELL', 'USDC', 'EUR')).toBeUndefined();
    expect(book.pair('BUY', 'USDC', 'EUR')).toBeDefined();
  });

  test('removes an offer', () => {
    const book = bookOf(anOffer()).withChanged({ removedOfferIds: ['offer-1', 'unknown'] });
    expect([...book.pairs()]).toEqual([]);
    expect(book.offerCount).toBe(0);
  });

  test('by change gives what building anew gives', () => {
    fc.assert(
      fc.property(rowsArb, rowsArb, requestArb, contextArb, (first, second, request, { context }) => {
        const newer = second.offers.map((offer) => ({ ...offer, version: 2 }));
        const gone = first.offers.filter((_, index) => index % 3 === 0).map(({ offerId }) => offerId);
        const changed = OfferBook.of(first).withChanged({
          vendors: second.vendors,
          offers: newer,
          removedOfferIds: gone,
        });
        const anew = OfferBook.of({
          vendors: second.vendors,
          offers: [...first.offers.filter(({ offerId }) => !gone.includes(offerId)), ...newer],
        });
        expect(changed.rows()).toEqual(anew.rows());
        expect(changed.problems()).toEqual(anew.problems());
        const listed = (book: OfferBook) =>
          [...book.pairs()]
            .map((pair) => ({ ...pair, problems: [] }))
            .sort((a, b) => (a.side < b.side ? -1 : 1));
        expect(listed(changed)).toEqual(listed(anew));
        expect(matchOffer(changed, request, context)).toEqual(matchOffer(anew, request, context));
      }),
      { numRuns: 500 },
    );
  });
});

test('one changed offer among ten thousand is put in its place without reading the others', () => {
  const book = bookOf(
    ...Array.from({ length: 10_000 }, (_, index) =>
      anOffer({ offerId: `offer-${index}`, pricing: { type: 'margin', percent: `1.${10_000 + index}` } }),
    ),
  );
  const before = book.pair('SELL', 'USDC', 'EUR')?.eligible.margin ?? [];
  const moved = anOffer({ offerId: 'offer-9999', version: 2, pricing: { type: 'margin', percent: '0.5' } });
  const after = book.withChanged({ offers: [moved] }).pair('SELL', 'USDC', 'EUR')?.eligible.margin ?? [];
  expect(after[0]?.offer).toBe(moved);
  // The very same objects: nothing of them was read again.
  expect(after.slice(1).every((candidate, index) => candidate === before[index])).toBe(true);
  expect(after).toHaveLength(10_000);
});

test('a match among ten thousand offers touches as few as among a hundred', () => {
  const touched = (size: number) => {
    const offers = Array.from({ length: size }, (_, index) =>
      anOffer({
        offerId: `offer-${index}`,
        pricing: { type: 'margin', percent: `1.${index}` },
        // Every third offer is too small, as some better-priced ones always are.
        availableBalance: index % 3 === 0 ? '1' : '5000',
      }),
    );
    const outcome = matchOffer(bookOf(...offers), aRequest(), aContext());
    expect(outcome.ok).toBe(true);
    return Object.values(outcome.rejected).reduce((sum, count) => sum + count, 1);
  };
  expect(touched(10_000)).toBeLessThanOrEqual(3);
  expect(touched(100)).toBeLessThanOrEqual(3);
});
