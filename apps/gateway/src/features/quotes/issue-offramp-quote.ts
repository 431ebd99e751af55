import type { OfframpQuoteRequest, OfframpQuoteSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { PartnerPrincipal } from '../../http/principals.ts';
import type { StatementRun } from '../../http/route.ts';
import type { DestinationTools } from '../recipients/add-destination.ts';
import { findMatch } from './find-match.ts';
import type { QuoteTools } from './issue-onramp-quote.ts';
import { namedPayee, requestForPlace, requireRelationship } from './payee.ts';
import { type Issued, offrampQuoteView } from './quote.view.ts';
import { readPayee } from './read-payee.ts';
import { readPercent, readTerms } from './read-terms.ts';
import { storeQuote } from './store-quote.ts';

export type OfframpQuoteTools = QuoteTools & DestinationTools;

/** One statement finds the payee, whose rail and institution decide who can serve; another writes the quote. */
export async function issueOfframpQuote(
  tools: OfframpQuoteTools,
  run: StatementRun,
  partner: PartnerPrincipal,
  request: Static<typeof OfframpQuoteRequest>,
): Promise<Static<typeof OfframpQuoteSchema>> {
  const { settlementChain, platformFeePct } = partner.partner;
  const { catalogue } = tools.currencies.current().reference;
  const tokens = tools.tokensOf(settlementChain);
  // What is wrong with the request itself is told before anybody is looked up.
  const named = namedPayee(request);
  readTerms('offramp', request, catalogue, tokens);

  const found = await readPayee(tools, run, named);
  const relationship = request.sender_recipient_relationship ?? (named.mode === 'own' ? 'self' : undefined);
  requireRelationship(relationship, found.place.rail, catalogue);
  const terms = readTerms('offramp', requestForPlace(request, found.place, catalogue), catalogue, tokens);
  const platformFee = readPercent(platformFeePct, 'platform_fee_pct');
  const issued: Issued = {
    terms,
    match: findMatch(tools, terms, platformFee),
    platformFee,
    quoteId: run.ids.uuid(),
    expiresAt: new Date(run.at.getTime() + tools.quoteTtlSeconds * 1_000),
  };
  const payee = { ...found, relationship, purpose: request.purpose_of_payment };
  await storeQuote(run, partner, named.userId, issued, payee);
  return offrampQuoteView(issued);
}
