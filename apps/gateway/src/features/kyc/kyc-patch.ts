import { CausewayError } from '@causeway/protocol';
import { ISO_COUNTRIES } from '../discovery/iso-codes.ts';
import { isGender, isIdType, isSourceOfFunds, type KycField, type KycFieldValues } from './kyc-fields.ts';

type RefusalCode =
  | 'invalid_gender'
  | 'invalid_country_code'
  | 'invalid_source_of_funds'
  | 'invalid_field_value';

interface PatchRule {
  /** The code of a value that is text but not an acceptable one. */
  readonly code: RefusalCode;
  /** What a verification has established is not replaced; `shortened` lets it be cut to fit a corridor's ceiling. */
  readonly established?: 'kept' | 'shortened';
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
const PHONE = /^\+?[0-9][0-9 ().-]{3,30}$/;

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
  phone_number: {
    code: 'invalid_field_value',
    read: (value) => (PHONE.test(value) ? value : undefined),
  },
  first_name: { ...text, established: 'shortened' },
  last_name: { ...text, established: 'shortened' },
  id_number: { ...text, established: 'kept' },
} as const satisfies Partial<Record<KycField, PatchRule>>;

/** Whether PATCH kyc can help with a field that a rail lacks or finds too long. */
export function isSuppliable(field: string, known: KycFieldValues): boolean {
  if (!Object.hasOwn(RULES, field)) return false;
  const name = field as keyof typeof RULES;
  const rule: PatchRule = RULES[name];
  return rule.established !== 'kept' || known[name] === undefined;
}

/** Whether a value may take the place of what is known. */
function mayReplace({ established }: PatchRule, known: string | undefined, value: string): boolean {
  if (established === undefined || known === undefined) return true;
  return established === 'shortened' && isShortened(known, value);
}

/** The beginning of a name, or some of its words in their order: still the person who was verified. */
function isShortened(known: string, value: string): boolean {
  if (value.length >= known.length) return false;
  if (known.startsWith(value)) return true;
  const words = known.split(/\s+/u);
  return value.split(/\s+/u).every((word) => {
    const at = words.indexOf(word);
    words.splice(0, at + 1);
    return at >= 0;
  });
}

/**
 * What a patch changes. Blank values change nothing, nor does one for what is established already; the first
 * unacceptable one refuses the whole patch, so the caller writes all of the answer or never sees it.
 */
export function readKycPatch(
  body: Readonly<Record<string, unknown>>,
  known: KycFieldValues,
): Partial<Record<KycField, string>> {
  const changes: Partial<Record<KycField, string>> = {};
  for (const [name, rule] of Object.entries(RULES) as [keyof typeof RULES, PatchRule][]) {
    const sent = Object.hasOwn(body, name) ? body[name] : undefined;
    if (sent === undefined || sent === null) continue;
    if (typeof sent !== 'string') {
      throw refusal(typeof sent === 'object' ? 'invalid_field_value' : rule.code, name);
    }
    const value = sent.trim();
    if (value === '' || !mayReplace(rule, known[name], value)) continue;
    const kept = rule.read(value);
    if (kept === undefined) throw refusal(rule.code, name);
    changes[name] = kept;
  }
  return changes;
}

function refusal(code: RefusalCode, field: string): CausewayError {
  return new CausewayError(code, { details: { field } });
}
