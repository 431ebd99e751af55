/**
 * What of a name or an identifier is hashed, so that it can be found without being kept readable.
 *
 * A name is found by whole words and by their beginnings from three letters on; scripts that do not put spaces between
 * words are found by any part. Shorter beginnings are not hashed: there are so few of them that the hashes would tell
 * the letters. An identifier is found whole or not at all.
 */
const SHORTEST_BEGINNING = 3;
const LONGEST_BEGINNING = 16;
const LONGEST_PART = 8;
const MAX_WORDS = 16;
const MAX_WORD_LENGTH = 40;

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/** Tokens to keep for the names of a recipient. */
export function nameTokens(...names: readonly (string | null)[]): string[] {
  const tokens = new Set<string>();
  for (const name of names) {
    for (const word of wordsOf(name ?? '')) {
      tokens.add(word.join(''));
      if (isUnspaced(word)) addParts(tokens, word);
      else addBeginnings(tokens, word);
    }
  }
  return [...tokens];
}

/** Tokens that all have to be there for a search to hit. */
export function searchedNameTokens(search: string): string[] {
  const tokens = wordsOf(search).map((word) => {
    const longest = isUnspaced(word) ? LONGEST_PART : MAX_WORD_LENGTH;
    return word.slice(0, longest).join('');
  });
  return [...new Set(tokens)];
}

function addBeginnings(tokens: Set<string>, word: readonly string[]): void {
  for (let length = SHORTEST_BEGINNING; length <= Math.min(word.length, LONGEST_BEGINNING); length++) {
    tokens.add(word.slice(0, length).join(''));
  }
}

function addParts(tokens: Set<string>, word: readonly string[]): void {
  for (let start = 0; start < word.length; start++) {
    for (let length = 1; length <= LONGEST_PART && start + length <= word.length; length++) {
      tokens.add(word.slice(start, start + length).join(''));
    }
  }
}

/** Accents, case and punctuation do not keep a name from being found. */
function wordsOf(text: string): string[][] {
  const folded = text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().normalize('NFC');
  const words = folded.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(0, MAX_WORDS).map((word) => Array.from(word).slice(0, MAX_WORD_LENGTH));
}

const isUnspaced = (word: readonly string[]) => word.some((character) => UNSPACED.test(character));

const SHORTEST_IDENTIFIER = 4;

/** One form of an identifier, however it is grouped; undefined where it is too short to name anything. */
export function identifierToken(value: string): string | undefined {
  const plain = value
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toUpperCase();
  return plain.length < SHORTEST_IDENTIFIER ? undefined : plain;
}
