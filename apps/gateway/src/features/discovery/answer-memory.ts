import { type PreparedAnswer, prepareAnswer } from '../../http/prepared-answer.ts';

/**
 * Prepared answers of one generation of the data. A newer generation forgets them all, so an answer can never be
 * older than the data it was made from. Bounded in number and in bytes: questions come from anybody.
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
    if (generation !== this.#generation) this.#forget(generation);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = prepareAnswer(make());
    this.#makeRoom(answer.byteLength);
    this.#answers.set(key, answer);
    this.#bytes += answer.byteLength;
    return answer;
  }

  #forget(generation: object): void {
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
