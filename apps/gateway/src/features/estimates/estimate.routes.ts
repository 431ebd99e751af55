import { type Asset, EstimateSchema, OfframpPricingRequest, PricingRequest } from '@causeway/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { apiKeyOf } from '../../http/access.ts';
import type { Principal, Principals } from '../../http/principals.ts';
import { route } from '../../http/route.ts';
import type { Direction } from '../../ports/offers.ts';
import { findMatch, PRICING_ERRORS, type PricingDeps, readPercent, readTerms } from '../quotes/pricing.ts';
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

export interface EstimateDeps extends PricingDeps {
  readonly principals: Principals;
  tokensOf(chain: string): readonly Asset[];
  /** For callers without a key. */
  readonly defaultTerms: EstimateTerms;
}

const DESCRIPTION =
  'Indicative: nothing is reserved or stored. A partner’s key is optional; with it the partner’s own chain and fee are used.';

export function registerEstimateRoutes(app: FastifyInstance, deps: EstimateDeps): void {
  route(app, {
    access: 'public',
    transaction: 'none',
    method: 'POST',
    url: '/api/v1/partner/onramp/estimate',
    operationId: 'estimateOnramp',
    tag: 'Liquidity and estimates',
    summary: 'Estimate a conversion from fiat to crypto',
    description: DESCRIPTION,
    body: PricingRequest,
    data: EstimateSchema,
    errors: PRICING_ERRORS,
    handle: ({ body, request }) => withTerms(deps, request, (terms) => estimate(deps, 'onramp', body, terms)),
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
    body: OfframpPricingRequest,
    data: EstimateSchema,
    errors: PRICING_ERRORS,
    handle: ({ body, request }) =>
      withTerms(deps, request, (terms) => estimate(deps, 'offramp', body, terms)),
  });
}

/** Waits for nothing where nothing has to be asked, which is nearly always. */
function withTerms<T>(
  deps: EstimateDeps,
  { headers }: FastifyRequest,
  use: (terms: EstimateTerms) => T,
): T | Promise<T> {
  const key = apiKeyOf(headers);
  if (key === '') return use(deps.defaultTerms);
  const found = deps.principals.find(key);
  if (found instanceof Promise) return found.then((principal) => use(termsOf(deps, principal)));
  return use(termsOf(deps, found));
}

/** A key that is unknown, or not a partner's, is ignored. */
function termsOf(deps: EstimateDeps, principal: Principal | null): EstimateTerms {
  if (principal?.kind !== 'partner') return deps.defaultTerms;
  const { settlementChain, platformFeePct } = principal.partner;
  return { tokens: deps.tokensOf(settlementChain), platformFeePct };
}
