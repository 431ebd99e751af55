import {
  type Canceller,
  type FailureCode,
  type HoldReason,
  type OrderStatus,
  orderStatusesThatKnow,
  orderStatusesWithOutcome,
  RECIPIENT_ACTIVE,
  SCREENING_CLEAR,
} from '@causeway/protocol';
import { type Announcement, sqlWords, statement } from '../../../db/statement.ts';
import type { OrderRow } from './order.ts';

/** All SQL of orders. Amounts are atomic units as decimal text. */

/** What the tables say, as SQL. */
const CLEAR = sqlWords(SCREENING_CLEAR);
const WAITING_FOR_VENDOR = sqlWords(orderStatusesThatKnow('vendor_declined'));

/** A wallet that the escrow names is clear while no case says otherwise: every wallet is screened before it is taken. */
const walletCleared = (owner: 'seller' | 'buyer' | 'partner') => `NOT EXISTS (
    SELECT FROM screening_cases c WHERE c.screening_status <> ${CLEAR} AND c.subject_kind = 'wallet'
       AND c.subject_key = lower(o.escrow ->> '${owner}'))`;

const COLUMNS = `o.order_id, o.partner_id, o.user_id, o.quote_id, o.direction, o.order_type, o.reference_id, o.status,
  o.facts, o.timeline, o.deadline_at, o.failure_code, o.cancelled_by, o.hold_reason, o.held_at, o.vendor_id, o.chain, o.customer_wallet, o.escrow, o.crypto_currency, o.crypto_decimals,
  o.fiat_currency, o.fiat_decimals, o.rate, o.crypto_amount::text, o.fiat_amount::text, o.platform_fee::text,
  o.platform_fee_pct, o.deposit_shortfall::text, o.partner_fee::text, o.partner_fee_pct, o.payment_method_slug, o.payment_network_slug,
  o.tx_hash, o.created_at, o.updated_at, u.kyc_status, o.revision, o.send_out_tx_hash, o.payment_details_id::text,
  o.recipient_id, o.recipient_context_sealed, r.data_key_sealed AS recipient_key_sealed,
  o.vendor_payment_details_sealed, o.payer_details_sealed, o.provider AS vendor_kind,
  o.direction = 'onramp' OR (
    (o.recipient_id IS NULL OR (r.status = ${sqlWords(RECIPIENT_ACTIVE)} AND r.screening_status = ${CLEAR})) AND NOT EXISTS (
      SELECT FROM screening_cases c WHERE c.screening_status <> ${CLEAR} AND c.subject_kind <> 'wallet'
         AND c.subject_key = coalesce(o.payment_details_id::text, (
           SELECT q.recipient_destination_id::text FROM quotes q WHERE q.quote_id = o.quote_id)))) AS payee_cleared,
  ${walletCleared('seller')} AS seller_cleared, ${walletCleared('buyer')} AS buyer_cleared,
  ${walletCleared('partner')} AS fee_wallet_cleared`;

const FROM =
  'FROM orders o JOIN users u USING (user_id) LEFT JOIN recipients r ON r.recipient_id = o.recipient_id';

export const findOrder = statement<[orderId: string], OrderRow>(
  'orders.find',
  `SELECT ${COLUMNS} ${FROM} WHERE o.order_id = $1`,
);

/** For the other stores of this feature. */
export { COLUMNS as ORDER_COLUMNS, FROM as ORDER_TABLES };

/** Locks the order and holds its customer's KYC still while something is decided. */
export const lockOrder = statement<[orderId: string], OrderRow>(
  'orders.lock',
  `SELECT ${COLUMNS} ${FROM}
    WHERE o.order_id = $1 FOR UPDATE OF o FOR SHARE OF u`,
);

/** The vendor whose events the database has just written a line to, if any (vendor_events, 0006_orders.sql). */
interface VendorTold {
  vendor_id: string | null;
}

