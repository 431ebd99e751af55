import type { InstitutionView } from './catalogue-views.ts';
import { foldText } from './text-folding.ts';

/** One institution as one rail lists it. */
export type DirectoryEntry = {
  view: InstitutionView;
  countries: ReadonlySet<string>;
  codes: readonly string[];
};

export type DirectoryFilter = {
  institutionId?: string | undefined;
  country?: string | undefined;
  search?: string | undefined;
  code?: string | undefined;
};

type IndexedEntry = DirectoryEntry & { folded: string };

const EXACT = 0;
const PREFIX = 1;
const WORD_PREFIX = 2;
const SUBSTRING = 3;
const SEPARATOR = '\n';
const REMEMBERED_FILTERS = 256;
const LONGEST_SEARCH = 200;

type Rank = typeof EXACT | typeof PREFIX | typeof WORD_PREFIX | typeof SUBSTRING;

/**
 * The institutions of one rail in the order of their names. All folded names are one string, so that a search is a
 * few native `indexOf` calls instead of a visit to every entry; results of recent filters are remembered.
 */
export class InstitutionDirectory {
  readonly #entries: readonly IndexedEntry[];
  readonly #haystack: string;
  readonly #starts: Int32Array;
  readonly #all: readonly InstitutionView[];
  readonly #byCode = new Map<string, IndexedEntry[]>();
  readonly #remembered = new Map<string, readonly InstitutionView[]>();

  constructor(entries: readonly DirectoryEntry[]) {
    this.#entries = entries
      .map((entry) => ({ ...entry, folded: foldText(entry.view.name) }))
      .sort(byFoldedName);
    this.#starts = new Int32Array(this.#entries.length);
    let haystack = SEPARATOR;
    this.#entries.forEach((entry, index) => {
      this.#starts[index] = haystack.length;
      haystack += entry.folded + SEPARATOR;
      for (const code of entry.codes) {
        const key = code.toUpperCase();
        this.#byCode.set(key, [...(this.#byCode.get(key) ?? []), entry]);
      }
    });
    this.#haystack = haystack;
    this.#all = Object.freeze(this.#entries.map((entry) => entry.view));
  }

  matching(filter: DirectoryFilter): readonly InstitutionView[] {
    const { institutionId, country, code } = filter;
    const search = filter.search === undefined ? undefined : foldSearch(filter.search);
    if (institutionId === undefined && country === undefined && search === undefined && code === undefined) {
      return this.#all;
    }
    const key = JSON.stringify([institutionId, country, search, code]);
    const known = this.#remembered.get(key);
    if (known !== undefined) return known;
    const found = Object.freeze(
      this.#filter({ institutionId, country, search, code }).map((entry) => entry.view),
    );
    // Dropping everything at once is enough: the point is to serve the few filters that repeat all the time.
    if (this.#remembered.size >= REMEMBERED_FILTERS) this.#remembered.clear();
    this.#remembered.set(key, found);
    return found;
  }

  #filter({ institutionId, country, search, code }: DirectoryFilter): readonly IndexedEntry[] {
    let found: readonly IndexedEntry[] = search === undefined ? this.#entries : this.#search(search);
    if (institutionId !== undefined) found = found.filter((entry) => entry.view.id === institutionId);
    if (code !== undefined) {
      const coded = new Set(this.#byCode.get(code.toUpperCase()));
      found = found.filter((entry) => coded.has(entry));
    }
    if (country !== undefined) found = found.filter((entry) => entry.countries.has(country));
    return found;
  }

  /** Entries are in the order of their names, and so are the hits: each rank comes out sorted. */
  #search(wanted: string): readonly IndexedEntry[] {
    if (wanted === '') return [];
    const ranked: [IndexedEntry[], IndexedEntry[], IndexedEntry[], IndexedEntry[]] = [[], [], [], []];
    let index = 0;
    let at = this.#haystack.indexOf(wanted);
    while (at !== -1) {
      while ((this.#starts[index + 1] ?? Number.POSITIVE_INFINITY) <= at) index += 1;
      const entry = this.#entries[index];
      if (entry === undefined) break;
      ranked[this.#rankAt(at, wanted, entry)].push(entry);
      at = this.#haystack.indexOf(wanted, (this.#starts[index] ?? at) + entry.folded.length);
    }
    return ranked.flat();
  }

  #rankAt(at: number, wanted: string, { folded }: IndexedEntry): Rank {
    const before = this.#haystack[at - 1];
    if (before === SEPARATOR) return folded.length === wanted.length ? EXACT : PREFIX;
    return before === ' ' || folded.includes(` ${wanted}`) ? WORD_PREFIX : SUBSTRING;
  }
}

/** Text longer than any name finds nothing, so it is not even folded. */
function foldSearch(search: string): string {
  return search.length > LONGEST_SEARCH ? '' : foldText(search);
}

function byFoldedName(left: IndexedEntry, right: IndexedEntry): number {
  if (left.folded !== right.folded) return left.folded < right.folded ? -1 : 1;
  return left.view.id < right.view.id ? -1 : 1;
}
