import type { Asset, EstimateSchema, PricingRequest } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Direction } from '../../upstream/offers.port.ts';
import { findMatch, type PricingTools } from '../quotes/find-match.ts';
import { pricedView } from '../quotes/quote.view.ts';
import { readPercent, readTerms } from '../quotes/read-terms.ts';

/** For whom an estimate is made: a partner that showed its key, or anybody. */
export interface EstimateTerms {
  readonly tokens: readonly Asset[];
  readonly platformFeePct: string;
}

/** What a quote would say at this moment. Nothing is stored and nobody is asked. */
export function estimate(
  tools: PricingTools,
  direction: Direction,
  request: Static<typeof PricingRequest>,
  { tokens, platformFeePct }: EstimateTerms,
): Static<typeof EstimateSchema> {
  const { catalogue } = tools.currencies.current().reference;
  const terms = readTerms(direction, request, catalogue, tokens);
  const platformFee = readPercent(platformFeePct, 'platform_fee_pct');
  const match = findMatch(tools, terms, platformFee);
  return {
    ...pricedView({ terms, match, platformFee }),
    provider_scope: terms.providerScope,
    is_indicative: true,
  };
}