function vendorsTold(_params: unknown, rows: readonly VendorTold[]): Announcement[] {
  return rows.flatMap(({ vendor_id }) =>
    vendor_id === null ? [] : [{ channel: 'vendor_events_written', payload: vendor_id, canWait: true }],
  );
}

interface OrderChanged extends VendorTold {
  quote_id: string;
}

const ENDED: ReadonlySet<string> = new Set(orderStatusesWithOutcome('settled', 'stopped'));

/** Of an order that ends, what was reserved for it is given back at once (see claim-quote.ts). */
function changeTold(params: readonly [string, OrderStatus, ...unknown[]], rows: readonly OrderChanged[]) {
  return [...vendorsTold(params, rows), ...(ENDED.has(params[1]) ? reservationsDue(rows) : [])];
}

function reservationsDue(rows: readonly OrderChanged[]): Announcement[] {
  return rows.map(({ quote_id }) => ({ channel: 'reservations_due', payload: quote_id, canWait: true }));
}

/**
 * Everything a quote fixed is copied by the database, so that nothing can differ; its vendor only where crypto is reserved
 * for it: an order that nobody can serve yet is nobody's.
 */
export const insertOrder = statement<
  [
    orderId: string,
    quoteId: string,
    orderType: string,
    referenceId: string | null,
    status: OrderStatus,
    facts: string,
    timeline: string,
    deadlineAt: Date | null,
    at: Date,
    provider: string,
    customerWallet: string | null,
  ],
  VendorTold
>(
  'orders.insert',
  `INSERT INTO orders (order_id, quote_id, order_type, reference_id, status, facts, timeline, deadline_at,
     partner_id, user_id, direction, vendor_id, chain, crypto_currency, crypto_decimals, fiat_currency, fiat_decimals,
     rate, crypto_amount, fiat_amount, platform_fee, platform_fee_pct, partner_fee, partner_fee_pct,
     payment_method_slug, payment_network_slug, created_at, updated_at, provider, revision, payment_details_id,
     recipient_id, recipient_context_sealed, customer_wallet)
   SELECT $1, q.quote_id, $3, $4, $5, $6::jsonb, $7::jsonb, $8,
     q.partner_id, q.user_id, q.direction, CASE WHEN q.serving_offer_id IS NOT NULL THEN q.vendor_id END, q.chain,
     q.crypto_currency, q.crypto_decimals, q.fiat_currency,
     q.fiat_decimals, q.rate, q.crypto_amount, q.fiat_amount, q.platform_fee, q.platform_fee_pct, q.partner_fee,
     q.partner_fee_pct, q.payment_method_slug, q.payment_network_slug, $9, $9,
     $10, 1, q.payment_details_id, q.recipient_id, q.recipient_context_sealed, $11
     FROM quotes q WHERE q.quote_id = $2
   RETURNING vendor_id`,
  vendorsTold,
);

export const updateOrder = statement<
  [
    orderId: string,
    status: OrderStatus,
    facts: string,
    timeline: string,
    deadlineAt: Date | null,
    at: Date,
    revision: number,
    failureCode: FailureCode | null,
    cancelledBy: Canceller | null,
    holdReason: HoldReason | null,
    heldAt: Date | null,
  ],
  OrderChanged
>(
  'orders.update',
  `UPDATE orders SET status = $2, facts = $3::jsonb, timeline = $4::jsonb, deadline_at = $5, updated_at = $6,
     revision = $7, failure_code = $8, cancelled_by = $9, hold_reason = $10, held_at = $11
    WHERE order_id = $1 RETURNING vendor_id, quote_id`,
  changeTold,
);

export const setEscrow = statement<[orderId: string, escrow: string]>(
  'orders.set_escrow',
  'UPDATE orders SET escrow = $2::jsonb WHERE order_id = $1',
);

export const setTransactionHash = statement<[orderId: string, txHash: string], VendorTold>(
  'orders.set_tx_hash',
  'UPDATE orders SET tx_hash = $2 WHERE order_id = $1 RETURNING vendor_id',
  vendorsTold,
);

