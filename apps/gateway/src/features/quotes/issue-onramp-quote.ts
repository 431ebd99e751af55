import type { Asset, OnrampQuoteRequest, QuoteSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { PartnerPrincipal } from '../../http/principals.ts';
import type { StatementRun } from '../../http/route.ts';
import { findMatch, type PricingTools } from './find-match.ts';
import { type Issued, quoteView } from './quote.view.ts';
import { readPercent, readTerms } from './read-terms.ts';
import { storeQuote } from './store-quote.ts';

export interface QuoteTools extends PricingTools {
  readonly quoteTtlSeconds: number;
  /** The tokens of a partner's settlement chain. */
  tokensOf(chain: string): readonly Asset[];
}

/** Pure arithmetic in memory, then one statement. */
export async function issueOnrampQuote(
  tools: QuoteTools,
  run: StatementRun,
  partner: PartnerPrincipal,
  request: Static<typeof OnrampQuoteRequest>,
): Promise<Static<typeof QuoteSchema>> {
  const { settlementChain, platformFeePct } = partner.partner;
  const { catalogue } = tools.currencies.current().reference;
  const terms = readTerms('onramp', request, catalogue, tools.tokensOf(settlementChain));
  const platformFee = readPercent(platformFeePct, 'platform_fee_pct');
  const match = findMatch(tools, terms, platformFee);
  const issued: Issued = {
    terms,
    match,
    platformFee,
    quoteId: run.ids.uuid(),
    expiresAt: new Date(run.at.getTime() + tools.quoteTtlSeconds * 1_000),
  };
  await storeQuote(run, partner, request.user_uuid, issued);
  return quoteView(issued);
}
