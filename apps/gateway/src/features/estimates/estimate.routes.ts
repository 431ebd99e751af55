import {
  type Asset,
  EstimateSchema,
  OfframpEstimateRequest,
  OnrampEstimateRequest,
} from '@causeway/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Principal, Principals } from '../../http/principals.ts';
import { publicRoute } from '../../http/route.ts';
import type { PricingTools } from '../quotes/find-match.ts';
import { PRICING_ERRORS } from '../quotes/pricing-errors.ts';
import { type EstimateTerms, estimate } from './estimate.ts';

export interface EstimateTools extends PricingTools {
  readonly principals: Principals;
  tokensOf(chain: string): readonly Asset[];
  /** For whoever shows no key. */
  readonly defaultTerms: EstimateTerms;
}

const DESCRIPTION =
  'Indicative: nothing is reserved or stored. A partner’s key is optional; with it the partner’s own chain and fee are used.';

export function registerEstimateRoutes(app: FastifyInstance, tools: EstimateTools): void {
  publicRoute(
    app,
    {
      method: 'POST',
      url: '/api/v1/partner/onramp/estimate',
      operationId: 'estimateOnramp',
      tag: 'Liquidity and estimates',
      summary: 'Estimate a conversion from fiat to crypto',
      description: DESCRIPTION,
      body: OnrampEstimateRequest,
      data: EstimateSchema,
      errors: PRICING_ERRORS,
    },
    ({ body, request }) => withTerms(tools, request, (terms) => estimate(tools, 'onramp', body, terms)),
  );

  publicRoute(
    app,
    {
      method: 'POST',
      url: '/api/v1/partner/offramp/estimate',
      operationId: 'estimateOfframp',
      tag: 'Liquidity and estimates',
      summary: 'Estimate a conversion from crypto to fiat',
      description: DESCRIPTION,
      body: OfframpEstimateRequest,
      data: EstimateSchema,
      errors: PRICING_ERRORS,
    },
    ({ body, request }) => withTerms(tools, request, (terms) => estimate(tools, 'offramp', body, terms)),
  );
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
