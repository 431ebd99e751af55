import type {
  BeneficiaryType,
  FieldContext,
  FieldProblem,
  FieldShape,
  RailShape,
} from './field-format.types.ts';
import { formatNamed } from './field-formats.ts';
import { countCodePoints } from './mask-details.ts';

export interface ChosenFormat {
  readonly formatId: string | null;
  readonly fields: readonly FieldShape[];
}

/**
 * C4.1 rules 5 and 6: the format that lists the institution's type and pays the beneficiary's type. A rail
 * with one candidate needs no institution to choose it, as on the Chinese wallets.
 */
export function chooseFormat(
  rail: RailShape,
  institutionType: string | undefined,
  beneficiaryType: BeneficiaryType,
): ChosenFormat | FieldProblem {
  if (rail.formats === undefined) return { formatId: null, fields: rail.fields ?? [] };
  const payable = rail.formats.filter(
    (format) =>
      (format.beneficiaryType ?? beneficiaryType) === beneficiaryType &&
      // A consumer-to-consumer wallet pays persons, whatever it leaves unsaid.
      !(format.senderIdentity !== undefined && beneficiaryType === 'business'),
  );
  if (payable.length === 0) {
    return {
      path: 'details.beneficiary_type',
      message: `${beneficiaryType} beneficiaries are not paid over this rail`,
    };
  }
  const candidates =
    institutionType === undefined
      ? payable
      : payable.filter((format) => format.institutionTypes.includes(institutionType));
  const [chosen, ...others] = candidates;
  if (chosen === undefined) {
    return { path: 'institution_id', message: 'is of a type this rail does not pay to' };
  }
  if (institutionType === undefined && others.length > 0) {
    return { path: 'institution_id', message: 'is needed to know which fields apply' };
  }
  return { formatId: chosen.id, fields: chosen.fields };
}

export function isProblem(choice: ChosenFormat | FieldProblem): choice is FieldProblem {
  return 'path' in choice;
}

export interface ValidationChoice {
  /** Fine-grained type of the institution, which decides the format on a rail that has several. */
  readonly institutionType?: string | undefined;
  /** In place of `details.beneficiary_type`, where the caller already knows it. */
  readonly beneficiaryType?: BeneficiaryType | undefined;
}

export type DetailsValidation =
  | {
      readonly ok: true;
      /** Only fields of the rail, in their stored form; what else was sent is left out. */
      readonly details: Readonly<Record<string, string>>;
      readonly beneficiaryType: BeneficiaryType;
      readonly formatId: string | null;
    }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

const BENEFICIARY_TYPE_KEY = 'beneficiary_type';

/** Separators are stripped before the field's own cap; this bounds what is looked at before that. */
const RAW_LENGTH_FACTOR = 2;
const RAW_LENGTH_ALLOWANCE = 16;

/**
 * Checks payment details against a rail: completeness and form only, never whether the account exists. It is pure, and
 * its cost is bounded by the rail, not by what was sent.
 */
export function validateDetails(
  rail: RailShape,
  details: unknown,
  choice: ValidationChoice = {},
): DetailsValidation {
  if (!isRecord(details)) return refuse([{ path: 'details', message: 'must be an object' }]);
  const beneficiaryType = choice.beneficiaryType ?? readBeneficiaryType(details);
  if (beneficiaryType === undefined) {
    return refuse([{ path: `details.${BENEFICIARY_TYPE_KEY}`, message: 'must be individual or business' }]);
  }
  const format = chooseFormat(rail, choice.institutionType, beneficiaryType);
  if (isProblem(format)) return refuse([format]);

  const context: FieldContext = {
    rail,
    sent: (key) => textOf(ownValue(details, key)).slice(0, 64).trim(),
  };
  const accepted = new Map<string, string>();
  const problems: FieldProblem[] = [];
  for (const field of format.fields) {
    const reading = readField(field, ownValue(details, field.key), context);
    if (reading.problem !== undefined)
      problems.push({ path: `details.${field.key}`, message: reading.problem });
    else if (reading.value !== undefined) accepted.set(field.key, reading.value);
  }
  problems.push(...missingAlternatives(rail, format.fields, accepted, problems));
  if (problems.length > 0) return refuse(problems);
  // The contract's own spelling: an omission means an individual.
  if (beneficiaryType === 'business') accepted.set(BENEFICIARY_TYPE_KEY, beneficiaryType);
  return { ok: true, details: Object.fromEntries(accepted), beneficiaryType, formatId: format.formatId };
}

