/**
 * What reaches a model is first cut down: no keys, no personal data, no characters that a reader does not see, no text without
 * an end. Views choose the fields; this is the second line, for fields that hold what they should not.
 */
export const REDACTED = '[redacted]';
const LONGEST_TEXT = 500;

// Keys are compared in lower case without separators: api_key and apiKey are one.
const SENSITIVE_KEY =
  /secret|password|privatekey|mnemonic|apikey|signature|cookie|authorization|accesstoken|email|phone|mobilenumber|firstname|lastname|middlename|fullname|nativename|recipientname|sendername|payername|holdername|accountname|companyname|beneficiaryname|dateofbirth|birthdate|idnumber|documentnumber|taxid|passport|registrationnumber|accountnumber|routingnumber|cardnumber|iban|pixkey|proxyvalue|keyvalue|postalcode|addressline/;

const TOKEN = /\b(cw_[a-z]+_|whsec_)[0-9A-Za-z_-]{4,}/g;
const CREDENTIALS = /\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi;
const EMAIL = /[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g;
const IBAN = /\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}\b/g;
/** Longer than a date, and no part of an id or of a decimal number. */
const DIGITS = /(?<![\w.-])\+?\d(?:[ -]?\d){8,}(?![\w.-])/g;
// Control characters, and those that are not seen: direction marks, zero width, tags.
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu;

/** One line of text, without secrets and e-mail addresses and account numbers, and with an end. */
export function cleanText(text: string, longest = LONGEST_TEXT): string {
  // Cut before the patterns run: they need not look at megabytes.
  const seen = text.slice(0, 4 * longest).replaceAll(UNSEEN, ' ');
  const masked = seen
    .replaceAll(TOKEN, `$1${REDACTED}`)
    .replaceAll(CREDENTIALS, `$1 ${REDACTED}`)
    .replaceAll(EMAIL, REDACTED)
    .replaceAll(IBAN, (found) => (isIban(found) ? REDACTED : found));
  return masked.length <= longest && text.length <= 4 * longest ? masked : `${masked.slice(0, longest)}…`;
}

/** As `cleanText`, of words that some other party wrote: longer numbers may be anyone's. */
export function cleanForeignText(text: string, longest = LONGEST_TEXT): string {
  return cleanText(text, longest).replaceAll(DIGITS, REDACTED);
}

/** Every text of a value cleaned, and nothing told under a name that says what it holds. */
export function clean(value: unknown, longest = LONGEST_TEXT): unknown {
  if (typeof value === 'string') return cleanText(value, longest);
  if (Array.isArray(value)) return value.map((one) => clean(one, longest));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, isHidden(name, one) ? REDACTED : clean(one, longest)]),
  );
}

function isHidden(name: string, value: unknown): boolean {
  if (value === null || typeof value === 'boolean') return false;
  return SENSITIVE_KEY.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));
}

/** By its check digits, so that other words of letters and digits stay. */
function isIban(text: string): boolean {
  const plain = text.replaceAll(/[ -]/g, '');
  const digits = [...(plain.slice(4) + plain.slice(0, 4))].map((one) => Number.parseInt(one, 36)).join('');
  return BigInt(digits) % 97n === 1n;
}
