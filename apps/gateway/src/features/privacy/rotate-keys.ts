import { type Database, SYSTEM, type Transaction } from '../../db/database.ts';
import { type Statement, statement } from '../../db/statement.ts';
import { answerContext } from '../../http/idempotency.ts';
import type { Sealer } from '../../lib/crypto.ts';
import { proofContext } from '../orders/review-proof.ts';
import { recipientKeyOwner } from '../recipients/load-recipient.ts';
import { userKeyOwner } from '../users/load-user.ts';
import { vendorKeyContext } from '../vendors/simulated-vendor.ts';
import { webhookSecretContext } from '../webhooks/webhook-secret.ts';
import { INDEX_KEY_CONTEXT, INDEX_KEY_FACT } from './index-key.ts';
import { keyContext } from './vault.ts';

interface SealedRow {
  readonly id: string;
  readonly sealed: string;
}

/** Something the master key seals: how rows that another key sealed are found, and how one is written back. */
interface SealedPlace {
  readonly name: string;
  /** Rows after the given one whose key is not the current one, locked. */
  readonly stale: Statement<[keyIdPattern: string, after: string, limit: number], SealedRow>;
  readonly write: Statement<[id: string, sealed: string], Record<string, never>>;
  /** Comes before every id. */
  readonly start: string;
  contextOf(id: string): string;
}

interface Source {
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

function place(name: string, source: Source, contextOf: (id: string) => string): SealedPlace {
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

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

const byUuid = (table: string, key: string, column: string): Source => ({
  table,
  column,
  id: `${key}::text`,
  order: key,
  is: `${key} = $1::uuid`,
  after: `${key} > $2::uuid`,
  start: BEFORE_ALL,
});

/** Every place that the master key seals. What a person's own key seals is reached through that key. */
export const SEALED_PLACES: readonly SealedPlace[] = [
  place('users.data_key_sealed', byUuid('users', 'user_id', 'data_key_sealed'), (id) =>
    keyContext(userKeyOwner(id)),
  ),
  place('recipients.data_key_sealed', byUuid('recipients', 'recipient_id', 'data_key_sealed'), (id) =>
    keyContext(recipientKeyOwner(id)),
  ),
  place(
    'partners.webhook_secret_sealed',
    byUuid('partners', 'partner_id', 'webhook_secret_sealed'),
    webhookSecretContext,
  ),
  place(
    'partners.webhook_previous_secret_sealed',
    byUuid('partners', 'partner_id', 'webhook_previous_secret_sealed'),
    webhookSecretContext,
  ),
  place(
    'vendors.simulated_key_sealed',
    byUuid('vendors', 'vendor_id', 'simulated_key_sealed'),
    vendorKeyContext,
  ),
  // The contexts of these two are the orders feature's own; a test seals with it and rotates.
  place(
    'orders.vendor_payment_details_sealed',
    byUuid('orders', 'order_id', 'vendor_payment_details_sealed'),
    (id) => `orders.vendor_payment_details:${id}`,
  ),
  place(
    'orders.payer_details_sealed',
    byUuid('orders', 'order_id', 'payer_details_sealed'),
    (id) => `orders.payer_details:${id}`,
  ),
  place('payment_proofs.proof_sealed', byUuid('payment_proofs', 'proof_id', 'proof_sealed'), proofContext),
  place(
    'idempotent_answers.body',
    {
      table: 'idempotent_answers',
      column: 'body',
      id: `partner_id::text || ' ' || idempotency_key`,
      order: 'partner_id, idempotency_key',
      is: 'partner_id = left($1, 36)::uuid AND idempotency_key = substr($1, 38)',
      after: '(partner_id, idempotency_key) > (left($2, 36)::uuid, substr($2, 38))',
      start: `${BEFORE_ALL} `,
    },
    (id) => answerContext({ partnerId: id.slice(0, 36), idempotencyKey: id.slice(37) }),
  ),
  place(
    'deployment_facts.blind_index_key',
    {
      table: 'deployment_facts',
      column: `(value #>> '{}')`,
      id: 'name',
      order: 'name',
      is: 'name = $1',
      after: 'name > $2',
      start: '',
      set: 'value = to_jsonb($2::text)',
      only: `name = '${INDEX_KEY_FACT}'`,
    },
    () => INDEX_KEY_CONTEXT,
  ),
];

const BATCH = 500;

/**
 * Seals with the current key whatever an earlier key sealed. It can run while the deployment works, be interrupted and
 * run again: every batch is a transaction, and rows that are current are not touched.
 */
export async function rotateKeys(
  db: Database,
  sealer: Sealer,
): Promise<readonly { readonly place: string; readonly rows: number }[]> {
  const report: { place: string; rows: number }[] = [];
  for (const sealed of SEALED_PLACES) {
    let rows = 0;
    let after: string | undefined = sealed.start;
    while (after !== undefined) {
      const from: string = after;
      const done = await db.transaction(SYSTEM, (tx) => rotateBatch(tx, sealer, sealed, from));
      rows += done.length;
      after = done.length < BATCH ? undefined : done.at(-1)?.id;
    }
    report.push({ place: sealed.name, rows });
  }
  return report;
}

async function rotateBatch(
  tx: Transaction,
  sealer: Sealer,
  sealed: SealedPlace,
  after: string,
): Promise<readonly SealedRow[]> {
  const rows = await tx.query(sealed.stale, [`${sealer.keyId}.%`, after, BATCH]);
  for (const row of rows) {
    const context = sealed.contextOf(row.id);
    tx.defer(sealed.write, [row.id, sealer.seal(sealer.open(row.sealed, context), context)]);
  }
  return rows;
}
