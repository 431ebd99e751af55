import { type Asset, CausewayError, formatAmount, parseAmount } from '@causeway/protocol';
import { invalidRequest } from '../../http/errors.ts';
import { type Catalogue, convertAtomic } from '../../upstream/currencies.port.ts';
import type { RateReading, RateTable } from '../../upstream/rate-table.ts';

/** What the rates endpoints answer, from a catalogue and a table of rates. */
export interface RateView {
  readonly base: string;
  readonly quote: string;
  readonly rate: string | null;
  readonly status: string;
  readonly as_of: string | null;
}

/** The asset behind a code as it is written in a query; a code that is not served is the caller's mistake. */
export function assetOf(catalogue: Catalogue, code: string, field: string): Asset {
  const upper = code.toUpperCase();
  const fiat = catalogue.fiatCurrency(upper);
  if (fiat !== undefined) return { code: fiat.code, decimals: fiat.minorUnits };
  const crypto = catalogue.cryptoCurrencies().find((candidate) => candidate.code === upper);
  if (crypto !== undefined) return { code: crypto.code, decimals: crypto.decimals };
  throw invalidRequest(field, 'is not a currency that is served');
}

/**
 * Both codes: that pair. One code: it against every currency. None: the pairs that are really quoted, from which all
 * others follow.
 */
export function listRates(
  catalogue: Catalogue,
  rates: RateTable,
  base: string | undefined,
  quote: string | undefined,
): { rates: RateView[]; updated_at: string } {
  if (rates.legs.length === 0) throw new CausewayError('SERVICE_UNAVAILABLE');
  return {
    rates: readings(catalogue, rates, base, quote).map(viewOf),
    updated_at: new Date(rates.publishedAt).toISOString(),
  };
}

function readings(
  catalogue: Catalogue,
  rates: RateTable,
  base: string | undefined,
  quote: string | undefined,
): readonly RateReading[] {
  const from = base === undefined ? undefined : assetOf(catalogue, base, 'base').code;
  const to = quote === undefined ? undefined : assetOf(catalogue, quote, 'quote').code;
  if (from !== undefined && to !== undefined) return [rates.rate(from, to)];
  if (from === undefined && to === undefined) return rates.legs;
  const codes = [
    ...catalogue.cryptoCurrencies().map(({ code }) => code),
    ...catalogue.currencies().map(({ code }) => code),
  ].filter((code) => code !== from && code !== to);
  return codes.map((code) => rates.rate(from ?? code, to ?? code));
}

function viewOf({ base, quote, rate, status, asOf }: RateReading): RateView {
  return { base, quote, rate, status, as_of: asOf === null ? null : new Date(asOf).toISOString() };
}

/** What an amount is worth at the market's rate. A rate that may not be priced on converts nothing. */
export function convertAmount(
  catalogue: Catalogue,
  rates: RateTable,
  request: { readonly from: string; readonly to: string; readonly amount: string },
): object {
  const from = assetOf(catalogue, request.from, 'from');
  const to = assetOf(catalogue, request.to, 'to');
  const amount = parseAmount(request.amount, from);
  if (!amount.ok) {
    throw invalidRequest('amount', `must be a decimal string with at most ${from.decimals} decimals`);
  }
  const decision = rates.requireRate(from.code, to.code);
  if (!decision.ok) throw new CausewayError('SERVICE_UNAVAILABLE', { cause: decision.refusal });
  const { rate, asOf } = decision.rate;
  const atomic = convertAtomic(amount.value, to.decimals, rate, 'floor');
  return {
    from: from.code,
    to: to.code,
    amount: formatAmount(amount.value),
    converted_amount: formatAmount({ atomic, asset: to }),
    rate,
    as_of: new Date(asOf).toISOString(),
  };
}
