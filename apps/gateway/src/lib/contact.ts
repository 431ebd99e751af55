import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';

const EMAIL_MAX_LOCAL = 64;
const EMAIL_MAX = 254;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** A plain address as mail systems accept it: no quoting, no comments, a dotted host with an alphabetic last label. */
export function isEmail(text: string): boolean {
  if (text.length > EMAIL_MAX) return false;
  const at = text.indexOf('@');
  const local = text.slice(0, at);
  const labels = text.slice(at + 1).split('.');
  return (
    at > 0 &&
    local.length <= EMAIL_MAX_LOCAL &&
    /^[a-z0-9._%+-]+$/i.test(local) &&
    !local.startsWith('.') &&
    !local.endsWith('.') &&
    !local.includes('..') &&
    labels.length > 1 &&
    labels.every((label) => LABEL.test(label)) &&
    /^[a-z]{2,}$/i.test(labels.at(-1) ?? '')
  );
}

/** The domain is not case-sensitive, and no provider in use makes the local part so: one form, one blind index. */
export const normaliseEmail = (value: string): string => value.toLowerCase();

/**
 * E.164. A national number is understood where the countries leave no doubt which one is meant; what cannot be read
 * is handed back for the pattern to refuse.
 */
export function normalisePhone(value: string, countries: readonly string[]): string {
  return readPhone(value, countries)?.number ?? value.replace(/[\s().-]/g, '');
}

/** Whether a number is one that its country's numbering plan can give out, in one of the countries asked for. */
export function isPhoneOf(value: string, countries: readonly string[]): boolean {
  const phone = readPhone(value, countries);
  return phone?.isValid() === true && phone.country !== undefined && countries.includes(phone.country);
}

function readPhone(value: string, countries: readonly string[]) {
  const [only] = countries;
  const national =
    countries.length === 1 && only !== undefined && isSupportedCountry(only) ? only : undefined;
  return parsePhoneNumberFromString(value, national as CountryCode | undefined);
}
