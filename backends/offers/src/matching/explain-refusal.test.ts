import { EXCLUSION_CONDITIONS } from '@causeway/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Offer, Vendor } from '../book/index.ts';
import { OfferBook } from '../book/index.ts';
import { aContext, anOffer, aRequest, aVendor, percent, railsOf, SEPA } from '../testing/offer-fixtures.ts';
import { explainRefusal } from './explain-refusal.ts';
import type { MatchContext, MatchRequest } from './match.types.ts';
import { matchOffer } from './match-offer.ts';

const DIRECT = aVendor({ vendorId: 'provider-1', kind: 'direct' });
const byProvider = { vendorId: 'provider-1', kind: 'direct' } as const;

const RAILS = railsOf({
  ...SEPA,
  'ach-us': { methods: { chase: ['US'] } },
  'sepa-instant': { methods: { n26: ['DE'], bunq: ['FR'] } },
});

function excludedBy(
  offers: readonly Offer[],
  request: Partial<MatchRequest> = {},
  context: Partial<MatchContext> = {},
  vendors: readonly Vendor[] = [aVendor(), DIRECT],
) {
  const book = OfferBook.of({ vendors, offers });
  const given = [aRequest(request), aContext({ rail: RAILS, ...context })] as const;
  expect(matchOffer(book, ...given).ok, 'asked only where nothing serves the request').toBe(false);
  return explainRefusal(book, ...given);
}

describe('one condition', () => {
  const range = (minAmount: string, maxAmount: string) => [
    { condition: 'amount_range', range: { currency: 'EUR', minAmount, maxAmount } },
  ];

  test.each<[string, Parameters<typeof excludedBy>, object[]]>([
    ['no offers for the pair', [[anOffer({ fiatCurrency: 'GBP' })]], [{ condition: 'pair' }]],
    ['offline', [[anOffer()], {}, {}, [aVendor({ online: false })]], [{ condition: 'no_vendor_online' }]],
    [
      'suspended, as if it were not there',
      [[anOffer()], {}, {}, [aVendor({ active: false })]],
      [{ condition: 'pair' }],
    ],
    ['not authorized, likewise', [[anOffer({ authorized: false })]], [{ condition: 'pair' }]],
    [
      'scope',
      [[anOffer()], { providerScope: 'direct' }],
      [{ condition: 'provider_scope', available: ['p2p'] }],
    ],
    [
      'notification',
      [[anOffer()], { settlementNotificationRequired: true }],
      [{ condition: 'settlement_notification' }],
    ],
    ['country', [[anOffer()], { country: 'ES' }], [{ condition: 'country', available: ['DE', 'FR'] }]],
    ['rail', [[anOffer()], { paymentNetworkSlug: 'pix' }], [{ condition: 'rail', available: ['iban-sepa'] }]],
    ['method', [[anOffer()], { paymentMethodSlug: 'bunq' }], [{ condition: 'payment_method' }]],
    ['too little', [[anOffer()], { amount: 999n }], range('10.00', '1000.00')],
    ['too much', [[anOffer()], { amount: 100_001n }], range('10.00', '1000.00')],
    ['too much for what is left', [[anOffer({ availableBalance: '50' })]], range('10.00', '50.00')],
    ['sold out', [[anOffer({ availableBalance: '5' })]], [{ condition: 'liquidity' }]],
  ])('%s', (_what, args, expected) => {
    expect(excludedBy(...args)).toEqual(expected);
  });

  test('the other side of the pair has the same words', () => {
    const buyer = anOffer({ side: 'BUY' });
    expect(excludedBy([buyer], { direction: 'offramp', amount: 999n })).toEqual(range('10.00', '1000.00'));
    expect(excludedBy([buyer], { direction: 'offramp', paymentNetworkSlug: 'pix' })).toEqual([
      { condition: 'rail', available: ['iban-sepa'] },
    ]);
  });

  test('a country in which no institution of the rail is live is not among those that would do', () => {
    const offer = anOffer({ paymentOptions: [{ networkSlug: 'sepa-instant', methodSlugs: ['bunq'] }] });
    expect(excludedBy([offer], { country: 'DE' })).toEqual([{ condition: 'country', available: ['FR'] }]);
  });
});

