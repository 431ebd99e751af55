import { type PreparedAnswer, prepareAnswer } from '../../http/prepared-answer.ts';

/**
 * Prepared answers of one generation of the data. A newer generation drops them all, so an answer can never be
 * older than the data it was made from. Bounded in number and in bytes: questions come from any caller.
 */
export class AnswerMemory {
  readonly #maxAnswers: number;
  readonly #maxBytes: number;
  readonly #answers = new Map<string, PreparedAnswer>();
  #generation: object | undefined;
  #bytes = 0;

  constructor(limits: { readonly maxAnswers?: number; readonly maxBytes?: number } = {}) {
    this.#maxAnswers = limits.maxAnswers ?? 2_000;
    this.#maxBytes = limits.maxBytes ?? 16 * 1_024 * 1_024;
  }

  /** The answer kept under the key, or the one that `make` gives. What `make` throws is not kept. */
  recall(generation: object, key: string, make: () => unknown): PreparedAnswer {
    if (generation !== this.#generation) this.#drop(generation);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = prepareAnswer(make());
    this.#makeRoom(answer.byteLength);
    this.#answers.set(key, answer);
    this.#bytes += answer.byteLength;
    return answer;
  }

  #drop(generation: object): void {
    this.#generation = generation;
    this.#answers.clear();
    this.#bytes = 0;
  }

  #makeRoom(bytes: number): void {
    for (const [key, answer] of this.#answers) {
      if (this.#answers.size < this.#maxAnswers && this.#bytes + bytes <= this.#maxBytes) return;
      this.#answers.delete(key);
      this.#bytes -= answer.byteLength;
    }
  }
}

/**
 * Records are written in camel case, as code reads them; the wire is snake case. Only the names of fields change: the keys
 * of these two maps are data (a rail's slug, a detail's key) and stay as they are.
 */
const MAPS_OF_DATA: ReadonlySet<string> = new Set(['codes', 'fieldLimits', 'field_limits']);

export function toSnakeCase(value: unknown): unknown {
  return renamed(value, (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
}

export function toCamelCase(value: unknown): unknown {
  return renamed(value, (name) =>
    name.replace(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase()),
  );
}

function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      rename(name),
      MAPS_OF_DATA.has(name) ? field : renamed(field, rename),
    ]),
  );
}

/** One page of a list under its own name, with where it stands in the whole. */
export function pageOf(
  name: string,
  all: readonly unknown[],
  { limit, offset }: { readonly limit: number; readonly offset: number },
): object {
  return {
    [name]: all.slice(offset, offset + limit),
    pagination: { total: all.length, limit, offset },
  };
}
