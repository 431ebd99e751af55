import { testOutcomeOf } from '@causeway/protocol';
import type {
  ScreeningHit,
  ScreeningPort,
  ScreeningResult,
  ScreeningSubject,
} from '../../../ports/name-screening.ts';
import type { LoadedSanctionsList } from './load-sanctions-list.ts';
import { foldName } from './name-similarity.ts';

/** Likeness from which a person looks at it; names of two words with one of them misspelt are above it. */
export const DEFAULT_SCREENING_THRESHOLD = 0.88;
/** What a reviewer is shown at most. */
export const MAX_HITS = 10;

/**
 * Screens against a published list. A hit is never a verdict: a name alike goes to `review`, and only a person blocks.
 */
export function createListScreening(
  list: Pick<LoadedSanctionsList, 'index' | 'version'>,
  threshold: number = DEFAULT_SCREENING_THRESHOLD,
): ScreeningPort {
  const screenAtOnce = ({ name, nativeName }: ScreeningSubject): ScreeningResult => {
    const folded = [name, nativeName ?? ''].filter((text) => text.trim() !== '').map(foldName);
    const hits = folded.flatMap((query) => list.index.search(query, threshold, MAX_HITS).hits);
    // A name without a single letter or digit cannot be compared with anything, so it cannot be cleared either.
    const unreadable = folded.length === 0 || folded.some(({ words }) => words.length === 0);
    return {
      status: hits.length > 0 || unreadable ? 'review' : 'clear',
      hits: bestOfEach(hits),
      listVersion: list.version,
    };
  };
  return { screenAtOnce, screen: async (subject) => screenAtOnce(subject) };
}

/** An entry once, by the name of it that is most alike; best first. */
export function bestOfEach(hits: readonly ScreeningHit[]): ScreeningHit[] {
  const best = new Map<string, ScreeningHit>();
  for (const hit of hits) {
    if (hit.score > (best.get(hit.entryId)?.score ?? -1)) best.set(hit.entryId, hit);
  }
  return [...best.values()].sort((one, other) => other.score - one.score).slice(0, MAX_HITS);
}

/** Names get the status that the sandbox's test values give them, the stricter one first. */
export function createSimulatedScreening(): ScreeningPort {
  const screenAtOnce = ({ name }: ScreeningSubject): ScreeningResult => ({
    status: testOutcomeOf('screened_name', (part) => name.includes(part)) ?? 'clear',
    hits: [],
    listVersion: 'simulated',
  });
  return { screenAtOnce, screen: async (subject) => screenAtOnce(subject) };
}
