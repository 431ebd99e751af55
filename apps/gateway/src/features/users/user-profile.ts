import { invalidFields } from '../../http/errors.ts';
import { ISO_COUNTRIES } from '../discovery/iso-codes.ts';
import { isEmail, normaliseEmail } from '../payment-details/validation/contact-formats.ts';

/** What a partner tells of a customer when it creates one. Personal: it is kept sealed. */
export interface UserProfile {
  readonly email: string;
  readonly first_name: string | null;
  readonly last_name: string | null;
  readonly phone_number: string | null;
  readonly country_code: string | null;
}

export interface UserProfileInput {
  readonly email: string;
  readonly first_name?: string;
  readonly last_name?: string;
  readonly phone_number?: string;
  readonly country_code?: string;
}

const PHONE = /^\+?[0-9]{5,20}$/;

/** Brings what was sent into the form that is kept, or says everything that is wrong with it. */
export function readProfile(input: UserProfileInput): UserProfile {
  const problems: { path: string; message: string }[] = [];
  const email = normalisedEmail(input.email);
  if (email === undefined) problems.push({ path: 'email', message: 'must be an email address' });
  const phone = textOrNull(input.phone_number)?.replace(/[\s().-]/g, '') ?? null;
  if (phone !== null && !PHONE.test(phone)) {
    problems.push({ path: 'phone_number', message: 'must be a phone number such as +4915112345678' });
  }
  const country = input.country_code?.toUpperCase() ?? null;
  if (country !== null && !ISO_COUNTRIES.has(country)) {
    problems.push({ path: 'country_code', message: 'must be an ISO 3166-1 alpha-2 code' });
  }
  if (problems.length > 0 || email === undefined) throw invalidFields(problems);
  return {
    email,
    first_name: textOrNull(input.first_name),
    last_name: textOrNull(input.last_name),
    phone_number: phone,
    country_code: country,
  };
}

/** One form for one mailbox, so that it is found again however it was typed. */
export function normalisedEmail(text: string): string | undefined {
  const email = normaliseEmail(text.trim());
  return isEmail(email) ? email : undefined;
}

function textOrNull(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}
