import {
  CausewayError,
  type IdentitySchema,
  KYC_GENDERS,
  KYC_ID_TYPES,
  type KycDocumentType,
  SOURCES_OF_FUNDS,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { invalidFields } from '../../http/errors.ts';
import { ISO_COUNTRIES, upperCode } from '../../lib/iso-codes.ts';
import type { UserProfile } from '../users/user.ts';

/** Everything that can be known of a customer's identity, by its name on the wire. */
export const KYC_FIELDS = [
  'first_name',
  'last_name',
  'date_of_birth',
  'gender',
  'nationality',
  'id_type',
  'id_number',
  'id_issue_country',
  'address',
  'city',
  'postal_code',
  'country_code',
  'phone_number',
  'source_of_funds',
] as const;
export type KycField = (typeof KYC_FIELDS)[number];
export type KycFieldValues = Readonly<Partial<Record<KycField, string>>>;

/** What `direct_data` cannot do without; a hosted page asks for it itself. */
export const REQUIRED_OF_DIRECT_DATA: readonly KycField[] = [
  'first_name',
  'last_name',
  'date_of_birth',
  'nationality',
  'id_type',
  'id_number',
  'id_issue_country',
  'address',
  'city',
  'postal_code',
  'country_code',
];
const COUNTRY_FIELDS: ReadonlySet<KycField> = new Set(['nationality', 'id_issue_country', 'country_code']);

export interface KycSubmissionData {
  readonly method: 'direct_data' | 'hosted_link';
  readonly fields: KycFieldValues;
}

type SubmissionInput = { readonly method: KycSubmissionData['method'] } & {
  readonly [Field in KycField]?: string;
};

/** The fields of a submission in the form that is kept; blanks count as absent. */
export function readSubmission(input: SubmissionInput, today: Date): KycSubmissionData {
  const problems: { path: string; message: string }[] = [];
  const fields: Partial<Record<KycField, string>> = {};
  for (const field of KYC_FIELDS) {
    const value = (input[field] ?? '').trim();
    if (value === '') {
      if (input.method === 'direct_data' && REQUIRED_OF_DIRECT_DATA.includes(field)) {
        problems.push({ path: field, message: 'is required' });
      }
      continue;
    }
    fields[field] = COUNTRY_FIELDS.has(field) ? upperCode(value) : value;
    const problem = problemWith(field, fields[field] ?? '', today);
    if (problem !== undefined) problems.push({ path: field, message: problem });
  }
  if (problems.length > 0) throw invalidFields(problems);
  return { method: input.method, fields };
}

function problemWith(field: KycField, value: string, today: Date): string | undefined {
  if (!value.isWellFormed()) return 'is not well-formed text';
  if (COUNTRY_FIELDS.has(field) && !ISO_COUNTRIES.has(value)) return 'must be an ISO 3166-1 alpha-2 code';
  if (field === 'date_of_birth' && !isPastDate(value, today))
    return 'must be a day in the past, as YYYY-MM-DD';
  return undefined;
}

const OLDEST_YEARS = 130;

function isPastDate(text: string, today: Date): boolean {
  const date = new Date(`${text}T00:00:00.000Z`);
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text) return false;
  return date < today && date.getUTCFullYear() >= today.getUTCFullYear() - OLDEST_YEARS;
}

/** A passport has one side that matters; every other document has two. */
export function documentsRequired({ method, fields }: KycSubmissionData): readonly KycDocumentType[] {
  if (method === 'hosted_link') return [];
  return fields.id_type === 'PASSPORT' ? ['ID_FRONT', 'SELFIE'] : ['ID_FRONT', 'ID_BACK', 'SELFIE'];
}

export function documentsMissing(
  required: readonly KycDocumentType[],
  present: readonly KycDocumentType[],
): KycDocumentType[] {
  return required.filter((type) => !present.includes(type));
}

export const isGender = (value: string): boolean => KYC_GENDERS.some((gender) => gender === value);
export const isIdType = (value: string): boolean => KYC_ID_TYPES.some((type) => type === value);
export const isSourceOfFunds = (value: string): boolean =>
  SOURCES_OF_FUNDS.some((source) => source === value);

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
  read: (value) => (ISO_COUNTRIES.has(upperCode(value)) ? upperCode(value) : undefined),
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
  let from = 0;
  return value.split(/\s+/u).every((word) => {
    const at = words.indexOf(word, from);
    from = at + 1;
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

/** Fields that the customer's profile can answer where the KYC record does not. */
const PROFILE_FIELDS: ReadonlySet<string> = new Set([
  'first_name',
  'last_name',
  'phone_number',
  'country_code',
]);

export interface KnownIdentity {
  readonly kyc: KycFieldValues;
  readonly profile: UserProfile;
}

/** A customer's identity as far as it is known; what was verified comes before what was said at sign-up. */
export function identityFields({ kyc, profile }: KnownIdentity): KycFieldValues {
  const known: Partial<Record<KycField, string>> = {};
  for (const field of KYC_FIELDS) {
    const value = kyc[field] ?? (isProfileField(field) ? profile[field] : null);
    if (value !== null && value !== undefined) known[field] = value;
  }
  return known;
}

export function identityView(identity: KnownIdentity): Static<typeof IdentitySchema> {
  const known = identityFields(identity);
  const items = KYC_FIELDS.map((field) =>
    known[field] === undefined
      ? ({ field, status: 'missing', source: null } as const)
      : ({
          field,
          status: 'present',
          source: identity.kyc[field] === undefined ? 'profile' : 'kyc',
        } as const),
  );
  return {
    items,
    missing: items.filter(({ status }) => status === 'missing').map(({ field }) => field),
  };
}

function isProfileField(field: KycField): field is KycField & keyof UserProfile {
  return PROFILE_FIELDS.has(field);
}
