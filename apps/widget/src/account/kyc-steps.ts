import type { KYC_ID_TYPES, SOURCES_OF_FUNDS } from '@causeway/protocol';
import type { Kyc } from '../session/api.ts';

type Status = Kyc['status'];

/** What the customer does about a status. A status that this version does not know is waited out. */
export type KycView = 'start' | 'documents' | 'wait' | 'again' | 'refused' | 'done';

const VIEWS: Readonly<Record<Status, KycView>> = {
  NOT_INITIATED: 'start',
  PENDING_DOCUMENTS: 'documents',
  IN_PROGRESS: 'wait',
  UNDER_REVIEW: 'wait',
  VERIFIED: 'done',
  VERIFICATION_REJECTED: 'again',
  REJECTED: 'refused',
};

export function kycView(status: string): KycView {
  return Object.hasOwn(VIEWS, status) ? VIEWS[status as Status] : 'wait';
}

/** Statuses that a person decides, for hours: nobody need keep the page open. */
const SLOW: Readonly<Partial<Record<Status, true>>> = { UNDER_REVIEW: true };

export const isSlow = (status: string): boolean => Object.hasOwn(SLOW, status);

/** How long until the next look: soon at first, then less and less often. */
export function pollDelay(looks: number, status: string): number {
  const first = isSlow(status) ? 4_000 : 1_000;
  const longest = isSlow(status) ? 60_000 : 10_000;
  return Math.min(longest, Math.round(first * 1.4 ** looks));
}

export type KycField =
  | 'first_name'
  | 'last_name'
  | 'date_of_birth'
  | 'nationality'
  | 'id_type'
  | 'id_number'
  | 'id_issue_country'
  | 'address'
  | 'city'
  | 'postal_code'
  | 'country_code'
  | 'phone_number'
  | 'source_of_funds';

export type KycValues = Readonly<Partial<Record<KycField, string>>>;

export interface FieldRule {
  readonly kind: 'text' | 'date' | 'country' | 'choice' | 'phone';
  readonly max: number;
  readonly isRequired: boolean;
  readonly autocomplete?: string;
  readonly choices?: readonly string[];
}

export const ID_TYPES: typeof KYC_ID_TYPES = [
  'PASSPORT',
  'NATIONAL_ID',
  'DRIVERS_LICENSE',
  'RESIDENCE_PERMIT',
];
export const FUNDS: typeof SOURCES_OF_FUNDS = [
  'SALARY',
  'BUSINESS_INCOME',
  'SAVINGS',
  'INVESTMENTS',
  'INHERITANCE',
  'GIFT',
  'LOAN',
  'SALE_OF_ASSETS',
  'PENSION',
  'OTHER',
];

const text = (max: number, autocomplete: string): FieldRule => ({
  kind: 'text',
  max,
  isRequired: true,
  autocomplete,
});
const country = (autocomplete: string): FieldRule => ({
  kind: 'country',
  max: 2,
  isRequired: true,
  autocomplete,
});

export const RULES: Readonly<Record<KycField, FieldRule>> = {
  first_name: text(200, 'given-name'),
  last_name: text(200, 'family-name'),
  date_of_birth: { kind: 'date', max: 10, isRequired: true, autocomplete: 'bday' },
  nationality: country('off'),
  id_type: { kind: 'choice', max: 40, isRequired: true, choices: ID_TYPES },
  id_number: text(100, 'off'),
  id_issue_country: country('off'),
  address: text(500, 'street-address'),
  city: text(200, 'address-level2'),
  postal_code: text(40, 'postal-code'),
  country_code: country('country'),
  phone_number: { kind: 'phone', max: 40, isRequired: false, autocomplete: 'tel' },
  source_of_funds: { kind: 'choice', max: 40, isRequired: false, choices: FUNDS },
};

export type StepName = 'person' | 'identity' | 'address';

const STEPS: Readonly<Record<StepName, readonly KycField[]>> = {
  person: ['first_name', 'last_name', 'date_of_birth', 'nationality'],
  identity: ['id_type', 'id_number', 'id_issue_country'],
  address: ['address', 'city', 'postal_code', 'country_code', 'phone_number', 'source_of_funds'],
};

export interface FormStep {
  readonly name: StepName;
  readonly fields: readonly KycField[];
}

/**
 * The pages of the form with what is still to be said on each; a page where all is known is left out. What need not be said
 * is asked only on a page that is shown anyway.
 */
export function formSteps(missing: readonly string[]): readonly FormStep[] {
  return Object.entries(STEPS)
    .map(([name, fields]) => ({
      name: name as StepName,
      fields: fields.filter((field) => missing.includes(field) || !RULES[field].isRequired),
    }))
    .filter(({ fields }) => fields.some((field) => missing.includes(field)));
}