describe('several offers', () => {
  test('a range spans all that nothing but the amount keeps away; other conditions are told beside it', () => {
    const offers = [
      anOffer({ offerId: '1', minAmount: '10', maxAmount: '50' }),
      anOffer({ offerId: '2', minAmount: '200', maxAmount: '300' }),
      anOffer({
        offerId: '3',
        minAmount: '1',
        maxAmount: '5000',
        countries: ['US'],
        paymentOptions: [{ networkSlug: 'ach-us', methodSlugs: ['chase'] }],
      }),
    ];
    expect(excludedBy(offers, { country: 'DE', amount: 10_000n })).toEqual([
      { condition: 'country', available: ['US'] },
      { condition: 'amount_range', range: { currency: 'EUR', minAmount: '10.00', maxAmount: '300.00' } },
    ]);
  });

  test('only the nearest are told: what fails two conditions is left out where another fails one', () => {
    const offers = [anOffer({ offerId: '1', ...byProvider, countries: ['US'] }), anOffer({ offerId: '2' })];
    expect(
      excludedBy(offers, { providerScope: 'p2p', country: 'FR', paymentNetworkSlug: 'sepa-instant' }),
    ).toEqual([{ condition: 'rail', available: ['iban-sepa'] }]);
  });

  test('where every offer fails two, both are told', () => {
    expect(excludedBy([anOffer()], { providerScope: 'direct', amount: 1n })).toEqual([
      { condition: 'provider_scope', available: ['p2p'] },
      { condition: 'amount_range', range: { currency: 'EUR', minAmount: '10.00', maxAmount: '1000.00' } },
    ]);
  });

  test('an offer without a live rail, or without a rate, tells nothing', () => {
    expect(excludedBy([anOffer()], {}, { rail: () => undefined })).toEqual([]);
    const margin = anOffer({ pricing: { type: 'margin', percent: '1' } });
    expect(excludedBy([margin], { country: 'ES' }, { referenceRate: undefined })).toEqual([]);
  });
});

test('changing the one condition that is told finds an offer, for any offers and requests', () => {
  const anyOffer = fc.record({
    offerId: fc.uuid(),
    minAmount: fc.constantFrom('1', '10', '60'),
    maxAmount: fc.constantFrom('60', '200', '1000'),
    availableBalance: fc.constantFrom('0', '30', '500'),
    countries: fc.subarray(['DE', 'FR', 'ES'], { minLength: 1 }),
    paymentOptions: fc
      .subarray(['iban-sepa', 'sepa-instant'], { minLength: 1 })
      .map((slugs) => slugs.map((networkSlug) => ({ networkSlug, methodSlugs: ['n26', 'bunq'] }))),
  });
  const anyRequest = fc.record(
    {
      amount: fc.constantFrom(50n, 5_000n, 50_000n, 500_000n),
      country: fc.constantFrom('DE', 'FR', 'ES'),
      paymentNetworkSlug: fc.constantFrom('iban-sepa', 'sepa-instant', 'pix'),
      paymentMethodSlug: fc.constantFrom('n26', 'bunq', 'revolut'),
      providerScope: fc.constantFrom('all' as const, 'p2p' as const, 'direct' as const),
      partnerFee: fc.constant(percent('0')),
    },
    { requiredKeys: ['amount', 'providerScope', 'partnerFee'] },
  );
  let told = 0;
  fc.assert(
    fc.property(fc.array(anyOffer, { maxLength: 5 }), anyRequest, (changes, asked) => {
      const book = OfferBook.of({ vendors: [aVendor()], offers: changes.map((change) => anOffer(change)) });
      const request = aRequest(asked);
      const context = aContext({ rail: RAILS });
      if (matchOffer(book, request, context).ok) return;
      const exclusions = explainRefusal(book, request, context);
      const order = exclusions.map(({ condition }) => EXCLUSION_CONDITIONS.indexOf(condition));
      expect(order).toEqual(order.toSorted((left, right) => left - right));
      const [only, another] = exclusions;
      if (only === undefined || another !== undefined) return;
      const serves = (change: Partial<MatchRequest>) =>
        matchOffer(book, { ...request, ...change }, context).ok;
      const inCents = (text: string) => BigInt(text.replace('.', ''));
      told += 1;
      const { minAmount, maxAmount } = only.range ?? {};
      const available = only.available ?? [];
      const cures: Partial<Record<string, Partial<MatchRequest>[]>> = {
        amount_range: [minAmount, maxAmount].map((bound) => ({ amount: inCents(bound ?? '') })),
        country: [undefined, ...available].map((country) => ({ country })),
        rail: [undefined, ...available].map((paymentNetworkSlug) => ({ paymentNetworkSlug })),
        payment_method: [{ paymentMethodSlug: undefined }],
        provider_scope: [{ providerScope: 'all' }],
      };
      for (const change of cures[only.condition] ?? []) {
        expect(serves(change), JSON.stringify({ ...change, amount: `${change.amount}` })).toBe(true);
      }
    }),
    { numRuns: 2_000, seed: 15 },
  );
  expect(told).toBeGreaterThan(300);
});
