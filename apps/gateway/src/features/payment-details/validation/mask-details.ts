import type { RailShape } from './field-format.types.ts';

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

export interface SenderFieldProblem {
  readonly field: string;
  readonly reason: 'missing' | 'too_long';
  /** The rail's ceiling, where the field has one. */
  readonly limit?: number;
}

export interface SenderCeilings {
  readonly requiredFields: readonly string[];
  /** Characters at most; a field that is not named has no published ceiling. */
  readonly fieldLimits: Readonly<Record<string, number>>;
}

/**
 * What a consumer-to-consumer wallet lacks to name the payer. A field over its ceiling counts as missing, and
 * characters are code points: an emoji or a rare Chinese character is one, however it is encoded.
 */
export function senderFieldProblems(
  fields: Readonly<Record<string, string | null | undefined>>,
  ceilings: SenderCeilings,
): SenderFieldProblem[] {
  return ceilings.requiredFields.flatMap((field): SenderFieldProblem[] => {
    const limit = Object.hasOwn(ceilings.fieldLimits, field) ? ceilings.fieldLimits[field] : undefined;
    const value = (Object.hasOwn(fields, field) ? fields[field] : undefined)?.trim() ?? '';
    const ceiling = limit === undefined ? {} : { limit };
    if (value === '') return [{ field, reason: 'missing', ...ceiling }];
    return limit !== undefined && countCodePoints(value) > limit
      ? [{ field, reason: 'too_long', limit }]
      : [];
  });
}

/** `details` of 422 SENDER_IDENTITY_REQUIRED; `field_limits` is absent when no listed field has a ceiling. */
export function senderIdentityDetails(
  problems: readonly SenderFieldProblem[],
  isSuppliable: (field: string) => boolean,
): {
  readonly missing_fields: string[];
  readonly kyc_fields: string[];
  readonly field_limits?: Record<string, number>;
} {
  const missing = problems.map(({ field }) => field);
  const limits = problems.flatMap(({ field, limit }): [string, number][] =>
    limit === undefined ? [] : [[field, limit]],
  );
  return {
    missing_fields: missing,
    kyc_fields: missing.filter(isSuppliable),
    ...(limits.length > 0 && { field_limits: Object.fromEntries(limits) }),
  };
}

export function countCodePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
