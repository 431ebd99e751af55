import type { PaymentFieldSchema, RailFormatSchema, RailSchema } from '@causeway/protocol';
import { type FieldFault, paymentFieldFault } from '@causeway/protocol/payment-fields';
import type { Static } from 'typebox';
import type { PaymentDetails } from '../session/api.ts';
import { serverProblems } from './kyc-steps.ts';

export type Rail = Static<typeof RailSchema>;
export type RailFormat = Static<typeof RailFormatSchema>;
export type RailField = Static<typeof PaymentFieldSchema>;
export type Beneficiary = PaymentDetails['beneficiary_type'];

export interface FormatChoice {
  /** Kinds of account that the rail pays to, where there is more than one and the customer has to say which. */
  readonly kinds: readonly {
    readonly id: string;
    readonly name: string;
    readonly types: readonly string[];
  }[];
  readonly fields: readonly RailField[];
  /** Types of institution that fit; null where every one does. */
  readonly institutionTypes: readonly string[] | null;
}

/** Formats that pay such a beneficiary. */
function payable(rail: Rail, beneficiary: Beneficiary): readonly RailFormat[] {
  return (rail.formats ?? []).filter(
    ({ beneficiary_type = beneficiary }) => beneficiary_type === beneficiary,
  );
}

/**
 * Which fields apply, as the service chooses: by the type of institution and by who is paid. A rail without formats has one
 * set for all. `kind` is the format that the customer has picked among several.
 */
export function chooseFormat(rail: Rail, beneficiary: Beneficiary, kind: string): FormatChoice {
  if (rail.formats === undefined) return { kinds: [], fields: rail.fields, institutionTypes: null };
  const formats = payable(rail, beneficiary);
  const chosen = formats.find(({ id }) => id === kind) ?? (formats.length === 1 ? formats[0] : undefined);
  return {
    kinds:
      formats.length > 1
        ? formats.map(({ id, name, institution_types }) => ({ id, name, types: institution_types }))
        : [],
    fields: chosen?.fields ?? [],
    institutionTypes: chosen?.institution_types ?? null,
  };
}

/** Who may be paid over the rail: a rail whose formats say so for one kind alone leaves nothing to choose. */
export function beneficiariesOf(rail: Rail): readonly Beneficiary[] {
  const both: readonly Beneficiary[] = ['individual', 'business'];
  if (rail.formats === undefined) return both;
  return both.filter((beneficiary) => payable(rail, beneficiary).length > 0);
}

export type FieldProblem =
  | { readonly kind: 'required' }
  | { readonly kind: 'tooLong'; readonly max: number }
  | { readonly kind: 'malformed'; readonly example: string | undefined }
  | { readonly kind: 'oneOf'; readonly keys: readonly string[] }
  | { readonly kind: 'checkDigit' | 'bank' | 'country' | 'phone' | 'personsOnly' | 'invalid' };

const FAULTS: Readonly<Record<FieldFault, (field: RailField) => FieldProblem>> = {
  required: () => ({ kind: 'required' }),
  not_an_option: () => ({ kind: 'invalid' }),
  too_long: ({ max_length: max }) => ({ kind: 'tooLong', max }),
  malformed: ({ placeholder: example }) => ({ kind: 'malformed', example }),
  check_digits: () => ({ kind: 'checkDigit' }),
};

/** What is wrong with a value before it is sent. */
export function railFieldProblem(field: RailField, value: string): FieldProblem | undefined {
  const fault = paymentFieldFault(field, value);
  return fault === undefined ? undefined : FAULTS[fault](field);
}

/** All problems of a form, by field. */
export function formProblems(
  fields: readonly RailField[],
  values: Readonly<Record<string, string>>,
  groups: readonly (readonly string[])[] = [],
): Readonly<Record<string, FieldProblem>> {
  const problems: Record<string, FieldProblem> = {};
  for (const field of fields) {
    const problem = railFieldProblem(field, values[field.key] ?? '');
    if (problem !== undefined) problems[field.key] = problem;
  }
  for (const group of groups) {
    const keys = group.filter((key) => fields.some((field) => field.key === key));
    const isSaid = keys.some((key) => (values[key] ?? '').trim() !== '');
    const [first] = keys;
    if (!isSaid && first !== undefined) problems[first] = { kind: 'oneOf', keys };
  }
  return problems;
}

/** The service’s own words, which are English, as ours. */
const SERVER_WORDS: readonly (readonly [RegExp, (match: RegExpExecArray) => FieldProblem])[] = [
  [/^is required$/, () => ({ kind: 'required' })],
  [/^is longer than (\d+)/, ([, max]) => ({ kind: 'tooLong', max: Number(max) })],
  [/^is malformed$/, () => ({ kind: 'malformed', example: undefined })],
  [/^one of (.+) is required$/, ([, keys = '']) => ({ kind: 'oneOf', keys: keys.split(', ') })],
  [/fit the bank$/, () => ({ kind: 'bank' })],
  [/check digit/, () => ({ kind: 'checkDigit' })],
  [/phone number|mobile number/, () => ({ kind: 'phone' })],
  [/country/, () => ({ kind: 'country' })],
  [/beneficiaries are not paid/, () => ({ kind: 'personsOnly' })],
];

export function problemFromServer(message: string): FieldProblem {
  for (const [pattern, read] of SERVER_WORDS) {
    const match = pattern.exec(message);
    if (match !== null) return read(match);
  }
  return { kind: 'invalid' };
}

/** What the service says of single fields of a form, wherever in the request they were. */
export function refusedFields(
  details: unknown,
  fields: readonly RailField[],
): Readonly<Record<string, FieldProblem>> {
  return Object.fromEntries(
    serverProblems(details).flatMap(({ path, message }) => {
      const field = fields.find(({ key }) => path === key || path.endsWith(`.${key}`));
      return field === undefined ? [] : [[field.key, problemFromServer(message)] as const];
    }),
  );
}

/** Only what the format asks for, trimmed; a business says so, an individual is what is meant otherwise. */
export function detailsOf(
  fields: readonly RailField[],
  values: Readonly<Record<string, string>>,
  beneficiary: Beneficiary,
): Record<string, string> {
  const said = fields
    .map(({ key }) => [key, (values[key] ?? '').trim()] as const)
    .filter(([, value]) => value !== '');
  return {
    ...Object.fromEntries(said),
    ...(beneficiary === 'business' ? { beneficiary_type: beneficiary } : {}),
  };
}

/** Whether an account can be paid now: its holder is screened once, and only a clear one is quoted. */
const USABLE: Readonly<Record<PaymentDetails['screening_status'], 'yes' | 'wait' | 'no'>> = {
  clear: 'yes',
  pending: 'wait',
  review: 'wait',
  blocked: 'no',
};

export function usability({
  screening_status,
}: Pick<PaymentDetails, 'screening_status'>): 'yes' | 'wait' | 'no' {
  return Object.hasOwn(USABLE, screening_status) ? USABLE[screening_status] : 'wait';
}

/** A saved account in a line: whose it is or which number, masked as the service gives it. */
export function accountLine({ details }: Pick<PaymentDetails, 'details'>): string {
  const NAMES = ['full_name', 'company_name', 'account_name_kana'];
  const LATER = ['beneficiary_type', 'account_type', 'document_type', 'reference', 'address', ...NAMES];
  const numbers = Object.entries(details).filter(([key]) => !LATER.includes(key));
  const [key] = NAMES.filter((name) => details[name] !== undefined);
  const name = key === undefined ? undefined : details[key];
  return [numbers[0]?.[1], name].filter((part) => part !== undefined && part !== '').join(' · ');
}