export const overdueOrders = statement<[businessNow: Date, limit: number], { order_id: string }>(
  'orders.overdue',
  `SELECT order_id FROM orders
    WHERE deadline_at <= $1 AND NOT (facts->>'held')::boolean AND NOT (facts->>'proofPending')::boolean
    ORDER BY deadline_at LIMIT $2`,
);

/** Checked against what would be sent now: it takes the place of one of the same owner, which may no longer fit. */
export const insertEscrowSignature = statement<
  [orderId: string, partnerId: string, purpose: string, signer: string, signature: string, at: Date]
>(
  'orders.insert_escrow_signature',
  `INSERT INTO escrow_signatures (order_id, partner_id, purpose, signer, signature, created_at)
   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (order_id, purpose, signer)
   DO UPDATE SET signature = EXCLUDED.signature, created_at = EXCLUDED.created_at`,
);

export const escrowSignatures = statement<
  [orderId: string, purpose: string],
  { signer: string; signature: string }
>(
  'orders.escrow_signatures',
  'SELECT signer, signature FROM escrow_signatures WHERE order_id = $1 AND purpose = $2 ORDER BY signer',
);

export const insertComplianceCase = statement<
  [
    caseId: string,
    partnerId: string,
    orderId: string,
    senderId: string,
    recipientId: string,
    relationship: string | null,
    purpose: string | null,
    at: Date,
  ]
