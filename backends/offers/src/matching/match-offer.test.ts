import { describe, expect, test } from 'vitest';
import type { Offer, Vendor } from '../book/index.ts';
import { OfferBook } from '../book/index.ts';
import {
  aContext,
  anOffer,
  aRequest,
  aVendor,
  EUR,
  percent,
  railsOf,
  SEPA,
} from '../testing/offer-fixtures.ts';
import type { MatchContext, MatchRequest } from './match.types.ts';
import { matchOffer } from './match-offer.ts';

const DIRECT = aVendor({ vendorId: 'provider-1', kind: 'direct' });
const byProvider = { vendorId: 'provider-1', kind: 'direct' } as const;

function outcomeOf(
  offers: readonly Offer[],
  request: Partial<MatchRequest> = {},
  context: Partial<MatchContext> = {},
  vendors: readonly Vendor[] = [aVendor(), DIRECT],
) {
  return matchOffer(OfferBook.of({ vendors, offers }), aRequest(request), aContext(context));
}

function matchOf(...args: Parameters<typeof outcomeOf>) {
  const outcome = outcomeOf(...args);
  if (!outcome.ok) throw new Error(`refused: ${JSON.stringify(outcome)}`);
  return outcome.match;
}

function refusalOf(...args: Parameters<typeof outcomeOf>) {
  const outcome = outcomeOf(...args);
  if (outcome.ok) throw new Error(`matched ${outcome.match.offer.offerId}`);
  return { ...outcome.refusal, rejected: outcome.rejected };
}

describe('the best customer rate', () => {
  const cheap = anOffer({ offerId: 'cheap', pricing: { type: 'fixed', price: '0.99' } });
  const dear = anOffer({ offerId: 'dear', pricing: { type: 'fixed', price: '1.01' } });

  test('is the lowest where the customer buys', () => {
    expect(matchOf([dear, cheap])).toMatchObject({
      offer: { offerId: 'cheap' },
      rate: '0.99',
      direction: 'onramp',
    });
  });

  test('is the highest where the customer sells', () => {
    const offers = [cheap, dear].map((offer) => ({ ...offer, side: 'BUY' as const }));
    expect(matchOf(offers, { direction: 'offramp' })).toMatchObject({
      offer: { offerId: 'dear' },
      rate: '1.01',
      direction: 'offramp',
    });
  });

  test('rejects nothing on the way where the first offer serves', () => {
    expect(outcomeOf([cheap]).rejected).toEqual({});
  });

  test('compares margins with fixed prices at the reference rate of the moment', () => {
    const margin = anOffer({ offerId: 'margin', pricing: { type: 'margin', percent: '0.5' } });
    expect(matchOf([margin, dear], {}, { referenceRate: '1' })).toMatchObject({ rate: '1.005' });
    expect(matchOf([margin, dear], {}, { referenceRate: '1.02' })).toMatchObject({ rate: '1.01' });
  });

  test('goes to the next offer when the best cannot serve, and says why', () => {
    const outcome = outcomeOf([{ ...cheap, maxAmount: '50' }, dear]);
    expect(outcome).toMatchObject({
      ok: true,
      match: { offer: { offerId: 'dear' } },
      rejected: { amount_above_offer: 1 },
    });
  });

  test('carries the exact price of the four fee cases', () => {
    const fees = { partnerFee: percent('1') };
    const context = { platformFee: percent('0.5') };
    expect(matchOf([cheap], fees, context).price).toEqual({
      cryptoAmount: 101_010_101n,
      fiatAmount: 10_000n,
      platformFee: 505_050n,
      partnerFee: 1_010_101n,
      totalFee: 1_515_151n,
      receipt: 99_494_950n,
    });
  });
});

describe('equal rates are decided', () => {
  const vendors = [
    aVendor({ vendorId: 'a', reputation: { completedOrders: 5, failedOrders: 5, disputedOrders: 0 } }),
    aVendor({ vendorId: 'b', reputation: { completedOrders: 50, failedOrders: 1, disputedOrders: 0 } }),
    aVendor({ vendorId: 'c', reputation: { completedOrders: 50, failedOrders: 1, disputedOrders: 0 } }),
  ];
  const of = (offerId: string, vendorId: string, createdAt: number) =>
    anOffer({ offerId, vendorId, createdAt });

  test('by reputation first', () => {
    expect(matchOf([of('1', 'a', 1), of('2', 'b', 2)], {}, {}, vendors).offer.offerId).toBe('2');
  });

  test('then by age', () => {
    expect(matchOf([of('1', 'b', 2), of('2', 'c', 1)], {}, {}, vendors).offer.offerId).toBe('2');
  });

  test('then by id', () => {
    expect(matchOf([of('2', 'b', 1), of('1', 'c', 1)], {}, {}, vendors).offer.offerId).toBe('1');
  });

  test('also between a fixed price and a margin', () => {
    const fixed = anOffer({ offerId: '2', pricing: { type: 'fixed', price: '1.010' } });
    const margin = anOffer({ offerId: '1', pricing: { type: 'margin', percent: '1' } });
    expect(matchOf([fixed, margin]).offer.offerId).toBe('1');
    expect(matchOf([{ ...fixed, offerId: '0' }, margin]).offer.offerId).toBe('0');
  });
});

