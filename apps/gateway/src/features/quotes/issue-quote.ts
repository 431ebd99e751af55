import {
  type Asset,
  CausewayError,
  decide,
  formatPercent,
  KYC_CLEARED,
  type KycStatus,
  NEW,
  type OfframpQuoteRequest,
  type OfframpQuoteSchema,
  type OnrampQuoteRequest,
  type QuoteSchema,
  quoteMachine,
  SCREENING_CLEAR,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { PartnerPrincipal } from '../../http/principals.ts';
import type { StatementRun } from '../../http/route-declaration.ts';
import { type DestinationDeps, takeSnapshot } from '../recipients/destinations.ts';
import { kycNotCleared } from './claim-quote.ts';
import {
  type NamedPayee,
  namedPayee,
  type Payee,
  type PayoutLocation,
  requestForLocation,
  requireRelationship,
  type ThirdPartyRow,
} from './payee.ts';
import { findMatch, type PricingDeps, readPercent, readTerms } from './pricing.ts';
import {
  customerStatus,
  customerWithDetails,
  issueQuote,
  type QuoteParams,
  senderWithRecipient,
} from './quote.store.ts';
import { type Issued, offrampQuoteView, quoteView } from './quote.view.ts';

/** For whom a quote is made: a partner that asks for it itself, or the session of a customer at its widget. */
type QuotedPartner = Pick<PartnerPrincipal, 'partnerId' | 'partner'> & { readonly sessionId?: string };

/** Writes the quote for a cleared customer of this partner; refuses for any other and leaves nothing behind. */
export async function storeQuote(
  run: StatementRun,
  partner: QuotedPartner,
  userId: string,
  issued: Issued,
  payee?: Payee,
): Promise<void> {
  const [customer] = await run.query(issueQuote, quoteParams(run, partner, userId, issued, payee));
  requireCleared(customer?.kyc_status);
}

/** Unknown and foreign customers first: the two answers are the same. */
export function requireCleared(kycStatus: KycStatus | undefined): void {
  if (kycStatus === undefined) throw new CausewayError('USER_NOT_FOUND');
  const facts = { kycCleared: kycStatus === KYC_CLEARED, pastExpiry: false };
  const decision = decide(quoteMachine, NEW, 'quote_issued', facts, 'partner');
  if (decision.kind === 'refused') throw kycNotCleared(kycStatus);
}

function quoteParams(
  run: StatementRun,
  partner: QuotedPartner,
  userId: string,
  { terms, match, platformFee, quoteId, expiresAt }: Issued,
  payee: Payee | undefined,
): QuoteParams {
  const { price, offer } = match;
  return [
    quoteId,
    partner.partnerId,
    userId,
    terms.direction,
    terms.anchor,
    offer.vendorId,
    partner.partner.settlementChain,
    terms.crypto.code,
    terms.crypto.decimals,
    terms.fiat.code,
    terms.fiat.decimals,
    match.rate,
    price.cryptoAmount,
    price.fiatAmount,
    price.platformFee,
    formatPercent(platformFee),
    price.partnerFee,
    formatPercent(terms.partnerFee),
    match.paymentMethodSlug,
    match.paymentNetworkSlug,
    terms.country ?? null,
    run.at,
    expiresAt,
    offer.offerId,
    offer.version,
    terms.providerScope,
    match.hasFiatSettlementNotification,
    payee?.paymentDetailsId ?? null,
    payee?.snapshot?.recipientId ?? null,
    payee?.snapshot?.recipientVersion ?? null,
    payee?.snapshot?.destinationId ?? null,
    payee?.snapshot?.destinationVersion ?? null,
    payee?.snapshot?.contextSealed ?? null,
    payee?.relationship ?? null,
    payee?.purpose ?? null,
    partner.sessionId ?? null,
  ];
}

type Snapshot = ReturnType<typeof takeSnapshot>;

export type FoundPayee = { readonly location: PayoutLocation } & (
  | { readonly paymentDetailsId: string }
  | { readonly snapshot: Snapshot }
);

/** Finds the payee in one round trip. An unknown payee is refused before anything else is said. */
export async function readPayee(
  deps: DestinationDeps,
  run: StatementRun,
  named: NamedPayee,
): Promise<FoundPayee> {
  return named.mode === 'own' ? ownDetails(run, named) : thirdParty(deps, run, named);
}

async function ownDetails(
  run: StatementRun,
  { userId, paymentDetailsId }: Extract<NamedPayee, { mode: 'own' }>,
): Promise<FoundPayee> {
  const [row] = await run.query(customerWithDetails, [userId, paymentDetailsId]);
  if (row === undefined) throw new CausewayError('USER_NOT_FOUND');
  if (row.payment_details_id === null) throw new CausewayError('PAYMENT_DETAILS_NOT_FOUND');
  requireCleared(row.kyc_status);
  if (row.holder_status !== SCREENING_CLEAR) throw new CausewayError('RECIPIENT_NOT_CLEARED');
  return { location: row, paymentDetailsId: row.payment_details_id };
}

async function thirdParty(
  deps: DestinationDeps,
  run: StatementRun,
  { userId, recipientId, destinationId }: Extract<NamedPayee, { mode: 'third_party' }>,
): Promise<FoundPayee> {
  const [row] = await run.query(senderWithRecipient, [userId, recipientId, destinationId]);
  if (row === undefined) throw new CausewayError('USER_NOT_FOUND');
  if (!hasRecipient(row)) throw new CausewayError('RECIPIENT_NOT_FOUND');
  if (!hasDestination(row)) throw new CausewayError('DESTINATION_NOT_FOUND');
  requireCleared(row.kyc_status);
  const destination = {
    ...row,
    created_at: row.destination_created_at,
    screening_status: row.holder_status,
  };
  return { location: row, snapshot: takeSnapshot(deps, row, destination) };
}

type SnapshotRows = Parameters<typeof takeSnapshot>;

function hasRecipient(row: ThirdPartyRow): row is ThirdPartyRow & SnapshotRows[1] {
  return row.recipient_id !== null;
}

function hasDestination<T extends ThirdPartyRow>(row: T): row is T & SnapshotRows[2] {
  return row.recipient_destination_id !== null;
}

export interface QuoteDeps extends PricingDeps {
  readonly quoteTtlSeconds: number;
  /** The tokens of a partner's settlement chain. */
  tokensOf(chain: string): readonly Asset[];
}

/** Pure arithmetic in memory, then one statement. */
export async function issueOnrampQuote(
  deps: QuoteDeps,
  run: StatementRun,
  partner: QuotedPartner,
  request: Static<typeof OnrampQuoteRequest>,
): Promise<Static<typeof QuoteSchema>> {
  const { settlementChain, platformFeePct } = partner.partner;
  const { catalogue } = deps.currencies.current().reference;
  const terms = readTerms('onramp', request, catalogue, deps.tokensOf(settlementChain));
  const platformFee = readPercent(platformFeePct, 'platform_fee_pct');
  const issued: Issued = {
    terms,
    match: await matchFor(deps, run, request.user_uuid, { terms, platformFee }),
    platformFee,
    quoteId: run.ids.uuid(),
    expiresAt: new Date(run.at.getTime() + deps.quoteTtlSeconds * 1_000),
  };
  await storeQuote(run, partner, request.user_uuid, issued);
  return quoteView(issued);
}

/** A customer who may not buy is told that, whatever the market says; asked only where it refuses. */
async function matchFor(
  deps: QuoteDeps,
  run: StatementRun,
  userId: string,
  { terms, platformFee }: Pick<Issued, 'terms' | 'platformFee'>,
): Promise<Issued['match']> {
  try {
    return findMatch(deps, terms, platformFee);
  } catch (refusal) {
    const [customer] = await run.query(customerStatus, [userId]);
    requireCleared(customer?.kyc_status);
    throw refusal;
  }
}

export type OfframpQuoteDeps = QuoteDeps & DestinationDeps;

/** One statement finds the payee, whose rail and institution decide who can serve; another writes the quote. */
export async function issueOfframpQuote(
  deps: OfframpQuoteDeps,
  run: StatementRun,
  partner: QuotedPartner,
  request: Static<typeof OfframpQuoteRequest>,
): Promise<Static<typeof OfframpQuoteSchema>> {
  const { settlementChain, platformFeePct } = partner.partner;
  const { catalogue } = deps.currencies.current().reference;
  const tokens = deps.tokensOf(settlementChain);
  // What is wrong with the request itself is told before any person is looked up.
  const named = namedPayee(request);
  readTerms('offramp', request, catalogue, tokens);

  const found = await readPayee(deps, run, named);
  const relationship = request.sender_recipient_relationship ?? (named.mode === 'own' ? 'self' : undefined);
  requireRelationship(relationship, found.location.rail, catalogue);
  const terms = readTerms(
    'offramp',
    requestForLocation(request, found.location, catalogue),
    catalogue,
    tokens,
  );
  const platformFee = readPercent(platformFeePct, 'platform_fee_pct');
  const issued: Issued = {
    terms,
    match: findMatch(deps, terms, platformFee),
    platformFee,
    quoteId: run.ids.uuid(),
    expiresAt: new Date(run.at.getTime() + deps.quoteTtlSeconds * 1_000),
  };
  const payee = { ...found, relationship, purpose: request.purpose_of_payment };
  await storeQuote(run, partner, named.userId, issued, payee);
  return offrampQuoteView(issued);
}
