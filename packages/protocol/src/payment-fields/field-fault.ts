import type { Static } from 'typebox';
import type { PaymentFieldSchema } from '../wire/discovery-rails.ts';

/** What a form tells of a rail's field before anything is sent or signed. No schema is loaded for it: it is in every page. */
export type FieldFault = 'required' | 'not_an_option' | 'too_long' | 'malformed' | 'check_digits';

type Field = Pick<
  Static<typeof PaymentFieldSchema>,
  'key' | 'type' | 'required' | 'pattern' | 'max_length' | 'options'
>;

/** Separators help the eye: the service drops them, so a value that fits without them fits. */
const compact = (value: string): string => value.replace(/[\s./()-]/gu, '');

/**
 * The service drops separators and judges the check digits of every rail; here only what can be told for sure is
 * refused, so that nothing it would take is held back.
 */
export function paymentFieldFault(field: Field, value: string): FieldFault | undefined {
  const said = value.trim();
  if (said === '') return field.required ? 'required' : undefined;
  if (field.options !== undefined) {
    return field.options.some(({ code }) => code === said) ? undefined : 'not_an_option';
  }
  const tight = compact(said);
  if ([...tight].length > field.max_length) return 'too_long';
  if (field.pattern !== undefined && !fits(field.pattern, said)) {
    // A phone number may be written as at home; the service adds the country.
    const isNational = field.type === 'tel' && /^0?[0-9]{6,14}$/.test(tight);
    if (!isNational) return 'malformed';
  }
  return field.key === 'iban' && !hasIbanCheckDigits(tight) ? 'check_digits' : undefined;
}

/** Some numbers get their separators from the service: those are not judged here. */
const NEEDS_SEPARATOR = /-(?!\?)|\\\//;

function fits(pattern: string, said: string): boolean {
  if (NEEDS_SEPARATOR.test(pattern.replace(/\[(?:[^\]\\]|\\.)*\]/g, ''))) return true;
  const expression = new RegExp(pattern, 'u');
  const tight = compact(said);
  return [said, said.toUpperCase(), said.toLowerCase(), tight, tight.toUpperCase()].some((form) =>
    expression.test(form),
  );
}

/** ISO 13616: with its first four characters last and letters as numbers, the remainder by 97 is 1. */
function hasIbanCheckDigits(iban: string): boolean {
  const moved = `${iban.slice(4)}${iban.slice(0, 4)}`.toUpperCase();
  if (!/^[0-9A-Z]{5,}$/.test(moved)) return false;
  let remainder = 0;
  for (const character of moved) {
    const number = Number.parseInt(character, 36);
    remainder = (remainder * (number > 9 ? 100 : 10) + number) % 97;
  }
  return remainder === 1;
}