describe('rail and method', () => {
  const rails = railsOf({
    ...SEPA,
    'sepa-instant': { methods: { n26: ['DE'], bunq: ['FR'] } },
  });
  const offer = anOffer({
    paymentOptions: [
      { networkSlug: 'sepa-instant', methodSlugs: 'all' },
      { networkSlug: 'iban-sepa', methodSlugs: ['gone', 'revolut'] },
    ],
  });
  const choiceOf = (request: Partial<MatchRequest>) => {
    const { paymentNetworkSlug, paymentMethodSlug } = matchOf([offer], request, { rail: rails });
    return [paymentNetworkSlug, paymentMethodSlug];
  };

  test('are the vendor’s first live ones where the request leaves them open', () => {
    expect(choiceOf({})).toEqual(['sepa-instant', 'n26']);
    expect(choiceOf({ country: 'FR' })).toEqual(['sepa-instant', 'bunq']);
  });

  // Proves C4.5 rule 1.
  test('are narrowed by either slug', () => {
    expect(choiceOf({ paymentNetworkSlug: 'iban-sepa' })).toEqual(['iban-sepa', 'revolut']);
    expect(choiceOf({ paymentMethodSlug: 'revolut' })).toEqual(['iban-sepa', 'revolut']);
    expect(choiceOf({ paymentMethodSlug: 'bunq' })).toEqual(['sepa-instant', 'bunq']);
  });

  // Proves C8 row 8.
  test('pass to the next rail where a rail’s limits refuse the amount', () => {
    const limits = { minAmount: null, maxAmount: '50.00', maxPerTransaction: null };
    const limited = railsOf({ ...SEPA, 'sepa-instant': { limits, methods: { n26: ['DE'] } } });
    expect(matchOf([offer], {}, { rail: limited })).toMatchObject({ paymentNetworkSlug: 'iban-sepa' });
  });
});

test('a refusal tells how far the best of an offer’s rails got', () => {
  const offer = anOffer({
    paymentOptions: [
      { networkSlug: 'iban-sepa', methodSlugs: ['gone'] },
      { networkSlug: 'sepa-instant', methodSlugs: ['n26'] },
    ],
  });
  expect(refusalOf([offer], { paymentMethodSlug: 'gone' }).rejected).toEqual({ institution_not_live: 1 });
});

