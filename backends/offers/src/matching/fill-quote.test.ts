import { parseRate } from '@causeway/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareForCustomer } from '../book/customer-rate.ts';
import { customerRate, type Offer, OfferBook, type Vendor } from '../book/index.ts';
import { aContext, anOffer, aRequest, aVendor, railsOf, SEPA } from '../testing/offer-fixtures.ts';
import { contextArb, requestArb, rowsArb } from '../testing/offer-world.ts';
import { fillQuote, firmQuote } from './fill-quote.ts';
import type { MatchRequest } from './match.types.ts';
import { matchOffer } from './match-offer.ts';

const OTHER = aVendor({ vendorId: 'vendor-2' });
const PROVIDER = aVendor({ vendorId: 'provider-1', kind: 'direct' });
const VENDORS = [aVendor(), OTHER, PROVIDER];
const other = (changes: Partial<Offer> = {}) =>
  anOffer({ offerId: 'offer-2', vendorId: 'vendor-2', ...changes });

function quoteOf(offer: Offer, request: Partial<MatchRequest> = {}) {
  const asked = aRequest(request);
  const outcome = matchOffer(OfferBook.of({ vendors: VENDORS, offers: [offer] }), asked, aContext());
  if (!outcome.ok) throw new Error(JSON.stringify(outcome));
  return firmQuote(asked, outcome.match);
}

function honour(
  quote: ReturnType<typeof quoteOf>,
  offers: readonly Offer[],
  vendors: readonly Vendor[] = VENDORS,
  context = aContext(),
) {
  return fillQuote(OfferBook.of({ vendors, offers }), quote, context);
}

describe('the quoted vendor serves', () => {
  const quote = quoteOf(anOffer());

  test('where nothing has changed', () => {
    expect(honour(quote, [anOffer()])).toMatchObject({ outcome: 'same_vendor', offerChanged: false });
  });

  test.each<[string, Partial<Offer>]>([
    ['its price', { pricing: { type: 'fixed', price: '2' } }],
    ['its kind of price', { pricing: { type: 'margin', percent: '50' } }],
    ['its range', { minAmount: '500' }],
  ])('at the quoted price although it has changed %s', (_, changes) => {
    const cheaper = other({ pricing: { type: 'fixed', price: '0.5' } });
    expect(honour(quote, [anOffer({ ...changes, version: 2 }), cheaper])).toMatchObject({
      outcome: 'same_vendor',
      serving: { offer: { offerId: 'offer-1' } },
      offerChanged: true,
    });
  });

  test('whatever the market does', () => {
    const margin = quoteOf(anOffer({ pricing: { type: 'margin', percent: '1' } }));
    for (const referenceRate of [undefined, '0.1', '10']) {
      const context = aContext({ referenceRate });
      expect(honour(margin, [anOffer()], VENDORS, context).outcome).toBe('same_vendor');
    }
  });
});

describe('the quoted vendor is released and, without another, the quote refused', () => {
  const quote = quoteOf(anOffer(), { country: 'DE', paymentMethodSlug: 'n26' });
  const shut = railsOf({ 'iban-sepa': { methods: { revolut: ['DE'] } } });
  const narrow = { minAmount: null, maxAmount: '99.99', maxPerTransaction: null };

  test.each<[string, readonly Offer[], (readonly Vendor[])?, ReturnType<typeof aContext>?]>([
    ['offer_gone', []],
    ['offer_gone', [anOffer({ authorized: false })]],
    ['offer_gone', [anOffer({ side: 'BUY' })]],
    ['offer_gone', [anOffer({ fiatCurrency: 'GBP' })]],
    ['offer_gone', [anOffer({ cryptoCurrency: 'USDT' })]],
    ['offer_gone', [anOffer()], [aVendor({ online: false })]],
    ['offer_gone', [anOffer()], [aVendor({ active: false })]],
    ['country', [anOffer({ countries: ['FR'] })]],
    ['payment_network', [anOffer({ paymentOptions: [{ networkSlug: 'pix', methodSlugs: 'all' }] })]],
    [
      'payment_method',
      [anOffer({ paymentOptions: [{ networkSlug: 'iban-sepa', methodSlugs: ['revolut'] }] })],
    ],
    ['institution_not_live', [anOffer()], VENDORS, aContext({ rail: shut })],
    [
      'rail_limits',
      [anOffer()],
      VENDORS,
      aContext({ rail: railsOf({ 'iban-sepa': { ...SEPA['iban-sepa']!, limits: narrow } }) }),
    ],
    ['insufficient_balance', [anOffer({ availableBalance: '99.999999' })]],
  ])('%s', (quotedVendor, offers, vendors, context) => {
    expect(honour(quote, offers, vendors, context)).toEqual({ outcome: 'refused', quotedVendor, others: {} });
  });
});

