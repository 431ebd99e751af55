import { type Statement, statement } from '../db/statement.ts';

export interface EncryptedRow {
  readonly id: string;
  readonly sealed: string;
}

/** Something the master key seals: how rows that another key sealed are found, and how one is written back. */
export interface EncryptedColumn {
  readonly name: string;
  /** Rows after the given one whose key is not the current one, locked. */
  readonly stale: Statement<[keyIdPattern: string, after: string, limit: number], EncryptedRow>;
  readonly write: Statement<[id: string, sealed: string], Record<string, never>>;
  /** Comes before every id. */
  readonly start: string;
  contextOf(id: string): string;
}

export interface SealedSource {
  readonly table: string;
  readonly column: string;
  /** The key as one text, as `$1` (a row) and `$2` (the rows after it) compare with it. */
  readonly id: string;
  readonly order: string;
  readonly is: string;
  readonly after: string;
  readonly start: string;
  readonly set?: string;
  readonly only?: string;
}

/** Comes before every uuid that is given out. */
export const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

export function encryptedExpression(
  name: string,
  source: SealedSource,
  contextOf: (id: string) => string,
): EncryptedColumn {
  const { table, id, column, order, only = 'true' } = source;
  return {
    name,
    contextOf,
    start: source.start,
    stale: statement(
      `rotation.stale_${name}`,
      `SELECT ${id} AS id, ${column} AS sealed FROM ${table}
        WHERE ${column} NOT LIKE $1 AND ${source.after} AND ${only} ORDER BY ${order} LIMIT $3 FOR UPDATE`,
    ),
    write: statement(
      `rotation.write_${name}`,
      `UPDATE ${table} SET ${source.set ?? `${column} = $2`} WHERE ${source.is}`,
    ),
  };
}

/** A sealed column of a table whose key is a uuid. */
export function encryptedColumn(
  table: string,
  key: string,
  column: string,
  contextOf: (id: string) => string,
): EncryptedColumn {
  const source = {
    table,
    column,
    id: `${key}::text`,
    order: key,
    is: `${key} = $1::uuid`,
    after: `${key} > $2::uuid`,
    start: BEFORE_ALL,
  };
  return encryptedExpression(`${table}.${column}`, source, contextOf);
}