export const ALL_FIELDS = Object.keys(RULES) as readonly KycField[];

export type FieldProblem = 'required' | 'tooLong' | 'date' | 'age' | 'phone';

/** Below this no licence lets anybody trade. */
export const LEAST_AGE = 18;
const MOST_AGE = 130;
const PHONE = /^\+?[0-9][0-9 ().-]{3,30}$/;

/** What is wrong with a value before it is sent; undefined where nothing is. What is known already may be left empty. */
export function fieldProblem(
  field: KycField,
  value: string,
  today: Date,
  isKnown = false,
): FieldProblem | undefined {
  const { kind, max } = RULES[field];
  const said = value.trim();
  const isRequired = RULES[field].isRequired && !isKnown;
  if (said === '') return isRequired ? 'required' : undefined;
  if ([...said].length > max) return 'tooLong';
  if (kind === 'phone' && !PHONE.test(said)) return 'phone';
  return kind === 'date' ? dateProblem(said, today) : undefined;
}

function dateProblem(value: string, today: Date): FieldProblem | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(value) ?? [];
  const born = new Date(`${value}T00:00:00.000Z`);
  if (year === undefined || Number.isNaN(born.getTime()) || born.toISOString().slice(0, 10) !== value)
    return 'date';
  const hadBirthday = today.toISOString().slice(5, 10) >= `${month}-${day}`;
  const age = today.getUTCFullYear() - Number(year) - (hadBirthday ? 0 : 1);
  if (age < 0 || age > MOST_AGE) return 'date';
  return age < LEAST_AGE ? 'age' : undefined;
}

/** Why a verification failed, in the groups that we have words for; providers name them in many ways. */
const REASONS: Readonly<Record<string, readonly string[]>> = {
  unreadable: [
    'DOCUMENT_UNREADABLE',
    'LOW_QUALITY',
    'UNSATISFACTORY_PHOTOS',
    'DOCUMENT_DAMAGED',
    'BLACK_AND_WHITE',
    'SCREENSHOTS',
    'NOT_READABLE_DOCUMENT',
  ],
  expired: ['DOCUMENT_EXPIRED', 'EXPIRATION_DATE'],
  incomplete: [
    'INCOMPLETE_DOCUMENT',
    'DOCUMENT_PAGE_MISSING',
    'FRONT_SIDE_MISSING',
    'BACK_SIDE_MISSING',
    'ADDITIONAL_DOCUMENT_REQUIRED',
    'UNFILLED_ID',
  ],
  notGenuine: ['DOCUMENT_FORGED', 'FORGERY', 'DOCUMENT_TEMPLATE', 'GRAPHIC_EDITOR', 'ID_INVALID', 'FAKE'],
  selfie: ['SELFIE_MISMATCH', 'BAD_SELFIE', 'BAD_VIDEO_SELFIE', 'BAD_FACE_MATCHING', 'BAD_AVATAR'],
  details: ['PROBLEMATIC_APPLICANT_DATA', 'DATA_MISMATCH', 'NAME_MISMATCH', 'INCONSISTENT_PROFILE'],
  address: ['WRONG_ADDRESS', 'BAD_PROOF_OF_ADDRESS', 'ADDRESS_NOT_CONFIRMED'],
  age: ['AGE_REQUIREMENT_MISMATCH', 'UNDERAGE'],
  duplicate: ['DUPLICATE'],
  unsupported: ['NOT_DOCUMENT', 'BAD_PROOF_OF_IDENTITY', 'DOCUMENT_NOT_SUPPORTED', 'INCOMPATIBLE_LANGUAGE'],
};

/** One sentence a group, each once. What has no group is told in general: some reasons must not be told at all. */
export function reasonGroups(reasons: readonly string[]): readonly string[] {
  const groups = reasons.map(
    (reason) =>
      Object.keys(REASONS).find((group) => REASONS[group]?.includes(reason.toUpperCase())) ?? 'other',
  );
  const told = [...new Set(groups)];
  return told.length > 1 ? told.filter((group) => group !== 'other') : told;
}

/** Problems that the service names by the field, `details.fields` of its error. */
export function serverProblems(
  details: unknown,
): readonly { readonly path: string; readonly message: string }[] {
  const { fields } = (details ?? {}) as { readonly fields?: unknown };
  if (!Array.isArray(fields)) return [];
  return fields.flatMap((one: { path?: unknown; message?: unknown } | null) =>
    typeof one?.path === 'string' && typeof one.message === 'string'
      ? [{ path: one.path.replace(/^(?:body|details)[./]/, ''), message: one.message }]
      : [],
  );
}
