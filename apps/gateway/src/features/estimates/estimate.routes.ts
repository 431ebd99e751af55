import {
  type Asset,
  EstimateSchema,
  OfframpEstimateRequest,
  OnrampEstimateRequest,
  type PricingRequest,
} from '@causeway/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Principal, Principals } from '../../http/principals.ts';
import { route } from '../../http/route.ts';
import type { Direction } from '../../ports/offers.ts';
import { findMatch, PRICING_ERRORS, type PricingTools, readPercent, readTerms } from '../quotes/pricing.ts';
import { pricedView } from '../quotes/quote.view.ts';

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

export interface EstimateTools extends PricingTools {
  readonly principals: Principals;
  tokensOf(chain: string): readonly Asset[];
  /** For whoever shows no key. */
  readonly defaultTerms: EstimateTerms;
}

const DESCRIPTION =
  'Indicative: nothing is reserved or stored. A partner’s key is optional; with it the partner’s own chain and fee are used.';

export function registerEstimateRoutes(app: FastifyInstance, tools: EstimateTools): void {
  route(app, {
    access: 'public',
    transaction: 'none',
    method: 'POST',
    url: '/api/v1/partner/onramp/estimate',
    operationId: 'estimateOnramp',
    tag: 'Liquidity and estimates',
    summary: 'Estimate a conversion from fiat to crypto',
    description: DESCRIPTION,
    body: OnrampEstimateRequest,
    data: EstimateSchema,
    errors: PRICING_ERRORS,
    handle: ({ body, request }) =>
      withTerms(tools, request, (terms) => estimate(tools, 'onramp', body, terms)),
  });

  route(app, {
    access: 'public',
    transaction: 'none',
    method: 'POST',
    url: '/api/v1/partner/offramp/estimate',
    operationId: 'estimateOfframp',
    tag: 'Liquidity and estimates',
    summary: 'Estimate a conversion from crypto to fiat',
    description: DESCRIPTION,
    body: OfframpEstimateRequest,
    data: EstimateSchema,
    errors: PRICING_ERRORS,
    handle: ({ body, request }) =>
      withTerms(tools, request, (terms) => estimate(tools, 'offramp', body, terms)),
  });
}

/** Waits for nothing where nothing has to be asked, which is nearly always. */
function withTerms<T>(
  tools: EstimateTools,
  { headers }: FastifyRequest,
  use: (terms: EstimateTerms) => T,
): T | Promise<T> {
  const key = headers['x-api-key'];
  if (typeof key !== 'string' || key === '') return use(tools.defaultTerms);
  const found = tools.principals.find(key);
  if (found instanceof Promise) return found.then((principal) => use(termsOf(tools, principal)));
  return use(termsOf(tools, found));
}

/** A key that is unknown, or somebody else's than a partner's, is ignored. */
function termsOf(tools: EstimateTools, principal: Principal | null): EstimateTerms {
  if (principal?.kind !== 'partner') return tools.defaultTerms;
  const { settlementChain, platformFeePct } = principal.partner;
  return { tokens: tools.tokensOf(settlementChain), platformFeePct };
}
