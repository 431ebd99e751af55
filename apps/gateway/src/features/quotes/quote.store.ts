import {
  type DetailsOf,
  FIAT_ACCOUNT_ACTIVE,
  KYC_CLEARED,
  type KycStatus,
  QUOTE_ACTIVE,
  type QuoteStatus,
  RECIPIENT_ACTIVE,
  SCREENING_CLEAR,
  type ScreeningStatus,
} from '@causeway/protocol';
import { plannedOnce, sqlWords, statement } from '../../db/statement.ts';
import type { PaymentDetailsLocation, ThirdPartyRow } from './payee.ts';

/** What the tables say, as SQL. */
const CLEARED = sqlWords(KYC_CLEARED);
const CLEAR = sqlWords(SCREENING_CLEAR);
const RECIPIENT = sqlWords(RECIPIENT_ACTIVE);

/** The figures that a quote fixes and its order inherits. Atomic units as decimal text. */
export interface PricedColumns {
  direction: 'onramp' | 'offramp';
  anchor: 'fiat' | 'crypto';
  vendor_id: string;
  chain: string;
  crypto_currency: string;
  crypto_decimals: number;
  fiat_currency: string;
  fiat_decimals: number;
  rate: string;
  crypto_amount: string;
  fiat_amount: string;
  platform_fee: string;
  platform_fee_pct: string;
  partner_fee: string;
  partner_fee_pct: string;
  payment_method_slug: string;
  payment_network_slug: string;
}

export interface QuoteRow extends PricedColumns {
  quote_id: string;
  partner_id: string;
  user_id: string;
  status: QuoteStatus;
  expires_at: Date;
  country_code: string | null;
  offer_id: string | null;
  offer_version: string | null;
  provider_scope: 'all' | 'p2p' | 'direct';
  has_fiat_settlement_notification: boolean;
  /** Off-ramp: the customer's own profile, or a third party as it was; never both. */
  payment_details_id: string | null;
  recipient_id: string | null;
  recipient_context_sealed: string | null;
  /** Opens what is sealed of the recipient; null once the person is erased. */
  recipient_key_sealed: string | null;
  sender_recipient_relationship: string | null;
  purpose_of_payment: string | null;
  /** The widget session that it was made in; null for a partner’s own. */
  session_id: string | null;
  kyc_status: KycStatus;
  /** Recipient and account holder are screened clear, and the recipient is not archived. */
  payee_cleared: boolean;
  partner_wallet_cleared: boolean;
  /** The customer has an account of its own, open and in this currency, when the quote is claimed. */
  has_own_account: boolean;
}

export type QuoteParams = [
  quoteId: string,
  partnerId: string,
  userId: string,
  direction: string,
  anchor: string,
  vendorId: string,
  chain: string,
  cryptoCurrency: string,
  cryptoDecimals: number,
  fiatCurrency: string,
  fiatDecimals: number,
  rate: string,
  cryptoAmount: bigint,
  fiatAmount: bigint,
  platformFee: bigint,
  platformFeePct: string,
  partnerFee: bigint,
  partnerFeePct: string,
  paymentMethodSlug: string,
  paymentNetworkSlug: string,
  countryCode: string | null,
  createdAt: Date,
  expiresAt: Date,
  offerId: string,
  offerVersion: number,
  providerScope: string,
  hasFiatSettlementNotification: boolean,
  paymentDetailsId: string | null,
  recipientId: string | null,
  recipientVersion: number | null,
  recipientDestinationId: string | null,
  recipientDestinationVersion: number | null,
  recipientContextSealed: string | null,
  senderRecipientRelationship: string | null,
  purposeOfPayment: string | null,
  sessionId: string | null,
];

/**
 * Reads the customer's KYC and writes the quote only where it is cleared, in one statement: no row is an unknown
 * customer, and a status other than VERIFIED has left nothing behind.
 */
export const issueQuote = statement<QuoteParams, { kyc_status: KycStatus }>(
  'quotes.issue',
  `WITH customer AS (SELECT user_id, kyc_status FROM users WHERE user_id = $3 AND erased_at IS NULL),
   issued AS (
     INSERT INTO quotes (quote_id, partner_id, user_id, direction, anchor, vendor_id, chain, crypto_currency,
       crypto_decimals, fiat_currency, fiat_decimals, rate, crypto_amount, fiat_amount, platform_fee, platform_fee_pct,
       partner_fee, partner_fee_pct, payment_method_slug, payment_network_slug, country_code, created_at, expires_at,
       offer_id, offer_version, provider_scope, has_fiat_settlement_notification, payment_details_id, recipient_id,
       recipient_version, recipient_destination_id, recipient_destination_version, recipient_context_sealed,
       sender_recipient_relationship, purpose_of_payment, session_id)
     SELECT $1, $2, c.user_id, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
       $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36
       FROM customer c WHERE c.kyc_status = ${CLEARED})
   SELECT kyc_status FROM customer`,
);

