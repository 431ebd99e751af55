import { createHash } from 'node:crypto';

/** Choices that depend on the seed and a label only, so that adding one vendor or currency changes no other. */
export class SeededChoice {
  readonly #seed: string;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** From `min` to `max`, both included. */
  between(min: number, max: number, ...label: readonly string[]): number {
    return min + (this.#digest(label).readUInt32BE(0) % (max - min + 1));
  }

  /** A version 8 uuid. */
  uuid(...label: readonly string[]): string {
    const bytes = this.#digest(label).subarray(0, 16);
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  #digest(label: readonly string[]): Buffer {
    return createHash('sha256')
      .update(JSON.stringify([this.#seed, ...label]))
      .digest();
  }
}
