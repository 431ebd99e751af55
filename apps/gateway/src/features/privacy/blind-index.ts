import { createHmac } from 'node:crypto';

/**
 * Keyed hashes that let equal values be found without being readable. The partner is part of the hash, so that two
 * partners with the same customer have nothing in common in the database.
 */
export type BlindIndex = (place: string, partnerId: string, value: string) => string;

/** 128 bits: no two values of one deployment meet by accident. */
const INDEX_LENGTH = 32;

export function createBlindIndex(key: Uint8Array): BlindIndex {
  return (place, partnerId, value) =>
    createHmac('sha256', key)
      .update(`${place}\n${partnerId}\n`)
      .update(value)
      .digest('hex')
      .slice(0, INDEX_LENGTH);
}
