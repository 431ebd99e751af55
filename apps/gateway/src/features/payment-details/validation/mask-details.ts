import type { RailShape } from './rail-shape.types.ts';

const MASK = '****';
const SHOWN_AT_MOST = 4;
/** A value this short would be given away by its last four characters. */
const SHORT_VALUE = 8;

/** Formats that say which bank or branch is meant, published by the bank itself: they tell nothing of a person. */
const PUBLIC_FORMATS: ReadonlySet<string> = new Set([
  'aba_routing',
  'bd_routing',
  'bic',
  'bsb',
  'cnaps',
  'dk_registration',
  'ifsc',
  'jp_branch',
  'se_clearing',
  'sort_code',
  'za_branch',
]);
const PUBLIC_KEYS: ReadonlySet<string> = new Set([
  'bank_name',
  'bank_branch',
  'branch_code',
  'beneficiary_type',
]);

/**
 * At most the last four characters, and at most a quarter of a short value. The mask has one length, so that it does
 * not tell how long the value is.
 */
export function maskValue(value: string): string {
  const characters = Array.from(value);
  const shown = characters.length >= SHORT_VALUE ? SHOWN_AT_MOST : Math.floor(characters.length / 4);
  return MASK + (shown === 0 ? '' : characters.slice(-shown).join(''));
}

/**
 * Details as a partner reads them back. What is not known to be public is masked, unknown keys included, so a field
 * that is added to a rail later is never shown by accident.
 */
export function maskDetails(
  rail: RailShape,
  details: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const fields = [...(rail.fields ?? []), ...(rail.formats ?? []).flatMap((format) => format.fields)];
  const openKeys = new Set(PUBLIC_KEYS);
  for (const { key, format, options } of fields) {
    if (options !== undefined || (format !== undefined && PUBLIC_FORMATS.has(format))) openKeys.add(key);
  }
  // One key may be public in one format of a rail and personal in another: the personal one wins.
  for (const { key, format, options } of fields) {
    if (options === undefined && format !== undefined && !PUBLIC_FORMATS.has(format)) openKeys.delete(key);
  }
  return Object.fromEntries(
    Object.entries(details).map(([key, value]) => [key, openKeys.has(key) ? value : maskValue(value)]),
  );
}
