import type { Search } from './search.ts';

/** One value of a filter; where an address has several of it, the first. */
export function textOf(filters: Search, name: string): string | undefined {
  const [value] = [filters[name]].flat();
  return value === undefined || value === '' ? undefined : value;
}

/** Days are the viewer’s; a last day counts as a whole. */
export function periodOf(filters: Search): { readonly from?: string; readonly to?: string } {
  return given({ from: startOfDay(textOf(filters, 'from')), to: startOfDay(textOf(filters, 'to'), 1) });
}

/** Some days of a year have 23 or 25 hours: the next one begins where its date does. */
function startOfDay(day: string | undefined, later = 0): string | undefined {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + later);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Only what is given: the API takes no empty parameters. */
export function given<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  ) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}
