import { CausewayError, decide, formatPercent, type KycStatus, NEW, quoteMachine } from '@causeway/protocol';
import type { PartnerPrincipal } from '../../http/principals.ts';
import type { StatementRun } from '../../http/route.ts';
import { kycNotCleared } from './claim-quote.ts';
import type { Payee } from './payee.ts';
import { issueQuote, type QuoteParams } from './quote.store.ts';
import type { Issued } from './quote.view.ts';

/** Writes the quote for a cleared customer of this partner; refuses for anybody else and leaves nothing behind. */
export async function storeQuote(
  run: StatementRun,
  partner: PartnerPrincipal,
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
  const facts = { kycCleared: kycStatus === 'VERIFIED', pastExpiry: false };
  const decision = decide(quoteMachine, NEW, 'quote_issued', facts, 'partner');
  if (decision.kind === 'refused') throw kycNotCleared(kycStatus);
}

function quoteParams(
  run: StatementRun,
  partner: PartnerPrincipal,
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
  ];
}
