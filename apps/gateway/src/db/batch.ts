import pg from 'pg';
import type { Announcement, Statement } from './statement.ts';

/**
 * Several named statements in one round trip.
 *
 * node-postgres lets a caller hand it an object that speaks the wire protocol itself (as pg-cursor
 * does). This one sends Bind/Execute for every statement and a single Sync, which PostgreSQL
 * treats as one implicit transaction: either all of them take effect or none does, and
 * `set_config(..., true)` in the first is in force for the others. That is what makes row-level
 * security affordable: the tenant is set and the query runs in the same round trip.
 *
 * Row descriptions are asked for once a connection and statement, then remembered.
 */
export interface BatchItem {
  readonly statement: Statement<readonly unknown[], unknown>;
  /** Already in wire form: a value that cannot be sent must fail before half a batch is on its way. */
  readonly params: readonly (string | Buffer | null)[];
  /** What its statement announces, given the rows it answered. */
  readonly announcementsFor?: (rows: readonly unknown[]) => readonly Announcement[];
  /** Answers so many rows and keeps its place until the transaction ends; once open, it is executed again for more. */
  readonly portal?: { readonly name: string; readonly rows: number; readonly isOpen: boolean };
}

export function batchItem<P extends readonly unknown[], R>(statement: Statement<P, R>, params: P): BatchItem {
  const { announces } = statement;
  const item = {
    statement: statement as Statement<readonly unknown[], unknown>,
    params: params.map(toWire),
  };
  if (announces === undefined) return item;
  return { ...item, announcementsFor: (rows) => announces(params, rows) };
}

/** The part of pg's internal Connection that is used here. */
interface WireConnection {
  stream: { cork(): void; uncork(): void; destroy(): void };
  parse(message: { name: string; text: string; types: readonly number[] }): void;
  bind(message: { portal: string; statement: string; values: readonly unknown[]; binary: boolean }): void;
  describe(message: { type: 'S'; name: string }): void;
  execute(message: { portal: string; rows: number }): void;
  close(message: { type: 'S'; name: string }): void;
  sync(): void;
}

interface Field {
  readonly name: string;
  readonly parse: (text: string) => unknown;
}

/** What the rows of a statement look like. */
interface RowShape {
  readonly fields: readonly Field[];
  /** A row without values: a copy has room for all its fields at once. */
  readonly blank: Readonly<Record<string, unknown>>;
}

const NO_ROWS: RowShape = { fields: [], blank: {} };

interface PreparedState {
  /** False after a failed batch: the server may or may not hold the statement, so close it first. */
  certain: boolean;
  shape: RowShape;
}

const FEATURE_NOT_SUPPORTED = '0A000';
const INVALID_SQL_STATEMENT_NAME = '26000';
const STALE_STATEMENT_CODES = new Set([FEATURE_NOT_SUPPORTED, INVALID_SQL_STATEMENT_NAME]);

const preparedByConnection = new WeakMap<object, Map<string, PreparedState>>();

type Rows = Record<string, unknown>[];

class Batch {
  readonly results: Rows[];
  #index = 0;
  #connection: WireConnection | undefined;
  #freshShape: RowShape | undefined;
  readonly #items: readonly BatchItem[];
  readonly #settle: (error: Error | null, results: Rows[]) => void;

  constructor(items: readonly BatchItem[], settle: (error: Error | null, results: Rows[]) => void) {
    this.#items = items;
    this.#settle = settle;
    this.results = items.map(() => []);
  }

  submit(connection: WireConnection): void {
    this.#connection = connection;
    const prepared = preparedStatementsOf(connection);
    const parsedHere = new Set<string>();
    connection.stream.cork();
    try {
      for (const { statement, params, portal } of this.#items) {
        if (portal?.isOpen) {
          connection.execute({ portal: portal.name, rows: portal.rows });
          continue;
        }
        const known = prepared.get(statement.name);
        if (!known?.certain && !parsedHere.has(statement.name)) {
          if (known) connection.close({ type: 'S', name: statement.name });
          connection.parse({ name: statement.name, text: statement.text, types: [] });
          connection.describe({ type: 'S', name: statement.name });
          parsedHere.add(statement.name);
          prepared.set(statement.name, { certain: false, shape: NO_ROWS });
        }
        connection.bind({
          portal: portal?.name ?? '',
          statement: statement.name,
          values: params,
          binary: false,
        });
        connection.execute({ portal: portal?.name ?? '', rows: portal?.rows ?? 0 });
      }
    } finally {
      connection.sync();
      connection.stream.uncork();
    }
  }

