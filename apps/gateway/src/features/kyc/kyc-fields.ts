import { KYC_GENDERS, KYC_ID_TYPES, type KycDocumentType, SOURCES_OF_FUNDS } from '@causeway/protocol';
import { invalidFields } from '../../http/errors.ts';
import { ISO_COUNTRIES } from '../discovery/iso-codes.ts';

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
const REQUIRED_OF_DIRECT_DATA: readonly KycField[] = [
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
    fields[field] = COUNTRY_FIELDS.has(field) ? value.toUpperCase() : value;
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