describe('a refusal counts its reason', () => {
  const none = 'NO_OFFERS_AVAILABLE';
  test.each<[string, Parameters<typeof outcomeOf>]>([
    ['vendor_inactive', [[anOffer()], {}, {}, [aVendor({ active: false })]]],
    ['vendor_offline', [[anOffer()], {}, {}, [aVendor({ online: false })]]],
    ['offer_not_authorized', [[anOffer({ authorized: false })]]],
    [
      'no_reference_rate',
      [[anOffer({ pricing: { type: 'margin', percent: '1' } })], {}, { referenceRate: undefined }],
    ],
    ['provider_scope', [[anOffer()], { providerScope: 'direct' }]],
    ['provider_scope', [[anOffer(byProvider)], { providerScope: 'p2p' }]],
    ['no_settlement_notification', [[anOffer()], { settlementNotificationRequired: true }]],
    ['country', [[anOffer()], { country: 'ES' }]],
    ['payment_network', [[anOffer()], { paymentNetworkSlug: 'pix' }]],
    ['payment_method', [[anOffer()], { paymentMethodSlug: 'bunq' }]],
    ['institution_not_live', [[anOffer()], {}, { rail: () => undefined }]],
    [
      'institution_not_live',
      [[anOffer()], {}, { rail: railsOf({ 'iban-sepa': { methods: { bunq: ['DE'] } } }) }],
    ],
    ['insufficient_balance', [[anOffer({ availableBalance: '99.999999' })]]],
  ])('%s', (reason, args) => {
    expect(refusalOf(...args)).toEqual({ code: none, rejected: { [reason]: 1 } });
  });

  test('nothing where the pair has no offers', () => {
    expect(refusalOf([anOffer({ fiatCurrency: 'GBP' })])).toEqual({ code: none, rejected: {} });
  });

  test('fees', () => {
    const request = { partnerFee: percent('60') };
    expect(refusalOf([anOffer()], request, { platformFee: percent('40') })).toEqual({
      code: 'INVALID_PARTNER_FEE',
      rejected: { fees: 1 },
    });
  });

  // Proves C8 row 2.
  test('a partner fee of 100 % is refused before any offer, except on a fiat-anchored off-ramp', () => {
    const partnerFee = percent('100');
    expect(refusalOf([], { partnerFee }).code).toBe('INVALID_PARTNER_FEE');
    expect(refusalOf([], { partnerFee, direction: 'offramp', anchor: 'crypto' }).code).toBe(
      'INVALID_PARTNER_FEE',
    );
    expect(refusalOf([], { partnerFee, direction: 'offramp', anchor: 'fiat' }).code).toBe(none);
  });

  test('several at once', () => {
    const offers = [
      anOffer({ offerId: '1', authorized: false }),
      anOffer({ offerId: '2', countries: ['US'] }),
      anOffer({ offerId: '3', countries: ['US'] }),
      anOffer({ offerId: '4', availableBalance: '0' }),
    ];
    expect(refusalOf(offers, { country: 'DE' }).rejected).toEqual({
      offer_not_authorized: 1,
      country: 2,
      insufficient_balance: 1,
    });
  });
});

describe('an amount that no offer takes is told with the range that would be served', () => {
  test('spanning offers that fail by nothing else', () => {
    const offers = [
      anOffer({ offerId: '1', minAmount: '10', maxAmount: '50' }),
      anOffer({ offerId: '2', minAmount: '200', maxAmount: '300' }),
      anOffer({ offerId: '3', minAmount: '1', maxAmount: '2', countries: ['US'] }),
    ];
    expect(refusalOf(offers, { country: 'DE' })).toEqual({
      code: 'AMOUNT_OUT_OF_RANGE',
      range: { currency: 'EUR', minAmount: '10.00', maxAmount: '300.00' },
      rejected: { amount_above_offer: 1, amount_below_offer: 1, country: 1 },
    });
  });

  // Proves C8 row 8.
  test.each([
    ['minAmount', { minAmount: '100.01', maxAmount: null, maxPerTransaction: null }, '100.01', '1000.00'],
    ['maxAmount', { minAmount: null, maxAmount: '99.99', maxPerTransaction: null }, '10.00', '99.99'],
    [
      'maxPerTransaction',
      { minAmount: '20', maxAmount: '500', maxPerTransaction: '99.99' },
      '20.00',
      '99.99',
    ],
  ])('within the rail’s %s', (_, limits, minAmount, maxAmount) => {
    const rail = railsOf({ 'iban-sepa': { limits, methods: { n26: ['DE'] } } });
    expect(refusalOf([anOffer()], {}, { rail })).toEqual({
      code: 'AMOUNT_OUT_OF_RANGE',
      range: { currency: 'EUR', minAmount, maxAmount },
      rejected: { rail_limits: 1 },
    });
  });

  test('by the tighter of the rail’s two limits', () => {
    const limits = { minAmount: null, maxAmount: '99.99', maxPerTransaction: '500' };
    const rail = railsOf({ 'iban-sepa': { limits, methods: { n26: ['DE'] } } });
    expect(refusalOf([anOffer()], {}, { rail })).toMatchObject({ range: { maxAmount: '99.99' } });
  });

  test('whichever offer is met first', () => {
    const wide = anOffer({ offerId: '1', minAmount: '200', maxAmount: '300' });
    const low = anOffer({ offerId: '2', minAmount: '10', maxAmount: '50', createdAt: 2_000 });
    expect(refusalOf([wide, low])).toMatchObject({ range: { minAmount: '10.00', maxAmount: '300.00' } });
    const exact = anOffer({ minAmount: '200', maxAmount: '200' });
    expect(refusalOf([exact])).toMatchObject({ range: { minAmount: '200.00', maxAmount: '200.00' } });
  });

  test('with what an offer would serve whose balance is too small for the amount', () => {
    const small = anOffer({ offerId: '1', maxAmount: '50' });
    const spent = anOffer({ offerId: '2', availableBalance: '80' });
    expect(refusalOf([small, spent])).toMatchObject({
      range: { minAmount: '10.00', maxAmount: '80.00' },
      rejected: { amount_above_offer: 1, insufficient_balance: 1 },
    });
  });

  test('within what the balance covers', () => {
    const offer = anOffer({ availableBalance: '200', pricing: { type: 'fixed', price: '1.5' } });
    expect(refusalOf([offer], { amount: 200_000n })).toMatchObject({
      code: 'AMOUNT_OUT_OF_RANGE',
      range: { minAmount: '10.00', maxAmount: '300.00' },
    });
  });

  test('and not where no amount at all would be served', () => {
    expect(refusalOf([anOffer({ availableBalance: '5' })], { amount: 200_000n })).toEqual({
      code: 'NO_OFFERS_AVAILABLE',
      rejected: { amount_above_offer: 1 },
    });
  });

  test('also where it rounds to nothing', () => {
    const offer = anOffer({
      pricing: { type: 'fixed', price: '90000000' },
      minAmount: '0',
      maxAmount: '1000',
    });
    expect(refusalOf([offer], { amount: 1n })).toMatchObject({
      code: 'AMOUNT_OUT_OF_RANGE',
      rejected: { amount_below_offer: 1 },
    });
  });

  test('both ends of a range are served', () => {
    expect(matchOf([anOffer()], { amount: 1_000n }).price.fiatAmount).toBe(1_000n);
    expect(matchOf([anOffer()], { amount: 100_000n }).price.fiatAmount).toBe(100_000n);
    expect(refusalOf([anOffer()], { amount: 999n }).code).toBe('AMOUNT_OUT_OF_RANGE');
    expect(refusalOf([anOffer()], { amount: 100_001n }).code).toBe('AMOUNT_OUT_OF_RANGE');
  });

  test('the range is judged on the fiat amount after fees', () => {
    // Receipt 990 at 1 % fee is a base of 1000 and exactly the maximum; one unit more is above it.
    const request = { anchor: 'crypto', partnerFee: percent('1') } as const;
    expect(matchOf([anOffer()], { ...request, amount: 990_000_000n }).price.fiatAmount).toBe(100_000n);
    expect(refusalOf([anOffer()], { ...request, amount: 990_010_000n }).rejected).toEqual({
      amount_above_offer: 1,
    });
  });
});

