import { OfframpQuoteRequest, OfframpQuoteSchema, OnrampQuoteRequest, QuoteSchema } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { route } from '../../http/route.ts';
import { issueOfframpQuote, issueOnrampQuote, type OfframpQuoteDeps } from './issue-quote.ts';
import { PRICING_ERRORS } from './pricing.ts';

export function registerQuoteRoutes(app: FastifyInstance, deps: UnitDeps & OfframpQuoteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'statement',
    deps,
    method: 'POST',
    url: '/api/v1/partner/onramp/quote',
    operationId: 'createOnrampQuote',
    tag: 'On-ramp',
    summary: 'Quote a conversion from fiat to crypto',
    description: 'Valid for 60 seconds, for one order. Give exactly one of fiat_amount and crypto_amount.',
    body: OnrampQuoteRequest,
    data: QuoteSchema,
    errors: ['USER_NOT_FOUND', 'KYC_NOT_CLEARED', ...PRICING_ERRORS],
    handle: ({ body }, partner, run) => issueOnrampQuote(deps, run, partner, body),
  });

  route(app, {
    access: 'partner',
    transaction: 'statement',
    deps,
    method: 'POST',
    url: '/api/v1/partner/offramp/quote',
    operationId: 'createOfframpQuote',
    tag: 'Off-ramp',
    summary: 'Quote a conversion from crypto to fiat',
    description:
      'Valid for 60 seconds, for one order. Give exactly one of fiat_amount and crypto_amount. The payee is either the customer’s own payment profile (user_uuid and payment_details_id) or a third party (sender_id, recipient_id and recipient_destination_id).',
    body: OfframpQuoteRequest,
    data: OfframpQuoteSchema,
    errors: [
      'USER_NOT_FOUND',
      'PAYMENT_DETAILS_NOT_FOUND',
      'RECIPIENT_NOT_FOUND',
      'DESTINATION_NOT_FOUND',
      'KYC_NOT_CLEARED',
      'RECIPIENT_NOT_CLEARED',
      'RECIPIENT_NOT_ELIGIBLE',
      'RELATIONSHIP_NOT_ALLOWED',
      'INSTITUTION_NOT_AVAILABLE',
      'INSTITUTION_REQUIRED',
      ...PRICING_ERRORS,
    ],
    handle: ({ body }, partner, run) => issueOfframpQuote(deps, run, partner, body),
  });
}
