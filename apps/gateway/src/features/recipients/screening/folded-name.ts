import { romanise } from './romanise.ts';

/** One word of a name, in the forms it is compared by. */
export interface NameWord {
  readonly text: string;
  /** Spelling variants brought together: qaddafi, gadhafi and kadafi sound alike. */
  readonly sound: string;
  /** Consonants only: what Arabic and Hebrew write, and what survives any choice of vowels. */
  readonly skeleton: string;
  readonly vowelless: boolean;
}

export interface FoldedName {
  readonly words: readonly NameWord[];
}

/** Longer names are cut: no list has one, and the cost of a comparison grows with the words. */
const MAX_CHARACTERS = 240;
const MAX_WORDS = 12;

const wordSet = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Legal forms of companies, which lists and people write in many ways or leave out. */
const LEGAL_FORMS =
  wordSet(`ltd limited llc inc incorporated corp corporation company plc sarl sas srl spa gmbh ooo oao
  zao pao jsc pjsc ojsc llp pte pty sdn bhd fze fzc fzco`);

/** Particles and titles. Some are also whole names (Do, Le, Van, Ben), so they go only where two other words stay. */
const PARTICLES =
  wordSet(`al el ul ad as ar at an bin bn ibn ben bint abu the of and de la le los las da do dos di del
  van von der den und mr mrs ms dr prof sir sheikh shaikh haji hajji general colonel
  sa ag kg bv nv ab oy ao co lp est group holding holdings`);

const SERVANT_OF = new Set(['abd', 'abdul', 'abdel', 'abdal', 'abdol', 'abdur', 'abdoul']);

export function foldName(name: string): FoldedName {
  const cut = Array.from(name).slice(0, MAX_CHARACTERS).join('');
  const words = cut
    .replace(/[\p{Lm}'’‘`´]/gu, '')
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .map(romanise)
    .flatMap(({ text, vowelless }) =>
      text.split(/[^\p{L}\p{N}]+/u).map((part) => ({ text: part, vowelless })),
    )
    .filter(({ text }) => text !== '')
    .map((word) => (word.vowelless ? { ...word, text: withoutArticle(word.text) } : word));
  const named = without(LEGAL_FORMS, words, 1);
  const kept = joinServants(without(PARTICLES, named, 2)).slice(0, MAX_WORDS);
  return { words: kept.map(({ text, vowelless }) => makeWord(text, vowelless)) };
}

/** In Arabic script the article is part of the word. */
const withoutArticle = (text: string): string => text.replace(/^al(?=.{3})/u, '');

function without(
  untelling: ReadonlySet<string>,
  words: readonly PlainWord[],
  atLeast: number,
): readonly PlainWord[] {
  const telling = words.filter(({ text }) => !untelling.has(text));
  return telling.length >= atLeast ? telling : words;
}

type PlainWord = { readonly text: string; readonly vowelless: boolean };

/** Abdul Rahman, Abd al-Rahman and Abdurrahman are one name. */
function joinServants(words: readonly PlainWord[]): PlainWord[] {
  const joined: PlainWord[] = [];
  let servant: PlainWord | undefined;
  for (const word of words) {
    if (servant !== undefined) {
      joined.push({ text: `abd${word.text}`, vowelless: servant.vowelless || word.vowelless });
      servant = undefined;
    } else if (SERVANT_OF.has(word.text)) servant = word;
    else
      joined.push({ ...word, text: word.text.replace(/^abd(?:[aeou]l|ou[lr]|[ue]r)?(?=\p{L}{3})/u, 'abd') });
  }
  if (servant !== undefined) joined.push(servant);
  return joined;
}

function makeWord(text: string, vowelless: boolean): NameWord {
  return { text, sound: soundOf(text), skeleton: skeletonOf(text), vowelless };
}

const SOUND_RULES: readonly [RegExp, string][] = [
  [/shch|sch|sh|zh|tch|ch|cz|sz/g, 's'],
  [/ph/g, 'f'],
  [/th/g, 't'],
  [/dh/g, 'd'],
  [/kh|gh|ck|q|g|c/g, 'k'],
  [/x/g, 'ks'],
  [/w/g, 'v'],
  [/z/g, 's'],
  [/ou|oo|o/g, 'u'],
  [/ee|ie|ei|ey|iy|yi|y|j|e/g, 'i'],
  [/(.)\1+/g, '$1'],
];

export function soundOf(text: string): string {
  return SOUND_RULES.reduce((sound, [rule, replacement]) => sound.replace(rule, replacement), text);
}

function skeletonOf(text: string): string {
  // After the sound rules w is v; as a vowel sign it must fall away, so it is taken out before, but for the first place.
  const consonants = text.replace(/(?<=.)[wy]/g, '').replace(/j/g, 's');
  return soundOf(consonants)
    .replace(/[aiu]/g, '')
    .replace(/(.)\1+/g, '$1');
}