>(
  'orders.insert_compliance_case',
  `INSERT INTO compliance_cases (case_id, partner_id, order_id, sender_id, recipient_id, relationship, purpose, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

export const setVendorDetails = statement<[orderId: string, detailsSealed: string]>(
  'orders.set_vendor_details',
  'UPDATE orders SET vendor_payment_details_sealed = $2 WHERE order_id = $1',
);

export const setPayerDetails = statement<[orderId: string, detailsSealed: string]>(
  'orders.set_payer_details',
  'UPDATE orders SET payer_details_sealed = $2 WHERE order_id = $1',
);

export const setSendOutHash = statement<[orderId: string, txHash: string]>(
  'orders.set_send_out_tx_hash',
  'UPDATE orders SET send_out_tx_hash = $2 WHERE order_id = $1',
);

export const insertProof = statement<
  [proofId: string, partnerId: string, orderId: string, vendorId: string, proofSealed: string, at: Date]
>(
  'orders.insert_proof',
  `INSERT INTO payment_proofs (proof_id, partner_id, order_id, vendor_id, proof_sealed, submitted_at)
   VALUES ($1, $2, $3, $4, $5, $6)`,
);

export const judgeProof = statement<[orderId: string, verdict: string, at: Date]>(
  'orders.judge_proof',
  'UPDATE payment_proofs SET verdict = $2, reviewed_at = $3 WHERE order_id = $1 AND verdict IS NULL',
);

export interface MovementRow {
  kind: string;
  at: Date;
  account: string;
  asset: string;
  amount: string;
}

export const movementsOfOrder = statement<[orderId: string], MovementRow>(
  'orders.movements',
  `SELECT e.kind, e.created_at AS at, p.account, p.asset, p.amount::text
     FROM ledger_entries e JOIN ledger_postings p USING (entry_id)
    WHERE e.order_id = $1 ORDER BY e.created_at, e.entry_id, p.line`,
);

export const releaseVendor = statement<[orderId: string, declinedOfferId: string | null], OrderChanged>(
  'orders.release_vendor',
  `UPDATE orders SET vendor_id = NULL, declined_offer_ids = array_remove(declined_offer_ids || $2::uuid, NULL)
    WHERE order_id = $1 RETURNING old.vendor_id, quote_id`,
  (params, rows) => [...vendorsTold(params, rows), ...reservationsDue(rows)],
);

/** The same by the vendor itself, of an order that is its own. */
export const declineByVendor = statement<[orderId: string, declinedOfferId: string | null], OrderChanged>(
  'orders.decline_by_vendor',
  'SELECT vendor_id, quote_id FROM decline_order($1, $2)',
  (params, rows) => [...vendorsTold(params, rows), ...reservationsDue(rows)],
);

export const declinedOffersOf = statement<[orderId: string], { declined_offer_ids: string[] }>(
  'orders.declined_offers',
  'SELECT declined_offer_ids::text[] FROM orders WHERE order_id = $1',
);

/** Counted as a change, so that the actor of the next step is woken anew. */
export const assignVendor = statement<
  [orderId: string, vendorId: string, provider: string, at: Date],
  VendorTold
>(
  'orders.assign_vendor',
  `UPDATE orders SET vendor_id = $2, provider = $3, offered_at = $4, revision = revision + 1 WHERE order_id = $1
   RETURNING vendor_id`,
  vendorsTold,
);

export const unansweredOffers = statement<[askedBefore: Date, limit: number], { order_id: string }>(
  'orders.unanswered_offers',
  `SELECT order_id FROM orders
    WHERE status IN (${WAITING_FOR_VENDOR}) AND vendor_id IS NOT NULL AND coalesce(offered_at, created_at) <= $1
    ORDER BY coalesce(offered_at, created_at) LIMIT $2`,
);

export const isUnanswered = statement<[orderId: string, askedBefore: Date], Record<never, never>>(
  'orders.is_unanswered',
  'SELECT FROM orders WHERE order_id = $1 AND vendor_id IS NOT NULL AND coalesce(offered_at, created_at) <= $2',
);

export const destinationOfOrder = statement<[orderId: string], { recipient_destination_id: string | null }>(
  'orders.destination',
  'SELECT q.recipient_destination_id FROM orders o JOIN quotes q USING (quote_id) WHERE o.order_id = $1',
);

export interface PendingProofRow {
  proof_id: string;
  order_id: string;
  partner_id: string;
  vendor_id: string;
  submitted_at: Date;
  status: OrderStatus;
}

export const pendingProofs = statement<[limit: number, offset: number], PendingProofRow>(
  'orders.pending_proofs',
  `SELECT p.proof_id, p.order_id, p.partner_id, p.vendor_id, p.submitted_at, o.status
     FROM payment_proofs p JOIN orders o USING (order_id)
    WHERE p.verdict IS NULL ORDER BY p.submitted_at LIMIT $1 OFFSET $2`,
);

export const countPendingProofs = statement<[], { total: string }>(
  'orders.count_pending_proofs',
  'SELECT count(*)::text AS total FROM payment_proofs WHERE verdict IS NULL',
);

export const findProof = statement<
  [proofId: string],
  { proof_id: string; order_id: string; proof_sealed: string | null }
>('orders.find_proof', 'SELECT proof_id, order_id, proof_sealed FROM payment_proofs WHERE proof_id = $1');

/** Orders with money in escrow that a name or a wallet is part of, and that are not held yet. */
export const fundedOrdersOf = statement<[subjectKind: string, subjectKey: string], { order_id: string }>(
  'orders.funded_orders_of',
  `SELECT o.order_id FROM orders o
    WHERE o.facts ->> 'escrow' = 'funded' AND NOT (o.facts ->> 'held')::boolean
      AND CASE $1
            WHEN 'recipient' THEN o.recipient_id::text = $2
            WHEN 'payment_details' THEN o.payment_details_id::text = $2
            WHEN 'destination' THEN $2 = (
              SELECT q.recipient_destination_id::text FROM quotes q WHERE q.quote_id = o.quote_id)
            ELSE $2 IN (lower(o.escrow ->> 'seller'), lower(o.escrow ->> 'buyer'), lower(o.escrow ->> 'partner'))
          END
    ORDER BY o.order_id`,
);

/** The wallets of vendor and partner, as they are now. */
export const findWallets = statement<
  [vendorId: string, partnerId: string],
  { vendor: `0x${string}`; partner: `0x${string}` }
>(
  'orders.wallets',
  `SELECT v.wallet_address AS vendor, p.wallet_address AS partner
     FROM vendors v, partners p WHERE v.vendor_id = $1 AND p.partner_id = $2`,
);
