import { type Asset, EstimateSchema, OfframpPricingRequest, PricingRequest } from '@causeway/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { apiKeyOf } from '../../http/access.ts';
import type { Principal, Principals } from '../../http/principals.ts';
import { route } from '../../http/route.ts';
import { PRICING_ERRORS, type PricingDeps } from '../quotes/pricing.ts';
import { type EstimateTerms, estimate } from './estimate.ts';

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
