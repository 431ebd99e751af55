import { HANZI_SYLLABLES, LATIN_LETTERS, LETTERS, VOWELLESS_LETTERS } from './romanisation-tables.ts';

const HANGUL_FIRST = 0xac00;
const HANGUL_LAST = 0xd7a3;
const HANGUL_VOWELS = 21;
const HANGUL_FINALS = 28;
const INITIALS = 'g kk n d tt r m b pp s ss - j jj ch k t p h'
  .split(' ')
  .map((part) => part.replace('-', ''));
const VOWELS = 'a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i'.split(' ');
const FINALS = '- k k k n n n t l k m l l l p l m p p t t ng t t k t p t'
  .split(' ')
  .map((part) => part.replace('-', ''));

const HIRAGANA = /[\u3041-\u3096]/u;
const HIRAGANA_TO_KATAKANA = 0x60;
const HAN = /\p{Script=Han}/u;
// Marks that make ga of ka in Japanese are letters in all but name.
const MARKS = /(?![\u3099\u309A])\p{M}/gu;

/** A word in Latin letters, or as near to it as the tables come. */
export interface RomanText {
  readonly text: string;
  /** The word was written without its short vowels, so only its consonants mean something. */
  readonly vowelless: boolean;
}

/** Lower-case Latin letters and digits for a word of any script; Chinese syllables and Korean ones are set apart. */
export function romanise(word: string): RomanText {
  const plain = word.normalize('NFKC').toLowerCase().normalize('NFKD').replace(MARKS, '').normalize('NFC');
  let text = '';
  let vowelless = false;
  for (const character of plain) {
    const consonant = VOWELLESS_LETTERS.get(character);
    if (consonant !== undefined) vowelless = true;
    // Two consonants that meet for want of a vowel must not read as a digraph: z and h are not zh.
    if (consonant?.startsWith('h') && /[cdgkpstz]$/.test(text)) text += 'a';
    text += consonant ?? LATIN_LETTERS.get(character) ?? romaniseCharacter(character);
  }
  return { text, vowelless };
}

function romaniseCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return character;
  if (code >= HANGUL_FIRST && code <= HANGUL_LAST) return ` ${romaniseHangul(code - HANGUL_FIRST)} `;
  const kana = HIRAGANA.test(character) ? String.fromCodePoint(code + HIRAGANA_TO_KATAKANA) : character;
  const letter = LETTERS.get(kana);
  if (letter !== undefined) return letter;
  const syllable = HANZI_SYLLABLES.get(character);
  if (syllable !== undefined) return ` ${syllable} `;
  return HAN.test(character) ? ` ${character} ` : character;
}

function romaniseHangul(index: number): string {
  const initial = INITIALS[Math.floor(index / (HANGUL_VOWELS * HANGUL_FINALS))] ?? '';
  const vowel = VOWELS[Math.floor(index / HANGUL_FINALS) % HANGUL_VOWELS] ?? '';
  return initial + vowel + (FINALS[index % HANGUL_FINALS] ?? '');
}