/** The message of the 422, which names the fields as they are called in `details`. */
export function recipientFieldsMessage(problems: readonly FieldProblem[]): string {
  const names = [...new Set(problems.map(({ path }) => path.replace(/^details\./, '')))];
  return `Missing or malformed recipient fields: ${names.join(', ')}`;
}

type FieldReading = { value?: string; problem?: string };

function readField(field: FieldShape, sent: unknown, context: FieldContext): FieldReading {
  if (sent === undefined || sent === null) return field.required ? { problem: 'is required' } : {};
  const raw = typeof sent === 'number' && field.type === 'number' ? String(sent) : sent;
  // A JSON number has already lost leading zeros and long digits: an account number is text.
  if (typeof raw !== 'string') return { problem: 'must be a string' };
  if (raw.length > field.maxLength * RAW_LENGTH_FACTOR + RAW_LENGTH_ALLOWANCE) return tooLong(field);
  if (!raw.isWellFormed()) return { problem: 'is not well-formed text' };
  const text = raw.trim();
  if (text === '') return field.required ? { problem: 'is required' } : {};
  if (field.options !== undefined) return readOption(field.options, text);

  const format = formatNamed(field.format);
  const value = format.normalise?.(text, context) ?? text;
  // The cap comes before the pattern, so that no input is long enough to make a pattern costly.
  if (countCodePoints(value) > field.maxLength) return tooLong(field);
  if (field.pattern !== undefined && !compile(field.pattern).test(value)) return { problem: 'is malformed' };
  const problem = format.explain?.(value, context);
  return problem === undefined ? { value } : { problem };
}

const tooLong = (field: FieldShape): FieldReading => ({
  problem: `is longer than ${field.maxLength} characters`,
});

function readOption(options: readonly { readonly code: string }[], text: string): FieldReading {
  const option =
    options.find(({ code }) => code === text) ??
    options.find(({ code }) => code.toLowerCase() === text.toLowerCase());
  if (option !== undefined) return { value: option.code };
  return { problem: `must be one of ${options.map(({ code }) => code).join(', ')}` };
}

function missingAlternatives(
  rail: RailShape,
  fields: readonly FieldShape[],
  accepted: ReadonlyMap<string, string>,
  problems: readonly FieldProblem[],
): FieldProblem[] {
  const known = new Set(fields.map(({ key }) => key));
  const failed = new Set(problems.map(({ path }) => path));
  return (rail.requireOneOf ?? [])
    .filter((group) => group.some((key) => known.has(key)))
    .filter((group) => !group.some((key) => accepted.has(key) || failed.has(`details.${key}`)))
    .flatMap((group) =>
      group.map((key) => ({ path: `details.${key}`, message: `one of ${group.join(', ')} is required` })),
    );
}

// Patterns are a rail's data, so there are only as many as there are fields; an operator's edits replace few of them.
const MAX_COMPILED = 2_000;
const compiled = new Map<string, RegExp>();

function compile(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  const expression = new RegExp(pattern, 'u');
  compiled.set(pattern, expression);
  return expression;
}

function readBeneficiaryType(details: Readonly<Record<string, unknown>>): BeneficiaryType | undefined {
  const sent = ownValue(details, BENEFICIARY_TYPE_KEY);
  if (sent === undefined || sent === null || sent === '') return 'individual';
  return sent === 'individual' || sent === 'business' ? sent : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Own properties only: a field must not be answered by something every object inherits. */
function ownValue(details: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(details, key) ? details[key] : undefined;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const refuse = (problems: readonly FieldProblem[]): DetailsValidation => ({ ok: false, problems });
