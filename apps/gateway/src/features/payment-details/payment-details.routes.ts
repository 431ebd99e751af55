import {
  PageInput,
  PaymentDetailsInput,
  PaymentDetailsListSchema,
  PaymentDetailsSchema,
  UserParams,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { partnerScope } from '../../db/database.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { route } from '../../http/route.ts';
import {
  createPaymentDetails,
  detailsRequest,
  type PaymentDetailsDeps,
  paymentDetailsView,
  readPaymentDetails,
} from './payment-details.ts';

export interface PaymentDetailsRouteDeps extends UnitDeps, PaymentDetailsDeps {}

const TAG = 'Payment details';
const URL = '/api/v1/partner/users/:user_uuid/payment-details';

export function registerPaymentDetailsRoutes(app: FastifyInstance, deps: PaymentDetailsRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: URL,
    operationId: 'createPaymentDetails',
    tag: TAG,
    summary: 'Create payment details of a customer',
    description:
      'Completeness and format are checked, not whether the account exists. Values are answered masked.',
    params: UserParams,
    body: PaymentDetailsInput,
    data: PaymentDetailsSchema,
    errors: [
      'USER_NOT_FOUND',
      'INVALID_RECIPIENT_FIELDS',
      'INSTITUTION_REQUIRED',
      'INSTITUTION_NOT_AVAILABLE',
    ],
    handle: async ({ params, body }, _partner, unit) => {
      const { row, details } = await createPaymentDetails(deps, unit, params.user_uuid, detailsRequest(body));
      return paymentDetailsView(deps.detailsCheck, row, details);
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: URL,
    operationId: 'listPaymentDetails',
    tag: TAG,
    summary: 'List payment details of a customer, newest first',
    params: UserParams,
    query: PageInput,
    data: PaymentDetailsListSchema,
    errors: ['USER_NOT_FOUND'],
    handle: ({ params, query }, { partnerId }) =>
      readPaymentDetails(deps, partnerScope(partnerId), params.user_uuid, query),
  });
}
