import { type Static, Type } from 'typebox';
import { Uuid } from './common.ts';

/** How lists are paged: by number, by offset or by cursor. */

/** A page beyond the end is empty, however far; only what no database counts to is refused. */
export const MAX_OFFSET = 2_147_483_647;

export const PageInput = Type.Object({
  page: Type.Integer({ minimum: 1, maximum: MAX_OFFSET, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
});

export const PageSchema = Type.Object({ page: Type.Integer(), limit: Type.Integer(), total: Type.Integer() });

export const PageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, examples: [20] }),
  offset: Type.Integer({ minimum: 0, maximum: MAX_OFFSET, default: 0, examples: [0] }),
});

export const OffsetPage = Type.Object({
  total: Type.Integer({ examples: [1] }),
  limit: Type.Integer({ examples: [20] }),
  offset: Type.Integer({ examples: [0] }),
});

/** Of lists with a known end, such as the catalogue. */
export const offsetPaging = (defaultLimit: number, maxLimit: number) => ({
  limit: Type.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit, examples: [defaultLimit] }),
  offset: Type.Integer({ minimum: 0, maximum: MAX_OFFSET, default: 0, examples: [0] }),
});

export const ListingPageQuery = Type.Object(offsetPaging(20, 100));

/** For lists that grow without end: where they are cut, the cursor says how to go on. */
export const CursorQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, examples: [20] }),
  cursor: Type.Optional(Uuid),
});

export const CursorPage = Type.Object({
  limit: Type.Integer({ examples: [20] }),
  next_cursor: Type.Union([Uuid, Type.Null()]),
});

/** From one row more than the page has. */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  idOf: (row: Row) => string,
): { readonly page: readonly Row[]; readonly pagination: Static<typeof CursorPage> } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return { page, pagination: { limit, next_cursor: rows.length > limit && last ? idOf(last) : null } };
}