/** What may change while a quote waits for its order. */
export type QuotePresent = Pick<
  QuoteRow,
  | 'status'
  | 'vendor_id'
  | 'kyc_status'
  | 'recipient_key_sealed'
  | 'payee_cleared'
  | 'partner_wallet_cleared'
  | 'has_own_account'
>;

const PRESENT = `q.status, q.vendor_id, u.kyc_status, r.data_key_sealed AS recipient_key_sealed,
  (q.recipient_id IS NULL OR (r.status = ${RECIPIENT} AND r.screening_status = ${CLEAR})) AND NOT EXISTS (
    SELECT FROM screening_cases c WHERE c.screening_status <> ${CLEAR} AND c.subject_kind <> 'wallet'
       AND c.subject_key = coalesce(q.payment_details_id::text, q.recipient_destination_id::text)
  ) AS payee_cleared,
  NOT EXISTS (SELECT FROM screening_cases c WHERE c.screening_status <> ${CLEAR} AND c.subject_kind = 'wallet'
    AND c.subject_key = lower(p.wallet_address)) AS partner_wallet_cleared,
  q.direction = 'onramp' AND EXISTS (SELECT FROM fiat_accounts a WHERE a.user_id = q.user_id
    AND a.currency = q.fiat_currency AND a.status = ${sqlWords(FIAT_ACCOUNT_ACTIVE)}) AS has_own_account`;
/** The rest is firm: the database refuses to change it. */
const FIRM = `q.quote_id, q.partner_id, q.user_id, q.expires_at, q.direction, q.anchor, q.chain,
  q.crypto_currency, q.crypto_decimals, q.fiat_currency, q.fiat_decimals, q.rate,
  q.crypto_amount::text, q.fiat_amount::text, q.platform_fee::text, q.platform_fee_pct,
  q.partner_fee::text, q.partner_fee_pct, q.payment_method_slug, q.payment_network_slug, q.country_code,
  q.offer_id, q.offer_version::text, q.provider_scope, q.has_fiat_settlement_notification,
  q.payment_details_id::text, q.recipient_id, q.recipient_context_sealed, q.sender_recipient_relationship,
  q.purpose_of_payment, q.session_id`;
const COLUMNS = `${FIRM}, ${PRESENT}`;
const TABLES = `quotes q JOIN users u USING (user_id) JOIN partners p ON p.partner_id = q.partner_id
  LEFT JOIN recipients r ON r.recipient_id = q.recipient_id`;

/** Locks the quote and holds the customer's KYC still until the order exists. */
export const lockQuote = statement<[quoteId: string, direction: string], QuotePresent>(
  'quotes.lock',
  `SELECT ${PRESENT} FROM ${TABLES} WHERE q.quote_id = $1 AND q.direction = $2
      FOR UPDATE OF q FOR SHARE OF u`,
);

/** As it is, for those who decide later under its lock. */
export const findQuote = statement<[quoteId: string], QuoteRow>(
  'quotes.find',
  `SELECT ${COLUMNS} FROM ${TABLES} WHERE q.quote_id = $1`,
);

/** What is read without the lock: the rest of what may change is read under it. */
export type UnlockedQuoteRow = Omit<
  QuoteRow,
  Exclude<keyof QuotePresent, 'status' | 'vendor_id' | 'kyc_status'>
>;

export interface ClaimableQuoteRow extends UnlockedQuoteRow {
  /** Null where the claim was opened, or where the quote cannot be claimed any more. */
  over_limit: DetailsOf<'OPEN_ORDER_LIMIT'> | null;
}

/** Reads a partner's quote and opens a claim on it, within the partner's own limits or else the given ones. */
export const openQuoteClaim = statement<
  [
    quoteId: string,
    direction: string,
    partnerId: string,
    at: Date,
    partnerOrders: number,
    partnerValue: number,
    customerOrders: number,
    customerValue: number,
    userId: string | null,
  ],
  ClaimableQuoteRow
>(
  'quotes.open_claim',
  `SELECT ${FIRM}, q.status, q.vendor_id, u.kyc_status,
          CASE WHEN q.status = ${sqlWords(QUOTE_ACTIVE)} AND q.expires_at > $4 AND u.kyc_status = ${CLEARED} THEN
            open_quote_claim(q.quote_id, q.partner_id, q.user_id, q.crypto_amount / 10::numeric ^ q.crypto_decimals,
              coalesce(p.open_order_limit, $5), coalesce(p.held_value_limit, $6),
              coalesce(p.customer_open_order_limit, $7), coalesce(p.customer_held_value_limit, $8)) END AS over_limit
     FROM quotes q JOIN users u USING (user_id) JOIN partners p ON p.partner_id = q.partner_id
    WHERE q.quote_id = $1 AND q.direction = $2 AND q.partner_id = $3 AND ($9::uuid IS NULL OR q.user_id = $9)`,
);