  handleRowDescription(message: { fields: readonly { name: string; dataTypeID: number }[] }): void {
    const fields = message.fields.map((field) => ({
      name: field.name,
      parse: pg.types.getTypeParser(field.dataTypeID, 'text') as (text: string) => unknown,
    }));
    this.#freshShape = { fields, blank: Object.fromEntries(fields.map(({ name }) => [name, null])) };
  }

  handleDataRow(message: { fields: readonly (string | null)[] }): void {
    const { fields, blank } = this.#freshShape ?? this.#knownShape();
    const row: Record<string, unknown> = { ...blank };
    for (let i = 0; i < fields.length; i++) {
      const field = fields[i] as Field;
      const text = message.fields[i];
      if (text !== null && text !== undefined) row[field.name] = field.parse(text);
    }
    (this.results[this.#index] as Rows).push(row);
  }

  handleCommandComplete(): void {
    const item = this.#items[this.#index];
    if (item && this.#connection) {
      const prepared = preparedStatementsOf(this.#connection);
      const state = prepared.get(item.statement.name);
      if (!state?.certain) {
        prepared.set(item.statement.name, { certain: true, shape: this.#freshShape ?? NO_ROWS });
      }
    }
    this.#freshShape = undefined;
    this.#index++;
  }

  /** The portal has more rows than were asked for. */
  handlePortalSuspended(): void {
    this.handleCommandComplete();
  }

  handleReadyForQuery(): void {
    this.#settle(null, this.results);
  }

  handleError(error: Error): void {
    const item = this.#items[this.#index];
    // The schema changed under a kept plan, or something between us and the server dropped it: parse anew.
    if (item && this.#connection && 'code' in error && STALE_STATEMENT_CODES.has(String(error.code))) {
      preparedStatementsOf(this.#connection).set(item.statement.name, { certain: false, shape: NO_ROWS });
    }
    this.#settle(error, this.results);
  }

  /** Only reached when a statement text is empty or asks for COPY, which no declared statement does. */
  handleEmptyQuery(): void {
    this.#index++;
  }

  /** The driver then reports the loss of the connection, to this batch as to whatever is behind it. */
  giveUp(): void {
    this.#connection?.stream.destroy();
  }

  #knownShape(): RowShape {
    const item = this.#items[this.#index];
    if (!item || !this.#connection) return NO_ROWS;
    return preparedStatementsOf(this.#connection).get(item.statement.name)?.shape ?? NO_ROWS;
  }
}

function preparedStatementsOf(connection: object): Map<string, PreparedState> {
  let known = preparedByConnection.get(connection);
  if (!known) {
    known = new Map();
    preparedByConnection.set(connection, known);
  }
  return known;
}

/**
 * Only what has one exact text form may become a parameter; a plain object must be serialised by the
 * caller, who knows how, and a float is refused where an amount might be meant.
 */
function toWire(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  switch (typeof value) {
    case 'string':
      return value;
    case 'bigint':
      return value.toString();
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (!Number.isSafeInteger(value)) throw new TypeError('a number parameter must be a safe integer');
      return String(value);
    default:
  }
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) return toWireArray(value);
  throw new TypeError('unsupported parameter type');
}

function toWireArray(values: readonly unknown[]): string {
  const items = values.map((value) => {
    if (Buffer.isBuffer(value)) return `"\\\\x${value.toString('hex')}"`;
    // Its text would pass for one odd string.
    if (Array.isArray(value)) throw new TypeError('an array parameter has one dimension');
    const text = toWire(value);
    if (text === null) return 'NULL';
    return `"${String(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  });
  return `{${items.join(',')}}`;
}

/**
 * Longer than the server lets a statement run (see `SESSION`): where no answer comes by then, the way to it swallows what is
 * sent, as a firewall does that has forgotten the connection. TCP would take a quarter of an hour to notice, and the
 * connection with all that waits for it would be lost to the pool until then.
 */
const ANSWERED_WITHIN_MS = 18_000;

export function runBatch(
  client: Pick<pg.ClientBase, 'query'>,
  items: readonly BatchItem[],
  answeredWithinMs = ANSWERED_WITHIN_MS,
): Promise<Rows[]> {
  return new Promise((resolve, reject) => {
    const batch = new Batch(items, (error, results) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve(results);
    });
    const timer = setTimeout(() => batch.giveUp(), answeredWithinMs).unref();
    client.query(batch as unknown as pg.Submittable);
  });
}
