import { isEmail, isPhoneOf, normaliseEmail, normalisePhone } from '../../../lib/contact.ts';
import { accountFormats } from './account-formats.ts';
import { isCnpj, isCpf, isSingaporeNric, isThaiNumber } from './check-digits.ts';
import type { FieldContext, FieldFormat } from './field-format.types.ts';

/** Payment aliases: a second field says which kind of value the alias is. */
interface AliasKind {
  readonly normalise: (value: string) => string;
  readonly isRight: (value: string) => boolean;
}

const compactUpper = (value: string): string => value.replace(/[\s./-]/gu, '').toUpperCase();
const asIs = (value: string): string => value;

const matching = (pattern: RegExp, normalise: (value: string) => string = compactUpper): AliasKind => ({
  normalise,
  isRight: (value) => pattern.test(value),
});

const email: AliasKind = { normalise: normaliseEmail, isRight: isEmail };

const mobileOf = (...countries: string[]): AliasKind => ({
  normalise: (value) => normalisePhone(value, countries),
  isRight: (value) => isPhoneOf(value, countries),
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** PromptPay writes a mobile number nationally, with its leading zero. */
const thaiMobile: AliasKind = {
  normalise: (value) => normalisePhone(value, ['TH']).replace(/^\+66/, '0'),
  isRight: (value) => isPhoneOf(value, ['TH']),
};

/** Bre-B writes a mobile number nationally: ten digits that begin with 3. */
const colombianMobile: AliasKind = {
  normalise: (value) => normalisePhone(value, ['CO']).replace(/^\+57/, ''),
  isRight: (value) => /^3\d{9}$/.test(value),
};

function aliased(typeKey: string, kinds: Readonly<Record<string, AliasKind>>): FieldFormat {
  const kindOf = (context: FieldContext): AliasKind | undefined => {
    const type = context.sent(typeKey).toLowerCase();
    return Object.hasOwn(kinds, type) ? kinds[type] : undefined;
  };
  return {
    normalise: (value, context) => kindOf(context)?.normalise(value) ?? value,
    explain: (value, context) => {
      const kind = kindOf(context);
      // A missing or unknown type is the type field's own problem; it is not told twice.
      return kind === undefined || kind.isRight(value) ? undefined : `does not fit its ${typeKey}`;
    },
  };
}

function isMalaysianNric(value: string): boolean {
  const match = /^\d{2}(\d{2})(\d{2})\d{6}$/.exec(value);
  const [month, day] = [Number(match?.[1]), Number(match?.[2])];
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

export const aliasFormats: Readonly<Record<string, FieldFormat>> = {
  pix_key: aliased('pix_key_type', {
    cpf: { normalise: compactUpper, isRight: isCpf },
    cnpj: { normalise: compactUpper, isRight: isCnpj },
    email,
    phone: mobileOf('BR'),
    evp: matching(UUID, (value) => value.toLowerCase()),
  }),
  duitnow_id: aliased('proxy_type', {
    mobile: mobileOf('MY'),
    nric: { normalise: compactUpper, isRight: isMalaysianNric },
    passport: matching(/^[A-Z0-9]{6,15}$/),
    business_registration: matching(/^[A-Z0-9]{6,20}$/),
  }),
  paynow_id: aliased('proxy_type', {
    mobile: mobileOf('SG'),
    nric: { normalise: compactUpper, isRight: isSingaporeNric },
    // Businesses, local companies with their year, and other entities; PayNow may add a three-character suffix.
    uen: matching(/^(\d{8}[A-Z]|\d{9}[A-Z]|[TSR]\d{2}[A-Z]{2}\d{4}[A-Z])([A-Z0-9]{3})?$/),
  }),
  promptpay_id: aliased('proxy_type', {
    mobile: thaiMobile,
    national_id: { normalise: compactUpper, isRight: isThaiNumber },
    tax_id: { normalise: compactUpper, isRight: isThaiNumber },
    ewallet: matching(/^\d{15}$/),
  }),
  fps_id: aliased('proxy_type', {
    // Hong Kong's scheme registers numbers of other countries too; those in use are of its neighbours.
    mobile: mobileOf('HK', 'CN', 'MO'),
    email,
    fps_id: matching(/^(\d{7}|\d{9})$/),
    account: matching(/^\d{9,15}$/),
  }),
  bre_b_key: aliased('key_type', {
    mobile: colombianMobile,
    email,
    national_id: matching(/^\d{5,15}$/),
    alias: matching(/^@[a-z0-9]{5,20}$/, (value) => value.toLowerCase()),
    merchant: matching(/^00\d{8}$/),
  }),
  upi_vpa: { normalise: normaliseEmail },
  bakong_id: { normalise: normaliseEmail },
  alipay_account: {
    normalise: (value) => (value.includes('@') ? normaliseEmail(value) : value.replace(/[\s()]/gu, '')),
    explain: (value) =>
      value.includes('@') && !isEmail(value) ? 'is neither an email address nor a number' : undefined,
  },
  wechat_account: { normalise: asIs },
};

const phone: FieldFormat = {
  normalise: (value, { rail }) => normalisePhone(value, rail.countries),
  explain: (value, { rail }) =>
    isPhoneOf(value, rail.countries) ? undefined : 'is not a phone number of a country this rail serves',
};

const chineseMobile: FieldFormat = {
  normalise: (value) => normalisePhone(value, ['CN']),
  explain: (value) => (isPhoneOf(value, ['CN']) ? undefined : 'is not a mobile number of mainland China'),
};

export const contactFormats: Readonly<Record<string, FieldFormat>> = {
  e164_phone: phone,
  cn_mobile: chineseMobile,
  email: {
    normalise: normaliseEmail,
    explain: (value) => (isEmail(value) ? undefined : 'is not an email address'),
  },
};

// Controls and direction overrides can make a name read differently from what a screener compares.
const INVISIBLE = /[\p{Cc}\p{Co}\p{Cn}\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/u;
const LETTER = /\p{L}/u;

const oneSpaced = (value: string): string => value.normalize('NFC').replace(/\s+/gu, ' ');

function explainText(value: string): string | undefined {
  return INVISIBLE.test(value) ? 'has characters that cannot be seen' : undefined;
}

const name: FieldFormat = {
  normalise: oneSpaced,
  explain: (value) => explainText(value) ?? (LETTER.test(value) ? undefined : 'has no letter'),
};

const HALF_WIDTH_KATAKANA = /[\uFF66-\uFF9F]+/gu;
const HIRAGANA = /[\u3041-\u3096]/gu;
const HIRAGANA_TO_KATAKANA = 0x60;

/** Japanese banks know a holder by full-width katakana; half-width and hiragana say the same. */
const katakana: FieldFormat = {
  normalise: (value) =>
    value
      .replace(HALF_WIDTH_KATAKANA, (part) => part.normalize('NFKC'))
      .replace(HIRAGANA, (kana) => String.fromCodePoint((kana.codePointAt(0) ?? 0) + HIRAGANA_TO_KATAKANA))
      .toUpperCase(),
  explain: (value) => (/[ァ-ヶ]/u.test(value) ? undefined : 'has no katakana'),
};

/** Free text without a format of its own: the fallback of every text field. */
export const plainText: FieldFormat = { normalise: oneSpaced, explain: explainText };

export const nameFormats: Readonly<Record<string, FieldFormat>> = {
  person_name: name,
  company_name: name,
  address: plainText,
  reference: plainText,
  katakana,
};

const FORMATS: ReadonlyMap<string, FieldFormat> = new Map(
  Object.entries({ ...nameFormats, ...contactFormats, ...accountFormats, ...aliasFormats }),
);

/** Names of every format that is checked beyond its pattern or brought into one form. */
export const KNOWN_FORMATS: ReadonlySet<string> = new Set(FORMATS.keys());

/** A format that an operator invents is plain text: its pattern still holds. */
export function formatNamed(format: string | undefined): FieldFormat {
  return (format === undefined ? undefined : FORMATS.get(format)) ?? plainText;
}
