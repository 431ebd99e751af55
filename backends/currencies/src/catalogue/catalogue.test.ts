import { describe, expect, it } from 'vitest';
import { buildCatalogue } from './catalogue.ts';
import type { InstitutionsQuery } from './institution-listing.ts';
import { loadReferenceFiles } from './reference-files.ts';

const data = loadReferenceFiles();
const catalogue = buildCatalogue(data);

function railView(slug: string) {
  const rail = catalogue.rail(slug);
  const [direction] = rail?.directions ?? [];
  if (rail === undefined || direction === undefined) throw new Error(`no rail ${slug}`);
  const view = catalogue.paymentRails({ currency: rail.currencies[0], direction }).rails;
  return view.find((one) => one.slug === slug) ?? expect.fail(slug);
}

function institutions(query: InstitutionsQuery) {
  return catalogue.institutions(query) ?? expect.fail(`no rail ${query.rail}`);
}

describe('crypto listings', () => {
  // Proves C2.2.
  it('aggregates an asset over its chains with the contract of the first one', () => {
    const usdc = catalogue.cryptoCurrencies().find(({ code }) => code === 'USDC');
    expect(usdc?.blockchains[0]).toBe('ethereum-mainnet');
    expect(usdc?.contract).toBe('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48');
    const usdt0 = catalogue.cryptoCurrencies().find(({ code }) => code === 'USDT0');
    expect(usdt0?.blockchains[0]).toBe('arbitrum-one');
    expect(usdt0?.contract).toBe('0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9');
  });

  // Proves C2.2, C4.1 row 2.
  it('shows inside a chain the contract on that chain, which is its only blockchain', () => {
    for (const chain of catalogue.blockchains()) {
      for (const token of chain.crypto_currencies) {
        const source = data.chains.find(({ slug }) => slug === chain.slug);
        expect(source?.tokens.find(({ code }) => code === token.code)?.address).toBe(token.contract);
        expect(token.blockchains).toEqual([chain.slug]);
      }
    }
  });

  it('lets a local chain stand for a listed one, with its own id and tokens', () => {
    const address = '0x000000000000000000000000000000000000dEaD';
    const tokens = [{ code: 'USDT0', address, decimals: 6 }];
    const sandbox = buildCatalogue(data, {
      localChains: [{ slug: 'base-mainnet', chainId: 31_337, tokens }],
    });
    const base = sandbox.blockchains().find(({ slug }) => slug === 'base-mainnet');
    expect(base?.crypto_currencies.map(({ code, contract }) => [code, contract])).toEqual([
      ['USDT0', address],
    ]);
    expect(sandbox.chain('base-mainnet')?.chainId).toBe(31_337);
    expect(sandbox.cryptoCurrencies().find(({ code }) => code === 'USDT0')?.contract).toBe(address);
    expect(catalogue.chain('base-mainnet')?.chainId).toBe(8_453);
  });

  it('refuses a local chain that stands for nothing', () => {
    expect(() =>
      buildCatalogue(data, { localChains: [{ slug: 'nowhere', chainId: 1, tokens: [] }] }),
    ).toThrow();
  });
});

