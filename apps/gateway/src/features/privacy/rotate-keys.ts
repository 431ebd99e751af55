import { createDatabase, type Database, SYSTEM, type Transaction } from '../../db/database.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { actorResponseContext, responseContext } from '../../http/idempotency.store.ts';
import { approvalBodyContext } from '../../http/second-approval.ts';
import { createClock } from '../../lib/clock.ts';
import { createSealer, type Sealer } from '../../lib/crypto.ts';
import { createIdGenerator } from '../../lib/ids.ts';
import {
  BEFORE_ALL,
  type EncryptedColumn,
  type EncryptedRow,
  encryptedColumn,
  encryptedExpression,
} from '../../vault/encrypted-column.ts';
import { INDEX_KEY_CONTEXT, INDEX_KEY_FACT, keyContext } from '../../vault/vault.ts';
import { linkContext } from '../console/invitations.ts';
import { enrolmentContext, totpContext } from '../console/second-factor.ts';
import { ORDER_ENCRYPTED_COLUMNS } from '../orders/privacy/order-privacy.ts';
import { recipientKeyOwner } from '../recipients/recipient.ts';
import { userKeyOwner } from '../users/user.ts';
import { vendorKeyContext } from '../vendors/simulated-vendor.ts';
import { endpointSecretContext, webhookSecretContext } from '../webhooks/webhook-sender.ts';
import { codeMessageContext } from '../widget/email-codes.ts';
import { sandboxMailContext } from '../widget/mail/sandbox-mailbox.ts';
import { widgetKeyContext } from '../widget/sessions.ts';

/** Every column that the master key seals. What a person's own key seals is reached through that key. */
export const ENCRYPTED_COLUMNS: readonly EncryptedColumn[] = [
  encryptedColumn('users', 'user_id', 'data_key_sealed', (id) => keyContext(userKeyOwner(id))),
  encryptedColumn('recipients', 'recipient_id', 'data_key_sealed', (id) => keyContext(recipientKeyOwner(id))),
  encryptedColumn('partners', 'partner_id', 'webhook_secret_sealed', webhookSecretContext),
  encryptedColumn('partners', 'partner_id', 'webhook_previous_secret_sealed', webhookSecretContext),
  encryptedColumn('webhook_endpoints', 'endpoint_id', 'secret_sealed', endpointSecretContext),
  encryptedColumn('webhook_endpoints', 'endpoint_id', 'previous_secret_sealed', endpointSecretContext),
  encryptedColumn('vendors', 'vendor_id', 'simulated_key_sealed', vendorKeyContext),
  encryptedColumn('approvals', 'approval_id', 'body_sealed', approvalBodyContext),
  ...ORDER_ENCRYPTED_COLUMNS,
  encryptedColumn('widget_sessions', 'session_id', 'widget_key_sealed', widgetKeyContext),
  encryptedColumn('widget_email_codes', 'session_id', 'message_sealed', codeMessageContext),
  encryptedColumn('console_users', 'user_id', 'totp_secret_sealed', totpContext),
  encryptedColumn('console_challenges', 'challenge_id', 'secret_sealed', enrolmentContext),
  encryptedColumn('console_invitations', 'invitation_id', 'link_sealed', linkContext),
  encryptedColumn('sandbox_mails', 'mail_id', 'message_sealed', sandboxMailContext),
  encryptedExpression(
    'idempotent_responses.body',
    {
      table: 'idempotent_responses',
      column: 'body',
      id: `partner_id::text || ' ' || idempotency_key`,
      order: 'partner_id, idempotency_key',
      is: 'partner_id = left($1, 36)::uuid AND idempotency_key = substr($1, 38)',
      after: '(partner_id, idempotency_key) > (left($2, 36)::uuid, substr($2, 38))',
      start: `${BEFORE_ALL} `,
    },
    (id) => responseContext({ partnerId: id.slice(0, 36), idempotencyKey: id.slice(37) }),
  ),
  encryptedExpression(
    'actor_responses.body',
    {
      table: 'actor_responses',
      column: 'body',
      id: `actor || ' ' || idempotency_key`,
      order: 'actor, idempotency_key',
      is: `actor = split_part($1, ' ', 1) AND idempotency_key = substr($1, strpos($1, ' ') + 1)`,
      after: `(actor, idempotency_key) > (split_part($2, ' ', 1), substr($2, strpos($2, ' ') + 1))`,
      start: ' ',
    },
    (id) => {
      const space = id.indexOf(' ');
      return actorResponseContext({ actor: id.slice(0, space), idempotencyKey: id.slice(space + 1) });
    },
  ),
  encryptedExpression(
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
): Promise<readonly { readonly column: string; readonly rows: number }[]> {
  const report: { column: string; rows: number }[] = [];
  for (const sealed of ENCRYPTED_COLUMNS) {
    let rows = 0;
    let after: string | undefined = sealed.start;
    while (after !== undefined) {
      const from: string = after;
      const done = await db.transaction(SYSTEM, (tx) => rotateBatch(tx, sealer, sealed, from));
      rows += done.length;
      after = done.length < BATCH ? undefined : done.at(-1)?.id;
    }
    report.push({ column: sealed.name, rows });
  }
  return report;
}

async function rotateBatch(
  tx: Transaction,
  sealer: Sealer,
  sealed: EncryptedColumn,
  after: string,
): Promise<readonly EncryptedRow[]> {
  const rows = await tx.query(sealed.stale, [`${sealer.keyId}.%`, after, BATCH]);
  for (const row of rows) {
    const context = sealed.contextOf(row.id);
    tx.defer(sealed.write, [row.id, sealer.seal(sealer.open(row.sealed, context), context)]);
  }
  return rows;
}

/** The little that a command beside the running deployment needs of it. */
export interface CommandDeps extends UnitDeps {
  readonly sealer: Sealer;
}

export interface CommandSettings {
  readonly databaseUrl?: string | undefined;
  readonly dataEncryptionKey?: string | undefined;
  readonly dataEncryptionKeysPrevious?: readonly string[] | undefined;
}

/** Throws what to set when the settings do not lead to a deployment. */
export function connectCommand(settings: CommandSettings): CommandDeps {
  const { databaseUrl, dataEncryptionKey } = settings;
  if (databaseUrl === undefined || dataEncryptionKey === undefined) {
    throw new Error('Set DATABASE_URL and DATA_ENCRYPTION_KEY to those of the deployment.');
  }
  const bytes = (key: string) => Buffer.from(key, 'hex');
  const db: Database = createDatabase({ connectionString: databaseUrl, poolSize: 2 });
  return {
    db,
    clock: createClock(),
    ids: createIdGenerator(),
    sealer: createSealer([
      bytes(dataEncryptionKey),
      ...(settings.dataEncryptionKeysPrevious ?? []).map(bytes),
    ]),
  };
}
