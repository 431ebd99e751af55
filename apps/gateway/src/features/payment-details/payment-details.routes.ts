import {
  PageInput,
  PaymentDetailsInput,
  PaymentDetailsListSchema,
  PaymentDetailsSchema,
  UserParams,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { partnerScope } from '../../db/database.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { route } from '../../http/route.ts';
import { readUser } from '../users/user.ts';
import { type AccountDetails, accountView } from './account-details.ts';
import type { DetailsCheck } from './details-check.ts';
import { countPaymentDetails, listPaymentDetails, type PaymentDetailsRow } from './payment-details.store.ts';
import { createPaymentDetails, openPaymentDetails, type PaymentDetailsDeps } from './payment-details.ts';

export function paymentDetailsView(
  check: DetailsCheck,
  row: PaymentDetailsRow,
  details: AccountDetails,
): Static<typeof PaymentDetailsSchema> {
  return {
    id: Number(row.payment_details_id),
    ...accountView(check, row, details),
    screening_status: row.screening_status,
  };
}

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
      const { row, details } = await createPaymentDetails(deps, unit, params.user_uuid, {
        rail: body.rail,
        currency: body.currency,
        countryCode: body.country_code,
        institutionId: body.institution_id ?? undefined,
        details: body.details,
      });
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
    handle: async ({ params, query: { page, limit } }, { partnerId }) => {
      const scope = partnerScope(partnerId);
      const user = await readUser(deps.db, scope, params.user_uuid);
      const [rows, [count]] = await deps.db.transaction(scope, (tx) =>
        tx.queryBoth(listPaymentDetails, [user.user_id, limit, (page - 1) * limit], countPaymentDetails, [
          user.user_id,
        ]),
      );
      return {
        payment_details: rows.map((row) =>
          paymentDetailsView(deps.detailsCheck, row, openPaymentDetails(deps.vaults, user, row)),
        ),
        pagination: { page, limit, total: Number(count?.total ?? 0) },
      };
    },
  });
}
