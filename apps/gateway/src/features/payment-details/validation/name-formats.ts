import type { FieldFormat } from './field-format.types.ts';

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
