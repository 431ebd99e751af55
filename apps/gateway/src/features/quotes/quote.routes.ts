import { OnrampQuoteRequest, QuoteSchema } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { partnerStatement } from '../../http/route.ts';
import { issueOnrampQuote, type QuoteTools } from './issue-onramp-quote.ts';
import { PRICING_ERRORS } from './pricing-errors.ts';

export function registerQuoteRoutes(app: FastifyInstance, tools: UnitTools & QuoteTools): void {
  partnerStatement(
    app,
    tools,
    {
      method: 'POST',
      url: '/api/v1/partner/onramp/quote',
      operationId: 'createOnrampQuote',
      tag: 'On-ramp',
      summary: 'Quote a conversion from fiat to crypto',
      description: 'Valid for 60 seconds, for one order. Give exactly one of fiat_amount and crypto_amount.',
      body: OnrampQuoteRequest,
      data: QuoteSchema,
      errors: ['USER_NOT_FOUND', 'KYC_NOT_CLEARED', ...PRICING_ERRORS],
    },
    ({ body }, partner, run) => issueOnrampQuote(tools, run, partner, body),
  );
}