/** The order that the claim was opened for is written. No row: the claim has been released. */
export const completeQuoteClaim = statement<[quoteId: string, orderId: string], { quote_id: string }>(
  'quotes.complete_claim',
  'UPDATE quote_claims SET order_id = $2 WHERE quote_id = $1 AND order_id IS NULL RETURNING quote_id',
);

/** Releases a claim that has no order. No row: it has one, or was released before. */
export const releaseQuoteClaim = statement<[quoteId: string], { quote_id: string }>(
  'quotes.release_claim',
  'DELETE FROM quote_claims WHERE quote_id = $1 AND order_id IS NULL RETURNING quote_id',
);

/**
 * Ends claims of orders that have ended, and of quotes that no order came of for a while. As with reservations, the commit
 * does not wait for the disk.
 */
const endClaimsAmong = (claims: string, first: string) => `WITH ended AS (
     DELETE FROM quote_claims e USING (
       SELECT c.quote_id FROM ${claims} LEFT JOIN orders o ON o.quote_id = c.quote_id
        WHERE o.status = ANY($1::text[])
           OR (c.order_id IS NULL AND c.claimed_at < clock_timestamp() - $2::int * interval '1 millisecond')
       ${first} FOR UPDATE OF c SKIP LOCKED) AS due
      WHERE e.quote_id = due.quote_id)
   SELECT set_config('synchronous_commit', 'off', true)`;

export const endQuoteClaims = statement<[ended: readonly string[], abandonedAfterMs: number, limit: number]>(
  'quotes.end_claims',
  endClaimsAmong('quote_claims c', 'LIMIT $3'),
);

export const endQuoteClaimsOf = plannedOnce(
  statement<[ended: readonly string[], abandonedAfterMs: number, quoteIds: readonly string[]]>(
    'quotes.end_claims_of',
    endClaimsAmong('unnest($3::uuid[]) AS given (quote_id) JOIN quote_claims c USING (quote_id)', ''),
  ),
);

export const claimedBy = statement<
  [quoteId: string, status: QuoteStatus, vendorId: string, servingOfferId: string | null]
>(
  'quotes.claimed',
  'UPDATE quotes SET status = $2, vendor_id = $3, serving_offer_id = $4 WHERE quote_id = $1',
);

export const servingOfferOf = statement<[quoteId: string], { serving_offer_id: string | null }>(
  'quotes.serving_offer',
  'SELECT serving_offer_id FROM quotes WHERE quote_id = $1',
);

/** Customer and payee in one look: a quote has two round trips, and the other one writes it. */

export const customerStatus = statement<[userId: string], { kyc_status: KycStatus }>(
  'quotes.customer_status',
  'SELECT kyc_status FROM users WHERE user_id = $1 AND erased_at IS NULL',
);

/** Details are found by customer and number, so a guessed number finds nothing of other customers. */
export const customerWithDetails = statement<
  [userId: string, paymentDetailsId: string],
  { kyc_status: KycStatus; holder_status: ScreeningStatus } & (
    | PaymentDetailsLocation
    | { payment_details_id: null }
  )
>(
  'quotes.customer_with_details',
  `SELECT u.kyc_status, p.payment_details_id, p.rail, p.currency, p.country_code, p.institution_id,
          coalesce((SELECT c.screening_status FROM screening_cases c WHERE c.subject_kind = 'payment_details'
            AND c.subject_key = p.payment_details_id::text), ${CLEAR}) AS holder_status
     FROM users u
     LEFT JOIN payment_details p ON p.payment_details_id = $2::bigint AND p.user_id = u.user_id
    WHERE u.user_id = $1 AND u.erased_at IS NULL`,
);

/** Archived recipients are not used for new quotes. */
export const senderWithRecipient = statement<
  [senderId: string, recipientId: string, destinationId: string],
  ThirdPartyRow
>(
  'quotes.sender_with_recipient',
  `SELECT u.kyc_status, r.recipient_id, r.partner_id, r.recipient_kind, r.status, r.screening_status, r.screening_round,
          r.current_version, r.recipient_country, r.data_key_sealed, r.created_at, r.updated_at, v.recipient_id_type,
          v.fields_sealed, d.recipient_destination_id, d.version, d.rail, d.currency, d.country_code, d.institution_id,
          d.format_id, d.beneficiary_type, d.details_sealed, d.created_at AS destination_created_at,
          (SELECT c.screening_status FROM screening_cases c WHERE c.subject_kind = 'destination'
            AND c.subject_key = d.recipient_destination_id::text) AS holder_status
     FROM users u
     LEFT JOIN (recipients r JOIN recipient_versions v
                  ON v.recipient_id = r.recipient_id AND v.version = r.current_version)
       ON r.recipient_id = $2 AND r.status = ${RECIPIENT} AND r.erased_at IS NULL
     LEFT JOIN LATERAL (
       SELECT * FROM recipient_destinations x
        WHERE x.recipient_destination_id = $3 AND x.recipient_id = r.recipient_id
        ORDER BY x.version DESC LIMIT 1) d ON true
    WHERE u.user_id = $1 AND u.erased_at IS NULL`,
);
