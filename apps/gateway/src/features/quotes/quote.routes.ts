import { OnrampQuoteRequest, QuoteSchema } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { partnerMutation } from '../../http/route.ts';
import { issueOnrampQuote, type QuoteTools } from './issue-onramp-quote.ts';

export function registerQuoteRoutes(app: FastifyInstance, tools: UnitTools & QuoteTools): void {
  partnerMutation(
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
      errors: [
        'USER_NOT_FOUND',
        'KYC_NOT_CLEARED',
        'INVALID_PARTNER_FEE',
        'UNSUPPORTED_CRYPTO_CURRENCY',
        'UNSUPPORTED_FIAT_CURRENCY',
        'AMOUNT_OUT_OF_RANGE',
        'NO_OFFERS_AVAILABLE',
      ],
    },
    async ({ body }, partner, unit) =>
      issueOnrampQuote(tools, unit, partner, body, await tools.corridorVendorId()),
  );
}