describe('another vendor takes over', () => {
  const quote = quoteOf(anOffer());
  const rematch = (offer: Offer, of = quote, context = aContext()) => honour(of, [offer], VENDORS, context);

  test('at its own price or where the quote pays it more', () => {
    for (const price of ['1', '0.98']) {
      const outcome = rematch(other({ pricing: { type: 'fixed', price } }));
      expect(outcome).toMatchObject({ outcome: 'reassigned', quotedVendor: 'offer_gone' });
    }
  });

  test('the best of several, also behind the offer that was quoted', () => {
    const priced = (offerId: string, price: string) => other({ offerId, pricing: { type: 'fixed', price } });
    const best = [priced('dear', '1'), priced('best', '0.97'), priced('good', '0.98')];
    expect(honour(quote, best)).toMatchObject({ serving: { offer: { offerId: 'best' } } });
    const spent = anOffer({ availableBalance: '1', createdAt: 1 });
    expect(honour(quote, [spent, other({ createdAt: 2 })])).toMatchObject({
      outcome: 'reassigned',
      quotedVendor: 'insufficient_balance',
      serving: { offer: { offerId: 'offer-2' } },
    });
  });

  test('up to both ends of its range', () => {
    expect(rematch(other({ minAmount: '100' })).outcome).toBe('reassigned');
    expect(rematch(other({ maxAmount: '100' })).outcome).toBe('reassigned');
  });

  test('never at a rate that is none', () => {
    expect(() => rematch(other(), { ...quote, rate: '1e3' })).toThrow('not a rate: "1e3"');
  });

  test('never below its own price', () => {
    expect(rematch(other({ pricing: { type: 'fixed', price: '1.000000001' } }))).toMatchObject({
      outcome: 'refused',
    });
    const buyer = anOffer({ side: 'BUY' });
    const selling = quoteOf(buyer, { direction: 'offramp' });
    expect(
      rematch(other({ side: 'BUY', pricing: { type: 'fixed', price: '0.999999' } }), selling).outcome,
    ).toBe('refused');
    expect(rematch(other({ side: 'BUY', pricing: { type: 'fixed', price: '1.01' } }), selling).outcome).toBe(
      'reassigned',
    );
  });

  test('judged by the market of the moment where it asks a margin', () => {
    const margin = other({ pricing: { type: 'margin', percent: '1' } });
    expect(rematch(margin, quote, aContext({ referenceRate: '0.99' })).outcome).toBe('reassigned');
    expect(rematch(margin, quote, aContext({ referenceRate: '1' })).outcome).toBe('refused');
    expect(rematch(margin, quote, aContext({ referenceRate: undefined })).outcome).toBe('refused');
  });

  test.each<[string, Partial<Offer>]>([
    ['amount_below_offer', { minAmount: '100.01' }],
    ['amount_above_offer', { maxAmount: '99.99' }],
    ['insufficient_balance', { availableBalance: '99' }],
    ['payment_method', { paymentOptions: [{ networkSlug: 'iban-sepa', methodSlugs: ['revolut'] }] }],
  ])('only within its own terms: %s', (reason, changes) => {
    expect(rematch(other(changes))).toEqual({
      outcome: 'refused',
      quotedVendor: 'offer_gone',
      others: { [reason]: 1 },
    });
  });

  test('only within the partner’s scope and with the notification that was promised', () => {
    const byProvider = anOffer({ offerId: 'offer-3', vendorId: 'provider-1', kind: 'direct' });
    const p2pOnly = quoteOf(anOffer(), { providerScope: 'p2p' });
    expect(rematch(byProvider, p2pOnly)).toMatchObject({ outcome: 'refused', others: { provider_scope: 1 } });
    const promised = quoteOf(byProvider);
    expect(rematch(other(), promised)).toMatchObject({
      outcome: 'refused',
      others: { no_settlement_notification: 1 },
    });
    // The reverse costs neither side anything.
    expect(rematch(byProvider).outcome).toBe('reassigned');
  });
});