describe('the balance has to cover', () => {
  const request = { amount: 10_000n };
  test('all the crypto a seller locks', () => {
    const context = { platformFee: percent('10') };
    expect(matchOf([anOffer({ availableBalance: '100' })], request, context).price.cryptoAmount).toBe(
      100_000_000n,
    );
    expect(refusalOf([anOffer({ availableBalance: '99.999999' })], request, context).code).toBe(
      'NO_OFFERS_AVAILABLE',
    );
  });

  test('the crypto a buyer gets, without the platform’s fee', () => {
    const buyer = anOffer({ side: 'BUY', availableBalance: '100' });
    const offramp = { ...request, direction: 'offramp' } as const;
    const context = { platformFee: percent('10') };
    expect(matchOf([buyer], offramp, context).price.cryptoAmount).toBeGreaterThan(111_000_000n);
    expect(refusalOf([{ ...buyer, availableBalance: '99.999998' }], offramp, context).code).toBe(
      'NO_OFFERS_AVAILABLE',
    );
  });

  test('on tokens of 18 decimals too', () => {
    const crypto = { code: 'USDC', decimals: 18 };
    expect(
      matchOf([anOffer({ availableBalance: '100.000000000000000000' })], { crypto }).price.cryptoAmount,
    ).toBe(100n * 10n ** 18n);
    expect(refusalOf([anOffer({ availableBalance: '99.999999999999999999' })], { crypto }).rejected).toEqual({
      insufficient_balance: 1,
    });
  });
});

test('settlement notifications come from providers only', () => {
  expect(matchOf([anOffer()]).hasFiatSettlementNotification).toBe(false);
  const required = { settlementNotificationRequired: true };
  expect(matchOf([anOffer(byProvider)], required).hasFiatSettlementNotification).toBe(true);
});

test('a broken reference or limit is an error and not a price', () => {
  expect(() => outcomeOf([anOffer()], {}, { referenceRate: '1e3' })).toThrow(
    'the reference rate is not a rate: "1e3"',
  );
  const limits = { minAmount: 'x', maxAmount: null, maxPerTransaction: null };
  const rail = railsOf({ 'iban-sepa': { limits, methods: { n26: ['DE'] } } });
  expect(() => outcomeOf([anOffer()], { fiat: EUR }, { rail })).toThrow(
    'a rail\'s limit is not an amount: "x"',
  );
});
