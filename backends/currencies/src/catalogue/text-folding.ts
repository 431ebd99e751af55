/** Letters that Unicode does not decompose into a base letter and a mark. */
const UNDECOMPOSED: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŋ: 'n',
  þ: 'th',
  ŧ: 't',
};

/**
 * The form in which names are compared: without case, accents and punctuation, words parted by single spaces.
 * An apostrophe joins what it stands between, as people type `Caisse d'Épargne` with and without it.
 */
export function foldText(text: string): string {
  return ASCII.test(text) ? foldPlain(text) : foldAny(text);
}

const ASCII = /^[ -~]*$/;

/** The same for plain letters, which most names and nearly all searches consist of. */
function foldPlain(text: string): string {
  return text
    .toLowerCase()
    .replace(/['`]+/g, '')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
}

function foldAny(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[ßæœøđðħıłŋþŧ]/g, (letter) => UNDECOMPOSED[letter] ?? letter)
    .replace(/[\p{M}'’ʼ`]+/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
