import {
  type Asset,
  EstimateSchema,
  OfframpEstimateRequest,
  OnrampEstimateRequest,
} from '@causeway/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Principals } from '../../http/principals.ts';
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
    async ({ body, request }) => estimate(tools, 'onramp', body, await termsFor(tools, request)),
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
    async ({ body, request }) => estimate(tools, 'offramp', body, await termsFor(tools, request)),
  );
}

/** A key that is unknown, or somebody else's than a partner's, is ignored. */
async function termsFor(tools: EstimateTools, { headers }: FastifyRequest): Promise<EstimateTerms> {
  const key = headers['x-api-key'];
  const principal = typeof key === 'string' && key !== '' ? await tools.principals.find(key) : null;
  if (principal?.kind !== 'partner') return tools.defaultTerms;
  const { settlementChain, platformFeePct } = principal.partner;
  return { tokens: tools.tokensOf(settlementChain), platformFeePct };
}