function rateOf(text: string | undefined) {
  const rate = parseRate(text);
  return rate.ok ? rate.value : undefined;
}

test('a quote initiated on the book it was made from is served by the quoted offer', () => {
  fc.assert(
    fc.property(rowsArb, requestArb, contextArb, (rows, request, { context }) => {
      const book = OfferBook.of(rows);
      const outcome = matchOffer(book, request, context);
      if (!outcome.ok) return;
      const filled = fillQuote(book, firmQuote(request, outcome.match), context);
      expect(filled).toMatchObject({
        outcome: 'same_vendor',
        serving: { offer: { offerId: outcome.match.offer.offerId } },
        offerChanged: false,
      });
    }),
    { numRuns: 2_000 },
  );
});

test('a vendor that takes over asks the quoted rate or less and can carry the quoted figures', () => {
  let reassigned = 0;
  fc.assert(
    fc.property(rowsArb, requestArb, contextArb, ({ vendors, offers }, request, { context }) => {
      // Every offer has a twin at the same price, or there would hardly ever be a vendor to take over.
      const twins = offers.map((offer) => ({ ...offer, offerId: `${offer.offerId}-twin` }));
      const book = OfferBook.of({ vendors, offers: [...offers, ...twins] });
      const outcome = matchOffer(book, request, context);
      if (!outcome.ok) return;
      const without = book.withChanged({ removedOfferIds: [outcome.match.offer.offerId] });
      const filled = fillQuote(without, firmQuote(request, outcome.match), context);
      const narrowed = {
        ...request,
        paymentMethodSlug: outcome.match.paymentMethodSlug,
        paymentNetworkSlug: outcome.match.paymentNetworkSlug,
        settlementNotificationRequired: outcome.match.hasFiatSettlementNotification,
      };
      const next = matchOffer(without, narrowed, context);
      // Who would match at the very same rate can take over; so may one whose better rate asked for other amounts.
      if (next.ok && next.match.rate === outcome.match.rate) expect(filled.outcome).toBe('reassigned');
      if (filled.outcome !== 'reassigned') return;
      reassigned += 1;
      const { offer, terms } = filled.serving;
      const { price, rate } = outcome.match;
      const own = customerRate(terms, offer.side, rateOf(context.referenceRate));
      if (own === undefined) throw new Error('taken over without a price');
      expect(compareForCustomer(offer.side, own, rateOf(rate)!)).toBeLessThanOrEqual(0);
      const fiat = price.fiatAmount * 10n ** BigInt(6 - request.fiat.decimals);
      expect(fiat >= terms.minFiat && fiat <= terms.maxFiat).toBe(true);
      const traded =
        request.direction === 'onramp' ? price.cryptoAmount : price.cryptoAmount - price.platformFee;
      expect(traded * 10n ** BigInt(36 - request.crypto.decimals) <= terms.balance).toBe(true);
    }),
    { numRuns: 1_500 },
  );
  expect(reassigned).toBeGreaterThan(75);
});
