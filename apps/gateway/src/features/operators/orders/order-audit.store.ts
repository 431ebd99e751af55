import { statement } from '../../../db/statement.ts';
import { transactionKeysOf } from '../../../engine/intent.ts';

/** SQL of an order's audit trail: what every part of the program has written about it. */

export interface TrailEventRow {
  event_id: string;
  event_type: string;
  status: string | null;
  created_at: Date;
  deliveries: { id: string; status: string; attempts: number; http_status: number | null }[];
}

export const eventsOfOrder = statement<[orderId: string], TrailEventRow>(
  'order_audit.events',
  `SELECT e.event_id, e.event_type, e.body::jsonb #>> '{data,status}' AS status, e.created_at,
          coalesce((SELECT jsonb_agg(jsonb_build_object('id', d.delivery_id, 'status', d.status,
                      'attempts', jsonb_array_length(d.attempt_log), 'http_status', d.attempt_log->-1->'http_status')
                      ORDER BY d.delivery_id)
                      FROM webhook_deliveries d WHERE d.event_id = e.event_id), '[]') AS deliveries
     FROM events e WHERE e.subject_id = $1 ORDER BY e.position`,
);

export interface TrailTransactionRow {
  chain_id: number;
  effect: string;
  status: string;
  sender: string;
  nonce: number;
  tx_hash: string | null;
  versions: number;
  created_at: Date;
  settled_at: Date | null;
}

/** Effects and authorizations of an order, as the transactor names them. */
export const transactionsOfOrder = statement<[orderId: string], TrailTransactionRow>(
  'order_audit.transactions',
  `SELECT t.chain_id::int, named.effect, t.status, t.sender, t.nonce::int,
          coalesce(t.mined_hash, (SELECT v.tx_hash FROM chain_signed_versions v
                                   WHERE v.transaction_id = t.transaction_id ORDER BY v.version DESC LIMIT 1)) AS tx_hash,
          (SELECT count(*)::int FROM chain_signed_versions v WHERE v.transaction_id = t.transaction_id) AS versions,
          t.created_at, t.settled_at
     FROM (SELECT unnest(${transactionKeysOf('intent_id')}) AS effect_key, kind AS effect FROM intents
            WHERE payload ? 'order_id' AND payload->>'order_id' = $1::uuid::text
           UNION ALL SELECT unnest(${transactionKeysOf("('forward:' || authorization_id)")}), purpose FROM forward_authorizations
            WHERE order_id = $1::uuid
           UNION ALL SELECT 'sandbox-funding:' || $1::uuid::text, 'sandbox funding') AS named
     JOIN chain_transactions t USING (effect_key) ORDER BY t.created_at`,
);

export interface TrailAuthorizationRow {
  purpose: string;
  status: string;
  nonce: string;
  amount: string;
  recipient: string;
  tx_hash: string | null;
  issued_at: Date;
  expires_at: Date;
}

export const authorizationsOfOrder = statement<[orderId: string], TrailAuthorizationRow>(
  'order_audit.authorizations',
  `SELECT purpose, status, nonce::text, amount::text, recipient, tx_hash, issued_at, expires_at
     FROM forward_authorizations WHERE order_id = $1 ORDER BY issued_at`,
);

export const caseOfOrder = statement<[orderId: string], { case_id: string }>(
  'order_audit.case',
  'SELECT case_id FROM compliance_cases WHERE order_id = $1',
);