describe('C4.1, the rules for rails and institutions', () => {
  // Proves C4.1 rule 1.
  it('rule 1: a rail that requires an institution refuses to go without, one that does not goes on', () => {
    for (const rail of data.rails) {
      const resolved = catalogue.resolveInstitution({ rail: rail.slug });
      if (rail.institutionRequired) expect(resolved).toEqual({ ok: false, reason: 'INSTITUTION_REQUIRED' });
      else expect(resolved?.ok, rail.slug).toBe(true);
    }
  });

  // Proves C4.1 rule 2.
  it.each([
    ['iban-sepa', 'other-bank'],
    ['nip-nigeria', 'other-bank'],
    ['faster-payments', 'other-bank'],
    ['imps-neft-india', 'imps-or-neft-transfer'],
    ['alipay-china', 'alipay'],
    ['wechat-china', 'wechat-pay'],
    ['interac-canada', 'interac-e-transfer'],
  ])('rule 2: on %s an omitted institution resolves to %s', (rail, slug) => {
    expect(catalogue.resolveInstitution({ rail })).toMatchObject({ ok: true, institution: { slug } });
  });

  // Proves C4.1 rule 2.
  it('rule 2: what an omission resolves to passes the same checks as if sent', () => {
    const paused = structuredClone(data);
    for (const one of paused.institutions) if (one.slug === 'alipay') one.live = false;
    const other = buildCatalogue(paused);
    const refusal = { ok: false, reason: 'INSTITUTION_NOT_AVAILABLE' };
    expect(other.resolveInstitution({ rail: 'alipay-china' })).toEqual(refusal);
    expect(other.resolveInstitution({ rail: 'alipay-china', institutionId: 'alipay' })).toEqual(refusal);
    expect(catalogue.resolveInstitution({ rail: 'iban-sepa', country: 'US' })).toEqual(refusal);
  });

  // Proves C4.1 rule 3, D8.11.
  it('rule 3: the Canadian e-transfer is addressed to an email or a phone, not to a bank', () => {
    const rail = railView('interac-canada');
    expect(rail.fields.map(({ key }) => key)).toEqual(['full_name', 'email', 'phone_number']);
    expect(rail.require_one_of).toEqual([['email', 'phone_number']]);
    expect(rail.institution_required).toBe(false);
  });

  it('the rails on which the payee asks for the money say so in their own data', () => {
    expect(data.rails.filter(({ paymentRequest }) => paymentRequest).map(({ slug }) => slug)).toEqual([
      'interac-canada',
    ]);
  });

  // Proves C4.1 rule 4.
  it('rule 4: imps-neft-india needs bank_name, ifsc_code, account_number, full_name and no institution', () => {
    const rail = railView('imps-neft-india');
    expect(rail.institution_required).toBe(false);
    expect(rail.institution_lookup_key).toBe('ifsc');
    const required = rail.fields.filter((field) => field.required).map(({ key }) => key);
    expect(required).toEqual(['bank_name', 'ifsc_code', 'account_number', 'full_name']);
    expect(rail.fields.some(({ key }) => key === 'institution_id')).toBe(false);
  });

  // Proves C4.1 rule 4, C2.6.
  it('rule 4: a sent institution is ignored, and the directory of 1,510 carries no payment ids', () => {
    const rail = 'imps-neft-india';
    const ignored = catalogue.resolveInstitution({ rail, institutionId: 'no-such-bank' });
    expect(ignored).toMatchObject({ ok: true, institution: { slug: 'imps-or-neft-transfer' } });
    const { pagination } = institutions({ rail });
    expect(pagination).toEqual({ total: 1_510, limit: 20, offset: 0 });
    const all = institutions({ rail, limit: 2_000 }).institutions;
    expect(all.some((one) => 'payment_method_id' in one || 'payment_network_id' in one)).toBe(false);
    expect(institutions({ rail, code: 'hdfc' }).institutions.map(({ name }) => name)).toEqual(['HDFC Bank']);
  });

  // Proves C4.1 rule 5, D8.11.
  it.each(['ghana-transfer', 'ethiopia-transfer'])(
    'rule 5: on %s the institution’s type picks the format, mobile money by phone, banks by account',
    (slug) => {
      const page = institutions({ rail: slug, limit: 100 }).institutions;
      for (const one of page) {
        const keys = catalogue.detailsFormat(slug, one.institution_type)?.fields.map(({ key }) => key);
        const keyed = one.institution_type === 'mobile-money' ? 'phone_number' : 'account_number';
        expect(keys, one.id).toEqual([keyed, 'full_name']);
      }
      expect(new Set(page.map((one) => one.institution_type)).size).toBeGreaterThan(1);
      const required = railView(slug).fields.filter((field) => field.required);
      expect(required.map(({ key }) => key)).toEqual(['full_name']);
    },
  );

  // Proves C4.1 rule 6, D8.11.
  it('rule 6: cnaps has a format for persons and one for companies, and only those', () => {
    const formats = railView('cnaps').formats ?? [];
    expect(formats.map(({ id, beneficiary_type }) => [id, beneficiary_type])).toEqual([
      ['cnaps-bank', 'individual'],
      ['cnaps-bank_business', 'business'],
    ]);
    const business = catalogue.detailsFormat('cnaps', 'traditional-banks', 'business');
    expect(business?.fields.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['company_name', 'company_name_native']),
    );
    expect(catalogue.detailsFormat('cnaps', 'traditional-banks')?.formatId).toBe('cnaps-bank');
  });

  // Proves C4.1 rule 6, C8 row 6, D8.11.
  it.each(['alipay-china', 'wechat-china'])(
    'rule 6: %s has one wallet and one format, for persons',
    (slug) => {
      expect(institutions({ rail: slug }).pagination.total).toBe(1);
      const formats = railView(slug).formats ?? [];
      expect(formats).toHaveLength(1);
      expect(formats[0]?.fields.map(({ key }) => key)).toEqual([
        'full_name',
        'account_number',
        'mobile_number',
      ]);
      expect(catalogue.detailsFormat(slug, 'mobile-wallets', 'business')).toBeUndefined();
      expect(catalogue.detailsFormat(slug, 'mobile-wallets')?.senderIdentity?.fieldLimits).toEqual({
        first_name: 60,
        last_name: 60,
        address: 70,
        city: 50,
        id_number: 30,
      });
    },
  );

  // Proves C4.1 rule 7.
  it('rule 7: what is not live is not listed and cannot be chosen', () => {
    const dark = data.institutions.filter((one) => one.live === false);
    for (const one of dark) {
      for (const rail of one.supportedRails) {
        const found = institutions({ rail, institutionId: one.slug });
        expect(found.institutions, one.slug).toEqual([]);
        expect(catalogue.resolveInstitution({ rail, institutionId: one.slug })?.ok).toBe(false);
      }
    }
  });

  // Proves C4.1 rule 7.
  it('rule 7: live on one rail and suspended on another are told apart', () => {
    const slug = 'sterling-bank-of-asia';
    const [listed] = institutions({ rail: 'instapay-philippines', institutionId: slug }).institutions;
    expect(listed?.supported_rails).toEqual(['instapay-philippines']);
    expect(institutions({ rail: 'pesonet-philippines', institutionId: slug }).institutions).toEqual([]);
  });

  // Proves C4.1 rule 7.
  it('rule 7: an institution of another country than the one asked for is not returned', () => {
    const german = institutions({ rail: 'iban-sepa', country: 'DE', limit: 100 });
    const ids = german.institutions.map(({ id }) => id);
    expect(ids).toContain('deutsche-bank');
    expect(ids).not.toContain('bnp-paribas');
    expect(institutions({ rail: 'iban-sepa', currency: 'USD' }).pagination.total).toBe(0);
  });
});

