import { CausewayError } from '@causeway/protocol';
import { ISO_COUNTRIES } from '../discovery/iso-codes.ts';
import { isGender, isIdType, isSourceOfFunds, type KycField } from './kyc-fields.ts';

type RefusalCode =
  | 'invalid_gender'
  | 'invalid_country_code'
  | 'invalid_source_of_funds'
  | 'invalid_field_value';

interface PatchRule {
  /** The code of a value that is text but not an acceptable one. */
  readonly code: RefusalCode;
  /** The value as it is kept, or undefined when it is not acceptable. */
  read(value: string): string | undefined;
}

const country: PatchRule = {
  code: 'invalid_country_code',
  read: (value) => (ISO_COUNTRIES.has(value.toUpperCase()) ? value.toUpperCase() : undefined),
};
// No ceiling: corridors have ceilings of their own, and they are checked where a corridor is chosen.
const text: PatchRule = {
  code: 'invalid_field_value',
  read: (value) => (value.isWellFormed() ? value : undefined),
};

const RULES = {
  gender: { code: 'invalid_gender', read: (value) => (isGender(value) ? value : undefined) },
  nationality: country,
  id_issue_country: country,
  source_of_funds: {
    code: 'invalid_source_of_funds',
    read: (value) => (isSourceOfFunds(value) ? value : undefined),
  },
  id_type: { code: 'invalid_field_value', read: (value) => (isIdType(value) ? value : undefined) },
  address: text,
  city: text,
  postal_code: text,
} as const satisfies Partial<Record<KycField, PatchRule>>;

/** The fields that PATCH kyc takes; a rail that lacks one of them may be helped by it. */
export const PATCHABLE_KYC_FIELDS: ReadonlySet<string> = new Set(Object.keys(RULES));

/**
 * What a patch changes. Blank values change nothing; the first unacceptable one refuses the whole patch, so the caller
 * writes all of the answer or never sees it.
 */
export function readKycPatch(body: Readonly<Record<string, unknown>>): Partial<Record<KycField, string>> {
  const changes: Partial<Record<KycField, string>> = {};
  for (const [name, rule] of Object.entries(RULES) as [keyof typeof RULES, PatchRule][]) {
    const sent = Object.hasOwn(body, name) ? body[name] : undefined;
    if (sent === undefined || sent === null) continue;
    if (typeof sent !== 'string') {
      throw refusal(typeof sent === 'object' ? 'invalid_field_value' : rule.code, name);
    }
    const value = sent.trim();
    if (value === '') continue;
    const kept = rule.read(value);
    if (kept === undefined) throw refusal(rule.code, name);
    changes[name] = kept;
  }
  return changes;
}

function refusal(code: RefusalCode, field: string): CausewayError {
  return new CausewayError(code, { details: { field } });
}
