import type { Rail } from '@causeway/sdk';
import { type ToolContext, ToolError } from './tool.ts';
import type { Shown } from './views.ts';

export const SUPPORTED = [
  'corridors',
  'rails',
  'institutions',
  'crypto_currencies',
  'fiat_currencies',
  'blockchains',
] as const;

interface SupportedQuery {
  readonly what: (typeof SUPPORTED)[number];
  readonly direction?: 'onramp' | 'offramp';
  readonly country?: string;
  readonly currency?: string;
  readonly crypto_currency?: string;
  readonly rail?: string;
  readonly search?: string;
  readonly limit?: number;
}

/** What the deployment supports, cut down to what was asked for. */
export async function listSupported(query: SupportedQuery, context: ToolContext): Promise<Shown> {
  const { limit = 20 } = query;
  const { items, total = items.length } = await READERS[query.what](query, context);
  return { items: items.slice(0, limit), total, truncated: total > limit };
}

type Reader = (
  query: SupportedQuery,
  context: ToolContext,
) => Promise<{ readonly items: readonly unknown[]; readonly total?: number }>;

const READERS: Readonly<Record<SupportedQuery['what'], Reader>> = {
  async corridors({ country, currency, crypto_currency }, { causeway, options }) {
    const { corridors } = await causeway.supported.corridors(options);
    return {
      items: corridors.filter(
        (one) =>
          isSame(one.country, country) &&
          isSame(one.fiat_currency, currency) &&
          isSame(one.crypto_currency, crypto_currency),
      ),
    };
  },
  async rails({ direction = 'offramp', country, currency, rail }, { causeway, options }) {
    if (country === undefined && currency === undefined) {
      throw new ToolError('INVALID_ARGUMENTS', 'Rails are asked for by country or currency.');
    }
    const { rails } = await causeway.supported.paymentRails({ direction, country, currency }, options);
    return { items: rails.filter(({ slug }) => isSame(slug, rail)).map(railView) };
  },
  async institutions({ rail, country, currency, search, limit = 20 }, { causeway, options }) {
    if (rail === undefined) throw new ToolError('INVALID_ARGUMENTS', 'Institutions are asked for by rail.');
    const { institutions, pagination } = await causeway.supported.institutions(
      { rail, country, currency, search, limit },
      options,
    );
    return {
      items: institutions.map(({ id, name, type, code }) => ({ id, name, type, code })),
      total: pagination.total,
    };
  },
  crypto_currencies: async (_query, { causeway, options }) => ({
    items: await causeway.supported.cryptoCurrencies(options),
  }),
  fiat_currencies: async ({ currency }, { causeway, options }) => ({
    items: (await causeway.supported.fiatCurrencies(options))
      .filter(({ code }) => isSame(code, currency))
      .map(({ code, name, minor_units, countries, onramp, offramp }) => ({
        ...{ code, name, minor_units, countries, onramp, offramp },
      })),
  }),
  blockchains: async (_query, { causeway, options }) => ({
    items: (await causeway.supported.blockchains(options)).map(({ name, slug, crypto_currencies }) => ({
      ...{ name, slug, tokens: crypto_currencies.map(({ code }) => code) },
    })),
  }),
};

function railView({
  slug,
  name,
  currencies,
  countries,
  directions,
  settlement,
  limits,
  fields,
  ...more
}: Rail) {
  return {
    ...{ slug, name, currencies, countries, directions, settlement, limits },
    institution_required: more.institution_required,
    fields: fields.map(({ key, label, type, required, pattern }) => ({
      key,
      label,
      type,
      required,
      pattern,
    })),
    ...(more.require_one_of === undefined ? {} : { require_one_of: more.require_one_of }),
    ...(more.formats === undefined ? {} : { formats: more.formats.map((format) => format.id) }),
  };
}

function isSame(value: string, wanted: string | undefined): boolean {
  return wanted === undefined || value.toLowerCase() === wanted.toLowerCase();
}
