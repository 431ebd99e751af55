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

/** Words less alike than this are different words. */
export const WORD_THRESHOLD = 0.85;
const SAME_SKELETON = 0.94;
const INITIAL = 0.8;
const SOUND_DISCOUNT = 0.98;
const WHOLE_DISCOUNT = 0.97;
const WHOLE_THRESHOLD = 0.95;
const WHOLE_MIN_LENGTH = 6;
const SHORT_WORD = 3;
const ONE_SLIP = 0.9;
const SLIP_MIN_LENGTH = 5;
/** How much of the shorter name has to be there, against how much of the longer one. */
const SHORTER_SHARE = 0.75;

const WINKLER_PREFIX = 4;
const WINKLER_SCALE = 0.1;

/** Jaro-Winkler: 1 for equal texts, 0 for texts that share nothing. */
export function jaroWinkler(left: string, right: string): number {
  if (left === right) return 1;
  const jaro = jaroOf(left, right);
  let prefix = 0;
  while (prefix < WINKLER_PREFIX && prefix < left.length && left[prefix] === right[prefix]) prefix += 1;
  return jaro + prefix * WINKLER_SCALE * (1 - jaro);
}

function jaroOf(left: string, right: string): number {
  const reach = Math.max(0, Math.floor(Math.max(left.length, right.length) / 2) - 1);
  const taken = new Array<boolean>(right.length).fill(false);
  const leftMatches: string[] = [];
  for (let place = 0; place < left.length; place += 1) {
    const end = Math.min(right.length, place + reach + 1);
    for (let other = Math.max(0, place - reach); other < end; other += 1) {
      if (taken[other] || left[place] !== right[other]) continue;
      taken[other] = true;
      leftMatches.push(left[place] ?? '');
      break;
    }
  }
  const matches = leftMatches.length;
  if (matches === 0) return 0;
  const rightMatches = Array.from(right).filter((_, place) => taken[place]);
  const swapped = leftMatches.filter((character, place) => character !== rightMatches[place]).length / 2;
  return (matches / left.length + matches / right.length + (matches - swapped) / matches) / 3;
}

/** How alike two words are, from 0 to 1. */
export function wordSimilarity(left: NameWord, right: NameWord): number {
  if (left.text === right.text) return 1;
  if (left.vowelless || right.vowelless) {
    return left.skeleton.length > 1 && left.skeleton === right.skeleton ? SAME_SKELETON : 0;
  }
  // A single letter changed in a short word makes another word.
  if (Math.min(left.text.length, right.text.length) <= SHORT_WORD) {
    return left.sound === right.sound ? SOUND_DISCOUNT : 0;
  }
  // Jaro-Winkler is hard on a slip in the first letters, where a typing mistake is as likely as anywhere.
  const slip = isOneSlip(left.text, right.text) ? ONE_SLIP : 0;
  return Math.max(
    slip,
    jaroWinkler(left.text, right.text),
    SOUND_DISCOUNT * jaroWinkler(left.sound, right.sound),
  );
}

/** One letter left out, added, replaced, or swapped with the next; in a word long enough to be told by the rest. */
export function isOneSlip(left: string, right: string): boolean {
  const [short, long] = left.length <= right.length ? [left, right] : [right, left];
  if (short.length < SLIP_MIN_LENGTH || long.length - short.length > 1) return false;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start += 1;
  if (long.length > short.length) return short.slice(start) === long.slice(start + 1);
  const swapped = short[start] === long[start + 1] && short[start + 1] === long[start];
  return (
    short.slice(start + 1) === long.slice(start + 1) ||
    (swapped && short.slice(start + 2) === long.slice(start + 2))
  );
}

export const isInitial = (word: NameWord): boolean => /^[a-z]$/.test(word.text);

/**
 * How alike two names are, from 0 to 1, whatever the order of their words. A name may lack words of the other (a
 * patronymic, a second surname), but two whole words have to meet unless both names are a single word.
 */
export function nameSimilarity(left: FoldedName, right: FoldedName): number {
  return Math.max(alignedSimilarity(left.words, right.words), wholeSimilarity(left, right));
}

function alignedSimilarity(left: readonly NameWord[], right: readonly NameWord[]): number {
  if (left.length === 0 || right.length === 0) return 0;
  const pairs = left
    .flatMap((word, leftPlace) =>
      right.map((other, rightPlace) => ({ leftPlace, rightPlace, ...pairSimilarity(word, other) })),
    )
    .filter(({ similarity }) => similarity > 0)
    .sort((one, other) => other.similarity - one.similarity);
  const leftTaken = new Set<number>();
  const rightTaken = new Set<number>();
  let sum = 0;
  let wholeWords = 0;
  for (const { leftPlace, rightPlace, similarity, initial } of pairs) {
    if (leftTaken.has(leftPlace) || rightTaken.has(rightPlace)) continue;
    leftTaken.add(leftPlace);
    rightTaken.add(rightPlace);
    sum += similarity;
    if (!initial) wholeWords += 1;
  }
  const shorter = Math.min(left.length, right.length);
  const enough =
    leftTaken.size > 1 ? wholeWords > 0 : left.length === 1 && right.length === 1 && wholeWords === 1;
  if (!enough) return 0;
  return SHORTER_SHARE * (sum / shorter) + (1 - SHORTER_SHARE) * (sum / Math.max(left.length, right.length));
}

function pairSimilarity(left: NameWord, right: NameWord): { similarity: number; initial: boolean } {
  if (isInitial(left) || isInitial(right)) {
    return { similarity: left.text[0] === right.text[0] ? INITIAL : 0, initial: true };
  }
  const similarity = wordSimilarity(left, right);
  return { similarity: similarity >= WORD_THRESHOLD ? similarity : 0, initial: false };
}

/** Names that are written together on one side: Xi Jinping and Xi Jin Ping, al Qaida and alqaida. */
function wholeSimilarity(left: FoldedName, right: FoldedName): number {
  const listed = joinSounds(right.words);
  if (listed.length < WHOLE_MIN_LENGTH) return 0;
  const best = Math.max(...wholesOf(left).map((whole) => jaroWinkler(whole, listed)));
  return best >= WHOLE_THRESHOLD ? WHOLE_DISCOUNT * best : 0;
}

const joinSounds = (words: readonly NameWord[]): string => words.map(({ sound }) => sound).join('');

/** The name written together in the orders people use: as it is, surname last, surname first. */
export function wholesOf({ words }: FoldedName): string[] {
  const [first, ...rest] = words;
  const last = words.at(-1);
  if (first === undefined || last === undefined) return [''];
  return [
    ...new Set([joinSounds(words), joinSounds([...rest, first]), joinSounds([last, ...words.slice(0, -1)])]),
  ];
}
