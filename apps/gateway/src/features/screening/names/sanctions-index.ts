import type { ScreeningHit } from '../../../ports/name-screening.ts';
import {
  type FoldedName,
  foldName,
  isInitial,
  type NameWord,
  nameSimilarity,
  WORD_THRESHOLD,
  wholesOf,
  wordSimilarity,
} from './name-similarity.ts';
import type { SanctionsEntry } from './sanctions-list.ts';

export interface IndexSearch {
  readonly hits: readonly ScreeningHit[];
  /** Words and names that were compared: what the search cost. */
  readonly comparisons: number;
}

export interface SanctionsIndex {
  readonly entryCount: number;
  readonly nameCount: number;
  /** Entries with a name at least this alike, from 0 to 1, best first. */
  search(name: FoldedName, threshold: number, limit: number): IndexSearch;
}

interface ListedName {
  readonly entry: SanctionsEntry;
  readonly name: string;
  readonly folded: FoldedName;
  /** How many words of the query have to be found before the names are worth comparing. */
  readonly wordsNeeded: number;
}

export interface GrowingSanctionsIndex extends SanctionsIndex {
  add(entry: SanctionsEntry): void;
}

export function createSanctionsIndex(entries: Iterable<SanctionsEntry>): SanctionsIndex {
  const index = startSanctionsIndex();
  for (const entry of entries) index.add(entry);
  return index;
}

/**
 * Finds listed names by their words: a word leads to the words that sound like it, give or take a letter, or that have
 * the same consonants, and those lead to the names that contain them. Only names that share two words with the query
 * are compared in full, so the cost follows the likeness and not the length of the list.
 */
export function startSanctionsIndex(): GrowingSanctionsIndex {
  const listed: ListedName[] = [];
  const words = new Map<string, { word: NameWord; names: number[] }>();
  const wordsByKey = new Map<string, string[]>();
  const namesByWhole = new Map<string, number[]>();
  let entryCount = 0;

  function addName(entry: SanctionsEntry, name: string): void {
    const folded = foldName(name);
    if (folded.words.length === 0) return;
    const place = listed.length;
    const telling = folded.words.filter((word) => !isInitial(word)).length;
    listed.push({ entry, name, folded, wordsNeeded: Math.min(2, telling) });
    for (const word of folded.words) addWord(word, place);
    for (const whole of wholesOf(folded)) append(namesByWhole, whole, place);
  }

  function addWord(word: NameWord, place: number): void {
    const id = wordId(word);
    const known = words.get(id);
    if (known !== undefined) {
      if (known.names.at(-1) !== place) known.names.push(place);
      return;
    }
    words.set(id, { word, names: [place] });
    for (const key of keysOf(word)) append(wordsByKey, key, id);
  }

  function add(entry: SanctionsEntry): void {
    entryCount += 1;
    for (const name of new Set(entry.names)) addName(entry, name);
  }

  function search(query: FoldedName, threshold: number, limit: number): IndexSearch {
    let comparisons = 0;
    const shared = new Map<number, number>();
    for (const word of query.words) {
      if (isInitial(word)) continue;
      const found = new Set<number>();
      for (const id of new Set(keysOf(word).flatMap((key) => wordsByKey.get(key) ?? []))) {
        const known = words.get(id);
        comparisons += 1;
        if (known === undefined || wordSimilarity(word, known.word) < WORD_THRESHOLD) continue;
        for (const place of known.names) found.add(place);
      }
      for (const place of found) shared.set(place, (shared.get(place) ?? 0) + 1);
    }
    const queryNeeds = Math.min(2, query.words.filter((word) => !isInitial(word)).length);
    const candidates = new Set(wholesOf(query).flatMap((whole) => namesByWhole.get(whole) ?? []));
    for (const [place, count] of shared) {
      const name = listed[place];
      if (name === undefined || count < Math.min(queryNeeds, name.wordsNeeded)) continue;
      if (mayMeet(query, name.folded, count)) candidates.add(place);
    }
    const best = new Map<string, ScreeningHit>();
    for (const place of candidates) {
      const name = listed[place];
      if (name === undefined) continue;
      comparisons += 1;
      const similarity = nameSimilarity(query, name.folded);
      const score = Math.round(similarity * 100);
      if (similarity < threshold || score <= (best.get(name.entry.id)?.score ?? -1)) continue;
      best.set(name.entry.id, { entryId: name.entry.id, listedName: name.name, score });
    }
    const hits = [...best.values()].sort((one, other) => other.score - one.score).slice(0, limit);
    return { hits, comparisons };
  }

  return {
    get entryCount() {
      return entryCount;
    },
    get nameCount() {
      return listed.length;
    },
    add,
    search,
  };
}

/** One shared word is not enough between a single word and a longer name, which is the commonest false candidate. */
function mayMeet(query: FoldedName, listed: FoldedName, sharedWords: number): boolean {
  if (sharedWords !== 1) return true;
  return (query.words.length === 1) === (listed.words.length === 1);
}

const wordId = (word: NameWord): string => (word.vowelless ? `~${word.text}` : word.text);

/**
 * What a word is found by: its sound, its spelling, either of them without any one letter, and its consonants. Sound
 * alone is not enough, for a letter left out can make a digraph and so another sound.
 */
function keysOf({ text, sound, skeleton }: NameWord): string[] {
  const keys = new Set([...lettersLeftOut(sound), ...lettersLeftOut(text)]);
  if (skeleton.length > 1) keys.add(`#${skeleton}`);
  return [...keys];
}

/** Deletion keys have one length cap, so that a hostile word does not become thousands of them. */
const KEY_CHARACTERS = 24;

function lettersLeftOut(word: string): string[] {
  const cut = word.slice(0, KEY_CHARACTERS);
  if (cut.length <= 3) return [cut];
  return [cut, ...Array.from(cut, (_, place) => cut.slice(0, place) + cut.slice(place + 1))];
}

function append<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}
