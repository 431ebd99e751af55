import { createHash } from 'node:crypto';
import type { OfferBook } from '../book/index.ts';
import { toWireRows } from '../wire/index.ts';

export interface SnapshotBody {
  readonly etag: string;
  readonly json: string;
}

const bodies = new WeakMap<OfferBook, SnapshotBody>();

/** A book never changes, so it is written out once however often it is asked for. */
export function snapshotBody(book: OfferBook): SnapshotBody {
  const known = bodies.get(book);
  if (known !== undefined) return known;
  const json = JSON.stringify(toWireRows(book.rows()));
  const body = { etag: `"${createHash('sha256').update(json).digest('base64url')}"`, json };
  bodies.set(book, body);
  return body;
}