describe('the rails listing', () => {
  // Proves C4.1 row 4.
  it('filters by country, currency and direction and names what it filtered by', () => {
    const answer = catalogue.paymentRails({ country: 'CN', direction: 'offramp' });
    expect(answer).toMatchObject({ country: 'CN', currency: 'CNY', direction: 'offramp' });
    expect(answer.rails.map(({ slug }) => slug)).toEqual(['cnaps', 'alipay-china', 'wechat-china']);
    expect(catalogue.paymentRails({ country: 'CN', direction: 'onramp' }).rails).toEqual([]);
    const british = catalogue.paymentRails({ country: 'GB', currency: 'EUR', direction: 'onramp' });
    expect(british.rails.map(({ slug }) => slug)).toEqual(['iban-sepa']);
    expect(british.links['institutions:iban-sepa']).toBe(
      '/api/v1/supported/institutions?rail=iban-sepa&country=GB&currency=EUR',
    );
  });

  // Proves C2.5.
  it('says nothing about liquidity that is unknown, and what it is told otherwise', () => {
    expect(railView('cnaps').formats?.some((format) => 'has_liquidity' in format)).toBe(false);
    const told = catalogue.withLiquidity((_direction, _rail, format) =>
      format === 'cnaps-bank' ? true : format === 'cnaps-bank_business' ? false : undefined,
    );
    const rails = told.paymentRails({ currency: 'CNY', direction: 'offramp' }).rails;
    const marks = rails.flatMap((rail) => rail.formats ?? []).map((format) => format.has_liquidity);
    expect(marks).toEqual([true, false, undefined, undefined]);
  });

  it('keeps what is internal off the wire', () => {
    for (const direction of ['onramp', 'offramp'] as const) {
      for (const currency of data.fiatCurrencies) {
        const text = JSON.stringify(catalogue.paymentRails({ currency: currency.code, direction }));
        expect(text).not.toMatch(
          /"(format|senderIdentity|relationships|defaultInstitution|paymentRequest)":/,
        );
      }
    }
  });

  it('hands out the same frozen answer again', () => {
    const query = { country: 'DE', direction: 'onramp' } as const;
    expect(catalogue.paymentRails(query)).toBe(catalogue.paymentRails(query));
    expect(Object.isFrozen(catalogue.paymentRails(query).rails[0]?.fields)).toBe(true);
  });
});

describe('the institutions listing', () => {
  it('knows no rail that is not there', () => {
    expect(catalogue.institutions({ rail: 'nowhere' })).toBeUndefined();
  });

  it('pages without overlap or gap', () => {
    const rail = 'iban-sepa';
    const { total } = institutions({ rail }).pagination;
    const ids: string[] = [];
    for (let offset = 0; offset < total; offset += 97) {
      const page = institutions({ rail, limit: 97, offset });
      expect(page.pagination).toEqual({ total, limit: 97, offset });
      ids.push(...page.institutions.map(({ id }) => id));
    }
    expect(new Set(ids).size).toBe(total);
    expect(institutions({ rail, offset: total }).institutions).toEqual([]);
  });

  // Proves C2.6.
  it('gives the ids of the method and of the queried rail', () => {
    const [first] = institutions({ rail: 'faster-payments', institutionId: 'barclays' }).institutions;
    const [sepa] = institutions({ rail: 'iban-sepa', institutionId: 'barclays' }).institutions;
    expect(first).toMatchObject({ payment_network_id: catalogue.rail('faster-payments')?.id, code: '20' });
    expect(sepa).toMatchObject({ payment_network_id: catalogue.rail('iban-sepa')?.id, code: 'BARCGB22' });
    expect(first?.payment_method_id).toBe(sepa?.payment_method_id);
  });

  it('finds a Nigerian bank by its CBN code and by its NIP code', () => {
    for (const code of ['044', '000014']) {
      const [bank] = institutions({ rail: 'nip-nigeria', code }).institutions;
      expect(bank).toMatchObject({ id: 'access-bank', code: '044' });
    }
  });

  it('finds banks by name without accents', () => {
    const names = institutions({ rail: 'iban-sepa', search: 'societe generale' }).institutions;
    expect(names[0]?.name).toBe('Société Générale');
  });
});
