import { startOfDay } from './days.ts';
import type { Search } from './search.ts';

/** One value of a filter; where an address has several of it, the first. */
export function textOf(filters: Search, name: string): string | undefined {
  const [value] = [filters[name]].flat();
  return value === undefined || value === '' ? undefined : value;
}

/** Days are the viewer’s; a last day counts as a whole. */
export function periodOf(
  filters: Search,
  [first, last] = ['from', 'to'],
): { readonly from?: string; readonly to?: string } {
  return given({ from: startOfDay(textOf(filters, first)), to: startOfDay(textOf(filters, last), 1) });
}

/** Only what is given: the API takes no empty parameters. */
export function given<T extends object>(values: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  ) as {
    [Key in keyof T]?: Exclude<T[Key], undefined>;
  };
}
