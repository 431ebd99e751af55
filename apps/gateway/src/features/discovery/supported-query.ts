import { type ErrorKey, MAX_OFFSET, SupportedResourceError } from '@causeway/protocol';
import { ISO_COUNTRIES, ISO_CURRENCIES } from '../../lib/iso-codes.ts';

/** Reads the queries of the supported-resources endpoints: every problem has its own error_key. */
export type RawQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

export type Direction = 'onramp' | 'offramp';

export interface PaymentRailsQuery {
  readonly country: string | undefined;
  readonly currency: string | undefined;
  readonly direction: Direction;
}

export interface InstitutionsQuery {
  readonly rail: string;
  readonly institutionId: string | undefined;
  readonly country: string | undefined;
  readonly currency: string | undefined;
  readonly search: string | undefined;
  readonly code: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

const MAX_SLUG_LENGTH = 80;
const MAX_SEARCH_LENGTH = 100;
const MAX_CODE_LENGTH = 32;
const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

export function readPaymentRailsQuery(query: RawQuery): PaymentRailsQuery {
  const direction = single(query, 'direction');
  if (direction !== 'onramp' && direction !== 'offramp')
    throw new SupportedResourceError('invalid_direction');
  const country = readCountry(query);
  const currency = readCurrency(query);
  if (country === undefined && currency === undefined) {
    throw new SupportedResourceError('missing_country_or_currency');
  }
  return { country, currency, direction };
}

export function readInstitutionsQuery(query: RawQuery, isRail: (slug: string) => boolean): InstitutionsQuery {
  const rail = single(query, 'rail')?.toLowerCase();
  if (rail === undefined || rail.length > MAX_SLUG_LENGTH || !isRail(rail)) {
    throw new SupportedResourceError('invalid_rail');
  }
  return {
    rail,
    institutionId: readText(query, 'institution_id', MAX_SLUG_LENGTH),
    country: readCountry(query),
    currency: readCurrency(query),
    search: readText(query, 'search', MAX_SEARCH_LENGTH),
    code: readText(query, 'code', MAX_CODE_LENGTH),
    limit: readInteger(query, 'limit', 1, MAX_LIMIT, DEFAULT_LIMIT),
    offset: readInteger(query, 'offset', 0, MAX_OFFSET, 0),
  };
}

/** A parameter that is sent empty, as forms do, counts as not sent; one that is sent twice has no meaning. */
function single(query: RawQuery, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw new SupportedResourceError('validation_error');
  return value;
}

function readCountry(query: RawQuery): string | undefined {
  return readCode(query, 'country', /^[A-Za-z]{2}$/, ISO_COUNTRIES, 'invalid_country');
}

function readCurrency(query: RawQuery): string | undefined {
  return readCode(query, 'currency', /^[A-Za-z]{3}$/, ISO_CURRENCIES, 'invalid_currency');
}

// The pattern comes before the change of case, which turns some other letters into ASCII ones.
function readCode(
  query: RawQuery,
  name: string,
  pattern: RegExp,
  known: ReadonlySet<string>,
  key: ErrorKey,
): string | undefined {
  const value = single(query, name);
  if (value === undefined) return undefined;
  const code = pattern.test(value) ? value.toUpperCase() : '';
  if (!known.has(code)) throw new SupportedResourceError(key);
  return code;
}

function readText(query: RawQuery, name: string, maxLength: number): string | undefined {
  const value = single(query, name)?.trim();
  if (value === undefined || value === '') return undefined;
  if (value.length > maxLength) throw new SupportedResourceError('validation_error');
  return value;
}

function readInteger(query: RawQuery, name: string, min: number, max: number, fallback: number): number {
  if (query[name] === undefined) return fallback;
  const value = single(query, name);
  if (value === undefined || !/^\d{1,10}$/.test(value)) throw new SupportedResourceError('validation_error');
  const number = Number(value);
  if (number < min || number > max) throw new SupportedResourceError('validation_error');
  return number;
}
