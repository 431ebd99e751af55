import type { Asset, EstimateSchema, PricingRequest } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Direction } from '../../ports/offers.ts';
import { findMatch, type PricingDeps, readPercent, readTerms } from '../quotes/pricing.ts';
import { pricedView } from '../quotes/quote.view.ts';

/** For whom an estimate is made: a partner that sent its key, or any caller. */
export interface EstimateTerms {
  readonly tokens: readonly Asset[];
  readonly platformFeePct: string;
}

/** What a quote would say at this moment. Nothing is stored and no vendor is asked. */
export function estimate(
  deps: PricingDeps,
  direction: Direction,
  request: Static<typeof PricingRequest>,
  { tokens, platformFeePct }: EstimateTerms,
): Static<typeof EstimateSchema> {
  const { catalogue } = deps.currencies.current().reference;
  const terms = readTerms(direction, request, catalogue, tokens);
  const platformFee = readPercent(platformFeePct, 'platform_fee_pct');
  const match = findMatch(deps, terms, platformFee);
  return {
    ...pricedView({ terms, match, platformFee }),
    provider_scope: terms.providerScope,
    is_indicative: true,
  };
}
