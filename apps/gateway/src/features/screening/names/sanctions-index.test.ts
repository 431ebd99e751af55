import { expect, it } from 'vitest';
import { foldName } from './name-similarity.ts';
import { createSanctionsIndex } from './sanctions-index.ts';
import type { SanctionsEntry } from './sanctions-list.ts';

const ENTRIES = 20_000;
const CONSONANTS = 'bcdfghjklmnprstvz';
const VOWELS = 'aeiou';

/** Numbers that repeat from run to run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A list like the real ones: few given names that many share, many surnames. */
function sampleList(): SanctionsEntry[] {
  const pick = seeded(20_260_101);
  const syllable = () => CONSONANTS.charAt(pick(CONSONANTS.length)) + VOWELS.charAt(pick(VOWELS.length));
  const word = (syllables: number) => Array.from({ length: syllables }, syllable).join('');
  const given = Array.from({ length: 300 }, () => word(2 + pick(2)));
  const surnames = Array.from({ length: 9_000 }, () => word(3 + pick(2)));
  const anyOf = (words: string[]) => words[pick(words.length)] ?? '';
  return Array.from({ length: ENTRIES }, (_, number) => ({
    id: `entry-${number}`,
    kind: 'individual' as const,
    names: [`${anyOf(given)} ${anyOf(surnames)}`, `${anyOf(given)} ${anyOf(given)} ${anyOf(surnames)}`],
    programs: [],
  }));
}

const list = sampleList();
const index = createSanctionsIndex(list);

it('finds every one of 500 listed names among 20,000 entries, comparing a small part of them', () => {
  let most = 0;
  for (const { id, names } of list.filter((_, place) => place % 40 === 0)) {
    const { hits, comparisons } = index.search(foldName(names[1] ?? ''), 0.88, 50);
    expect(hits.map(({ entryId }) => entryId)).toContain(id);
    most = Math.max(most, comparisons);
  }
  expect(index.nameCount).toBe(2 * ENTRIES);
  expect(most).toBeLessThan(index.nameCount / 20);
});

const anotherLetter = (letter: string) => {
  if (VOWELS.includes(letter)) return letter === 'a' ? 'o' : 'a';
  return letter === 'm' ? 'n' : 'm';
};
const SLIPS: readonly [string, (word: string, place: number) => string][] = [
  ['left out', (word, place) => word.slice(0, place) + word.slice(place + 1)],
  [
    'replaced',
    (word, place) => word.slice(0, place) + anotherLetter(word.charAt(place)) + word.slice(place + 1),
  ],
  [
    'swapped',
    (word, place) =>
      word.slice(0, place) + word.charAt(place + 1) + word.charAt(place) + word.slice(place + 2),
  ],
];

it.each(SLIPS)('finds a name with one letter of the surname %s, at any place', (_slip, change) => {
  const missed: string[] = [];
  for (const { id, names } of list.filter((_, place) => place % 200 === 0)) {
    const [given = '', surname = ''] = (names[0] ?? '').split(' ');
    for (let place = 0; place < surname.length; place += 1) {
      const { hits } = index.search(foldName(`${given} ${change(surname, place)}`), 0.88, 500);
      if (!hits.some(({ entryId }) => entryId === id)) missed.push(`${surname} ${change(surname, place)}`);
    }
  }
  expect(missed).toEqual([]);
});

it('compares little for a name that is not there, and finds nothing', () => {
  const { hits, comparisons } = index.search(foldName('Wolfgang Amadeus Mozart'), 0.88, 50);
  expect(hits).toEqual([]);
  expect(comparisons).toBeLessThan(100);
});

it('a hostile query costs no more than its first words', () => {
  const hostile = Array.from({ length: 5_000 }, (_, place) => list[place]?.names[0]).join(' ');
  expect(index.search(foldName(hostile), 0.88, 50).comparisons).toBeLessThan(index.nameCount / 4);
});

it('answers at most as many hits as asked, best first', () => {
  const same = Array.from(
    { length: 30 },
    (_, number): SanctionsEntry => ({
      id: String(number),
      kind: 'individual',
      names: number === 7 ? ['Jonathan Example'] : ['Jonathon Example'],
      programs: [],
    }),
  );
  const { hits } = createSanctionsIndex(same).search(foldName('Jonathan Example'), 0.88, 5);
  expect(hits).toHaveLength(5);
  expect(hits[0]).toEqual({ entryId: '7', listedName: 'Jonathan Example', score: 100 });
});

it('a single given name that hundreds share is not compared with each of them', () => {
  const [given = ''] = (list[0]?.names[0] ?? '').split(' ');
  const sharing = list.filter(({ names }) => names.some((name) => name.split(' ').includes(given)));
  expect(sharing.length).toBeGreaterThan(100);
  expect(index.search(foldName(given), 0.88, 50).comparisons).toBeLessThan(sharing.length);
});
