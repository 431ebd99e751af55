import type {
  CorridorListSchema,
  FiatCurrencyListSchema,
  InstitutionListSchema,
  PaymentRailsSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { discover } from '../session/api.ts';
import type { PickerOption } from '../ui/picker-filter.ts';
import type { Corridor } from './choices.ts';

/** Listings of the service, read once each; a listing that failed is read again the next time. */
export type Rail = Static<typeof PaymentRailsSchema>['rails'][number];

const read = new Map<string, Promise<unknown>>();

function once<T>(path: string): Promise<T> {
  const known = read.get(path);
  if (known !== undefined) return known as Promise<T>;
  const asked = discover<T>(path);
  read.set(path, asked);
  asked.catch(() => read.delete(path));
  return asked;
}

export interface Listings {
  readonly corridors: readonly Corridor[];
  /** Decimals by fiat currency: ISO 4217, which a browser does not follow for all of them. */
  readonly minorUnits: ReadonlyMap<string, number>;
}

export async function listings(): Promise<Listings> {
  const [{ corridors }, currencies] = await Promise.all([
    once<Static<typeof CorridorListSchema>>('corridors'),
    once<Static<typeof FiatCurrencyListSchema>>('fiat-currencies'),
  ]);
  return { corridors, minorUnits: new Map(currencies.map(({ code, minor_units }) => [code, minor_units])) };
}

export async function railsOf(
  country: string,
  currency: string,
  side: 'onramp' | 'offramp',
): Promise<readonly Rail[]> {
  const query = new URLSearchParams({ country, currency, direction: side });
  return (await once<Static<typeof PaymentRailsSchema>>(`payment-rails?${query}`)).rails;
}

interface InstitutionSearch {
  readonly rail: string;
  readonly country: string;
  readonly currency: string;
  readonly search?: string;
  readonly id?: string;
}

const AT_ONCE = 50;

async function institutions({ rail, country, currency, search = '', id }: InstitutionSearch) {
  const query = new URLSearchParams({ rail, country, currency, limit: String(AT_ONCE) });
  if (search.trim() !== '') query.set('search', search.trim());
  if (id !== undefined) query.set('institution_id', id);
  return (await once<Static<typeof InstitutionListSchema>>(`institutions?${query}`)).institutions;
}

/** Those that a price can be asked for: a directory of banks also lists some that only payment details name. */
export async function payableInstitutions(wanted: InstitutionSearch): Promise<readonly PickerOption[]> {
  const found = await institutions(wanted);
  return found
    .filter((one) => one.payment_method_id !== undefined)
    .map((one) => ({ value: one.id, label: one.name, hint: one.code }));
}
