import { describe, expect, it } from 'vitest';
import { buildCatalogue } from './catalogue.ts';
import { loadReferenceFiles } from './reference-files.ts';

const data = loadReferenceFiles();
const catalogue = buildCatalogue(data);

describe('fiat currencies and pass-through', () => {
  // Proves C2.4.
  it('lists the methods with an active option and derives both directions from them', () => {
    const inr = catalogue.fiatCurrencies().find(({ code }) => code === 'INR');
    expect(inr).toMatchObject({
      institution_id: ['imps-or-neft-transfer', 'upi'],
      onramp: true,
      offramp: true,
    });
    const gbp = catalogue.fiatCurrencies().find(({ code }) => code === 'GBP');
    expect(gbp?.institution_id).toContain('other-bank');
    expect(gbp?.institution_id).not.toContain('sainsburys-bank');
  });

  // Proves C2.4.
  it('turns a currency off when no rail of it is live', () => {
    const without = structuredClone(data);
    for (const rail of without.rails) if (rail.currencies.includes('KWD')) rail.live = false;
    const other = buildCatalogue(without);
    const kwd = other.fiatCurrencies().find(({ code }) => code === 'KWD');
    expect(kwd).toMatchObject({ institution_id: [], onramp: false, offramp: false });
    expect(other.rail('kuwait-transfer')).toBeUndefined();
    expect(other.supportedPairs().some((pair) => pair.fiat_currency_code === 'KWD')).toBe(false);
  });

  it('answers one method the same by id, slug, currency and network', () => {
    const { paymentMethods } = catalogue;
    const upi = paymentMethods.bySlug('upi');
    expect(upi).toBeDefined();
    expect(paymentMethods.byId(upi?.id ?? 0)).toBe(upi);
    expect(paymentMethods.byFiat('INR')).toContain(upi);
    expect(paymentMethods.byNetworkAndFiat('upi-india', 'INR')).toEqual([upi]);
    expect(paymentMethods.byNetworkAndFiat('upi-india', 'USD')).toEqual([]);
    expect(paymentMethods.optionsOf(upi?.id ?? 0)?.map((option) => option.payment_network_slug)).toEqual([
      'upi-india',
    ]);
    expect(paymentMethods.byId(0)).toBeUndefined();
    expect(paymentMethods.optionsOf(0)).toBeUndefined();
  });

  it('has options that name existing methods, networks, currencies and countries', () => {
    const ids = new Set<string>();
    for (const option of catalogue.paymentMethods.allOptions()) {
      expect(catalogue.paymentMethods.byId(option.payment_method_id)?.slug).toBe(option.payment_method_slug);
      expect(catalogue.rail(option.payment_network_slug)?.id).toBe(option.payment_network_id);
      expect(catalogue.fiatCurrency(option.fiat_currency_code)).toBeDefined();
      expect(option.countries.length).toBeGreaterThan(0);
      expect(option.countries.every(catalogue.hasCountry)).toBe(true);
      ids.add(option.id);
    }
    expect(ids.size).toBe(catalogue.paymentMethods.allOptions().length);
  });

  it('shows methods by network and networks by method as one and the same relation', () => {
    const forward = catalogue.paymentMethods
      .currenciesWithMethods()
      .flatMap(({ fiat_currency_code, payment_methods }) =>
        payment_methods.flatMap(({ slug, payment_networks }) =>
          payment_networks.map((network) => `${fiat_currency_code}/${network.slug}/${slug}`),
        ),
      );
    const inverse = catalogue.paymentMethods
      .currenciesWithNetworks()
      .flatMap(({ fiat_currency_code, payment_networks }) =>
        payment_networks.flatMap(({ slug, payment_methods }) =>
          payment_methods.map((method) => `${fiat_currency_code}/${slug}/${method.slug}`),
        ),
      );
    expect(forward.toSorted()).toEqual(inverse.toSorted());
    const active = catalogue.paymentMethods.allOptions().filter((option) => option.active);
    expect(forward).toHaveLength(active.length);
  });

  it('pairs every asset with every currency that has a rail', () => {
    const pairs = catalogue.supportedPairs();
    expect(pairs).toHaveLength(3 * data.fiatCurrencies.length);
    expect(pairs.find((pair) => pair.fiat_currency_code === 'CNY')).toMatchObject({
      onramp: false,
      offramp: true,
    });
  });

  it('lists countries with the currencies used there', () => {
    const poland = catalogue.countriesWithCurrencies().find(({ code }) => code === 'PL');
    expect(poland?.currencies.map(({ code }) => code)).toEqual(['EUR', 'PLN']);
    const euro = catalogue.paymentMethods.currencyCountries().find((one) => one.fiat_currency_code === 'EUR');
    const austria = euro?.countries.find(({ code }) => code === 'AT');
    expect(austria?.payment_methods).toContain('erste-bank-der-oesterreichischen-sparkassen');
    expect(austria?.payment_methods).not.toContain('deutsche-bank');
  });
});
