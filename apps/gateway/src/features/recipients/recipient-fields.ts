import { invalidFields } from '../../http/errors.ts';
import { ISO_COUNTRIES } from '../discovery/iso-codes.ts';

/** What is personal of a recipient: kept sealed, version by version. */
export interface RecipientFields {
  readonly recipient_name: string;
  readonly recipient_native_name: string | null;
  readonly recipient_id_number: string | null;
  readonly recipient_business_registration_number: string | null;
}

export interface RecipientData extends RecipientFields {
  readonly recipient_country: string;
  readonly recipient_id_type: string | null;
}

/** Fields as they were sent; an absent one leaves what is there, a null takes it away. */
export interface RecipientChanges {
  readonly recipient_name?: string;
  readonly recipient_country?: string;
  readonly recipient_native_name?: string | null;
  readonly recipient_id_type?: string | null;
  readonly recipient_id_number?: string | null;
  readonly recipient_business_registration_number?: string | null;
}

const NOBODY: RecipientData = {
  recipient_name: '',
  recipient_native_name: null,
  recipient_country: '',
  recipient_id_type: null,
  recipient_id_number: null,
  recipient_business_registration_number: null,
};

export function newRecipientData(input: RecipientChanges): RecipientData {
  return applyChanges(NOBODY, input);
}

/** The next version of what is known, in the form that is kept, or everything that is wrong with it. */
export function applyChanges(before: RecipientData, changes: RecipientChanges): RecipientData {
  const after: RecipientData = {
    recipient_name: textOf(changes.recipient_name, before.recipient_name) ?? '',
    recipient_native_name: textOf(changes.recipient_native_name, before.recipient_native_name),
    recipient_country: (changes.recipient_country ?? before.recipient_country).toUpperCase(),
    recipient_id_type: textOf(changes.recipient_id_type, before.recipient_id_type),
    recipient_id_number: textOf(changes.recipient_id_number, before.recipient_id_number),
    recipient_business_registration_number: textOf(
      changes.recipient_business_registration_number,
      before.recipient_business_registration_number,
    ),
  };
  const problems: { path: string; message: string }[] = [];
  if (after.recipient_name === '') problems.push({ path: 'recipient_name', message: 'is required' });
  if (!ISO_COUNTRIES.has(after.recipient_country)) {
    problems.push({ path: 'recipient_country', message: 'must be an ISO 3166-1 alpha-2 code' });
  }
  for (const [path, value] of Object.entries(after)) {
    if (typeof value === 'string' && !value.isWellFormed()) {
      problems.push({ path, message: 'is not well-formed text' });
    }
  }
  if (problems.length > 0) throw invalidFields(problems);
  return after;
}

export function isSame(one: RecipientData, other: RecipientData): boolean {
  return (Object.keys(NOBODY) as (keyof RecipientData)[]).every((key) => one[key] === other[key]);
}

function textOf(sent: string | null | undefined, kept: string | null): string | null {
  if (sent === undefined) return kept;
  const text = sent?.trim() ?? '';
  return text === '' ? null : text;
}
