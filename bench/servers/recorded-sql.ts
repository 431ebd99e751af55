import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import pg from 'pg';
import { type BatchItem, batchItem } from '../../apps/gateway/src/db/batch.ts';
import { type Database, type Scope, SYSTEM, type Transaction } from '../../apps/gateway/src/db/database.ts';
import type { Statement } from '../../apps/gateway/src/db/statement.ts';
import type { IdGenerator } from '../../apps/gateway/src/lib/ids.ts';

/**
 * What a request asks of the database, taken down once and asked again with other ids: so that a baseline runs the very
 * SQL of the gateway, in as many round trips, and goes on doing so when the gateway's SQL changes.
 */
export interface RecordedStep {
  /** `defer`: travels with the next query or the commit. `apart`: as the system, before the transaction. */
  readonly how: 'query' | 'defer' | 'apart';
  readonly name: string;
  readonly text: string;
  readonly params: readonly (string | null)[];
}

export interface RecordedSql {
  readonly partnerId: string;
  readonly inTransaction: boolean;
  readonly steps: readonly RecordedStep[];
}

export interface RecordedCall {
  readonly answer: { readonly success: true; readonly data: Record<string, unknown> };
  readonly sql: RecordedSql;
}

/** One order from quote to read, as a gateway made it. */
export interface RecordedOrder {
  readonly userId: string;
  /** Ids of version 7 that sort after it were made for the order. */
  readonly madeAfter: string;
  readonly quote: RecordedCall;
  readonly initiate: RecordedCall;
  readonly read: RecordedCall;
}

export const RECORDED_ORDER_FILE = 'recorded-order.json';

const REQUEST_STARTS = 'http.server.request.start';

/** Takes down what the partner's next request asks for, until `stop`. One request at a time. */
export function recordSql(db: Database): { stop(): RecordedSql } {
  const original = { query: db.query, transaction: db.transaction };
  const steps: RecordedStep[] = [];
  // Beside a request the process asks things of its own: only what the request awaits is its doing.
  const inRequest = new AsyncLocalStorage<true>();
  const begin = () => inRequest.enterWith(true);
  let partnerId = '';
  let inTransaction = false;

  function note(
    how: RecordedStep['how'],
    declared: Statement<readonly unknown[], unknown>,
    params: readonly unknown[],
  ) {
    const { statement, params: wire }: BatchItem = batchItem(declared, params);
    const texts = wire.map((value) => (value === null ? null : String(value)));
    steps.push({ how, name: statement.name, text: statement.text, params: texts });
  }
  function enter(scope: Scope): boolean {
    if (scope.kind === 'partner') partnerId = scope.partnerId;
    return scope.kind === 'partner';
  }
  const recorded: Pick<Database, 'query' | 'transaction'> = {
    query(scope, declared, params) {
      if (enter(scope)) note('query', declared as never, params);
      else if (inRequest.getStore()) note('apart', declared as never, params);
      return original.query(scope, declared, params);
    },
    transaction(scope, work) {
      if (!enter(scope)) return original.transaction(scope, work);
      inTransaction = true;
      return original.transaction(scope, (tx) => work(recordedTransaction(tx)));
    },
  };
  function recordedTransaction(tx: Transaction): Transaction {
    return {
      ...tx,
      query(declared, params) {
        note('query', declared as never, params);
        return tx.query(declared, params);
      },
      queryBoth(first, firstParams, second, secondParams) {
        note('defer', first as never, firstParams);
        note('query', second as never, secondParams);
        return tx.queryBoth(first, firstParams, second, secondParams);
      },
      defer(declared, params) {
        note('defer', declared as never, params);
        tx.defer(declared, params);
      },
    };
  }
  Object.assign(db, recorded);
  subscribe(REQUEST_STARTS, begin);
  return {
    stop() {
      unsubscribe(REQUEST_STARTS, begin);
      Object.assign(db, original);
      return { partnerId, inTransaction, steps };
    },
  };
}

/** The newest quote that a gateway has stored, as the statement that would store it again under another id. */
export async function latestQuoteInsert(
  connectionString: string,
): Promise<{ insert: RecordedSql; quoteId: string }> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ row: Record<string, string | null> }>(
      `SELECT (SELECT jsonb_object_agg(key, value) FROM jsonb_each_text(to_jsonb(q))) AS row
         FROM quotes q ORDER BY created_at DESC LIMIT 1`,
    );
    const row = rows[0]?.row ?? {};
    const columns = Object.keys(row);
    const values = columns.map((_, index) => `$${index + 1}`);
    const text = `INSERT INTO quotes (${columns.join(', ')}) VALUES (${values.join(', ')})`;
    const step = { how: 'query' as const, name: 'quote', text, params: Object.values(row) };
    const partnerId = String(row.partner_id);
    return { insert: { partnerId, inTransaction: false, steps: [step] }, quoteId: String(row.quote_id) };
  } finally {
    await client.end();
  }
}

type Fill = (ids: ReadonlyMap<string, string>) => string | null;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** The ids that were made for the request: those of version 7 that sort after `madeAfter`. */
export function ownIds(recorded: RecordedSql, madeAfter: string): string[] {
  const ids = recorded.steps.flatMap(({ params }) =>
    params.flatMap((param) => (param?.match(UUID) ?? []).filter((id) => id > madeAfter)),
  );
  return [...new Set(ids)];
}

/** Runs recorded SQL again, with new ids in place of `own` except for those that the caller names. */
export function replaySql(
  db: Database,
  newIds: IdGenerator,
  recorded: RecordedSql,
  own: readonly string[],
): (given: ReadonlyMap<string, string>) => Promise<ReadonlyMap<string, string>> {
  const steps = recorded.steps.map(({ how, name, text, params }) => ({
    how,
    statement: { name: `replay.${name}`, text } as Statement<readonly unknown[], unknown>,
    fills: params.map((param) => fillerOf(param, own)),
  }));
  const apart = steps.filter(({ how }) => how === 'apart');
  const within = steps.filter(({ how }) => how !== 'apart');
  const scope: Scope = { kind: 'partner', partnerId: recorded.partnerId };

  return async (given) => {
    const ids = new Map(own.map((id) => [id, given.get(id) ?? newIds.uuid()]));
    const valuesOf = (fills: readonly Fill[]) => fills.map((fill) => fill(ids));
    for (const { statement, fills } of apart) await db.query(SYSTEM, statement, valuesOf(fills));
    if (recorded.inTransaction) {
      await db.transaction(scope, async (tx) => {
        for (const { how, statement, fills } of within) {
          if (how === 'defer') tx.defer(statement, valuesOf(fills));
          else await tx.query(statement, valuesOf(fills));
        }
      });
    } else {
      for (const { statement, fills } of within) await db.query(scope, statement, valuesOf(fills));
    }
    return ids;
  };
}

function fillerOf(param: string | null, own: readonly string[]): Fill {
  if (param === null) return () => null;
  if (own.includes(param)) return (ids) => ids.get(param) ?? param;
  const found = (param.match(UUID) ?? []).filter((id) => own.includes(id));
  if (found.length === 0) return () => param;
  return (ids) => found.reduce((text, id) => text.replaceAll(id, ids.get(id) ?? id), param);
}
