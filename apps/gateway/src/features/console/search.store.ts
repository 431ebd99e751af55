import type { Desk } from '@causeway/protocol/console';
import { type Statement, statement } from '../../db/statement.ts';

/**
 * SQL of the search by any id. Row-level security narrows every part to what the caller may see; a vendor is asked about its
 * orders and requests only, because it may read nothing else. Each part is found by an index of its own; a form that the text
 * has not is null, which finds nothing.
 */
export type SearchForms = [
  text: string,
  uuid: string | null,
  address: string | null,
  hash: string | null,
  emailIndexes: readonly string[],
  limit: number,
];

export interface SearchRow {
  kind: string;
  id: string;
  matched: string;
  label: string;
  order_id: string | null;
  user_id: string | null;
  endpoint_id: string | null;
}

const order = (matched: string, condition: string, from = 'orders o') =>
  `SELECT 1 AS rank, 'order' AS kind, o.order_id::text AS id, '${matched}' AS matched,
          o.order_type || ', ' || o.status AS label, o.order_id, o.user_id, NULL::uuid AS endpoint_id
     FROM ${from} WHERE ${condition}`;

const other = (
  rank: number,
  kind: string,
  id: string,
  matched: string,
  label: string,
  from: string,
  { orderId = 'NULL::uuid', userId = 'NULL::uuid', endpointId = 'NULL::uuid' } = {},
) =>
  `SELECT ${rank}, '${kind}', ${id}::text, '${matched}', ${label}, ${orderId}, ${userId}, ${endpointId} FROM ${from}`;

const BY_ORDER = [
  order('order id', 'o.order_id = $2'),
  order('quote id', 'o.quote_id = $2'),
  order('transaction', 'o.tx_hash = $4'),
  order('transaction', 'o.send_out_tx_hash = $4'),
];
const REQUESTS = other(
  6,
  'request',
  'l.request_id',
  'request id',
  `l.method || ' ' || l.path || ', ' || l.status_code`,
  'request_log l WHERE l.request_id = $1',
  { orderId: 'l.order_id' },
);

const OF_PARTNER = [
  ...BY_ORDER,
  order('reference', 'o.reference_id = $1'),
  order('escrow address', 'w.address = $3', 'escrow_watches w JOIN orders o USING (order_id)'),
  order('transaction', 'd.tx_hash = $4', 'deposit_observations d JOIN orders o USING (order_id)'),
  other(
    2,
    'quote',
    'q.quote_id',
    'quote id',
    `q.direction || ' quote, ' || q.status`,
    `quotes q WHERE q.quote_id = $2 AND NOT EXISTS (SELECT FROM orders o WHERE o.quote_id = q.quote_id)`,
    { userId: 'q.user_id' },
  ),
  ...(
    [
      ['customer id', 'u.user_id = $2'],
      ['reference', 'u.reference_id = $1'],
      ['e-mail', 'u.email_index = ANY ($5)'],
    ] as const
  ).map(([matched, condition]) =>
    other(
      2,
      'customer',
      'u.user_id',
      matched,
      `'KYC ' || u.kyc_status`,
      `users u WHERE ${condition} AND u.erased_at IS NULL`,
      { userId: 'u.user_id' },
    ),
  ),
  other(
    3,
    'recipient',
    'r.recipient_id',
    'recipient id',
    `r.recipient_kind || ', ' || r.status`,
    'recipients r WHERE r.recipient_id = $2 AND r.erased_at IS NULL',
  ),
  other(
    4,
    'event',
    'e.event_id',
    'event id',
    'e.event_type',
    `events e LEFT JOIN orders o ON o.order_id = e.subject_id
      WHERE e.event_id = $1 OR e.event_id = 'evt_' || $2::text`,
    { orderId: 'o.order_id' },
  ),
  other(
    5,
    'delivery',
    'd.delivery_id',
    'delivery id',
    `e.event_type || ', ' || d.status`,
    `webhook_deliveries d JOIN events e USING (event_id) LEFT JOIN orders o ON o.order_id = d.subject_id
      WHERE d.delivery_id = $2`,
    { orderId: 'o.order_id', endpointId: 'd.queue_id' },
  ),
  REQUESTS,
];

const OF_OPERATOR = [
  ...OF_PARTNER,
  other(
    2,
    'partner',
    'p.partner_id',
    'partner',
    'p.name',
    'partners p WHERE p.partner_id = $2 OR p.wallet_address = $3',
  ),
  other(
    2,
    'vendor',
    'v.vendor_id',
    'vendor',
    'v.name',
    'vendors v WHERE v.vendor_id = $2 OR v.wallet_address = $3',
  ),
];

// Escrows that are watched are no business of a vendor; the address is in its orders.
const OF_VENDOR = [
  ...BY_ORDER,
  order('escrow address', `o.escrow ->> 'address' = $3 AND o.vendor_id = current_vendor_id()`),
  REQUESTS,
];

/** The same thing may match in several ways: it is told once, by the first. Every statement names every form. */
function searchOf(desk: Desk, parts: readonly string[]): Statement<SearchForms, SearchRow> {
  return statement(
    `console.search_of_${desk}`,
    `SELECT kind, id, matched, label, order_id, user_id, endpoint_id
       FROM (SELECT DISTINCT ON (kind, id) * FROM (${parts.join('\n UNION ALL ')}) found
              WHERE $5::text[] IS NOT NULL ORDER BY kind, id, rank) once
      ORDER BY rank, id DESC LIMIT $6`,
  );
}

export const SEARCHES: Readonly<Record<Desk, Statement<SearchForms, SearchRow>>> = {
  partner: searchOf('partner', OF_PARTNER),
  operator: searchOf('operator', OF_OPERATOR),
  vendor: searchOf('vendor', OF_VENDOR),
};

/** Keys are the system’s to read: whose they are is said here, not by a policy. */
export const keysByHint = statement<
  [hint: string, ownerId: string | null, isOperator: boolean, limit: number],
  { key_id: string; hint: string; label: string; kind: string }
>(
  'console.keys_by_hint',
  `SELECT key_id, hint, label, kind FROM api_keys
    WHERE (hint = $1 OR right(hint, 4) = $1) AND ($3 OR owner_id = $2) ORDER BY created_at DESC LIMIT $4`,
);

export const allPartnerIds = statement<[], { partner_id: string }>(
  'console.all_partner_ids',
  'SELECT partner_id FROM partners',
);
