import {
  KycDocumentInput,
  KycDocumentSchema,
  KycSubmissionInput,
  KycSubmissionSchema,
  PageInput,
  PaymentDetailsInput,
  PaymentDetailsListSchema,
  PaymentDetailsSchema,
  WIDGET_TAG,
  WidgetKycSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { reading } from '../../db/database.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { route } from '../../http/route.ts';
import { scopeOf } from '../../http/route-runs.ts';
import { readKycOfCustomer, submitKycAsCustomer } from '../kyc/customer-kyc.ts';
import { DOCUMENT_BODY_BYTES, uploadDocument } from '../kyc/documents/documents.ts';
import type { SubmitKycDeps } from '../kyc/submission.ts';
import {
  createPaymentDetails,
  detailsRequest,
  type PaymentDetailsDeps,
  paymentDetailsView,
  readPaymentDetails,
} from '../payment-details/payment-details.ts';
import { customerOf } from './sessions.ts';

export interface WidgetCustomerDeps extends UnitDeps, SubmitKycDeps, PaymentDetailsDeps {}

const SESSION = '/api/v1/widget/session';

/** What a customer does about itself: its verification and its accounts. Its own scope keeps it to its own rows. */
export function registerWidgetCustomerRoutes(app: FastifyInstance, deps: WidgetCustomerDeps): void {
  registerKyc(app, deps);
  app.register(async (scope) => {
    scope.addHook('onRoute', (added) => {
      added.bodyLimit = DOCUMENT_BODY_BYTES;
    });
    registerDocuments(scope, deps);
  });
  registerPaymentDetails(app, deps);
}

function registerKyc(app: FastifyInstance, deps: WidgetCustomerDeps): void {
  route(app, {
    access: 'session',
    transaction: 'none',
    method: 'GET',
    url: `${SESSION}/kyc`,
    operationId: 'getWidgetKyc',
    tag: WIDGET_TAG,
    summary: 'Get the customer’s verification and what it still asks for',
    data: WidgetKycSchema,
    errors: ['EMAIL_NOT_CONFIRMED'],
    handle: (_input, session) => {
      const userId = customerOf(session);
      return readKycOfCustomer(deps, reading(deps.db, scopeOf(session)), userId);
    },
  });

  route(app, {
    access: 'session',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${SESSION}/kyc`,
    operationId: 'submitWidgetKyc',
    tag: WIDGET_TAG,
    summary: 'Submit the customer’s KYC data',
    description:
      'What is known already need not be repeated. direct_data waits for the documents it lists; hosted_link answers a URL where the customer continues.',
    body: KycSubmissionInput,
    data: KycSubmissionSchema,
    errors: ['EMAIL_NOT_CONFIRMED', 'INVALID_STATUS'],
    handle: ({ body }, session, unit) => submitKycAsCustomer(deps, unit, customerOf(session), body),
  });
}

function registerDocuments(app: FastifyInstance, deps: WidgetCustomerDeps): void {
  route(app, {
    access: 'session',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${SESSION}/kyc/documents`,
    operationId: 'uploadWidgetKycDocument',
    tag: WIDGET_TAG,
    summary: 'Upload a KYC document of the customer',
    description:
      'JPEG, PNG, WebP or PDF; the request may have 10 MiB. A document sent again replaces the first.',
    body: KycDocumentInput,
    data: KycDocumentSchema,
    errors: ['EMAIL_NOT_CONFIRMED', 'INVALID_STATUS', 'OPERATION_NOT_ALLOWED', 'PAYLOAD_TOO_LARGE'],
    handle: ({ body }, session, unit) => uploadDocument(deps, unit, customerOf(session), body, 'customer'),
  });
}

function registerPaymentDetails(app: FastifyInstance, deps: WidgetCustomerDeps): void {
  route(app, {
    access: 'session',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${SESSION}/payment-details`,
    operationId: 'createWidgetPaymentDetails',
    tag: WIDGET_TAG,
    summary: 'Save an account that the customer is paid to',
    description: 'Completeness and format are checked, not whether it exists. Values are answered masked.',
    body: PaymentDetailsInput,
    data: PaymentDetailsSchema,
    errors: [
      'EMAIL_NOT_CONFIRMED',
      'INVALID_RECIPIENT_FIELDS',
      'INSTITUTION_REQUIRED',
      'INSTITUTION_NOT_AVAILABLE',
    ],
    handle: async ({ body }, session, unit) => {
      const { row, details } = await createPaymentDetails(
        deps,
        unit,
        customerOf(session),
        detailsRequest(body),
      );
      return paymentDetailsView(deps.detailsCheck, row, details);
    },
  });

  route(app, {
    access: 'session',
    transaction: 'none',
    method: 'GET',
    url: `${SESSION}/payment-details`,
    operationId: 'listWidgetPaymentDetails',
    tag: WIDGET_TAG,
    summary: 'List the customer’s accounts, newest first',
    query: PageInput,
    data: PaymentDetailsListSchema,
    errors: ['EMAIL_NOT_CONFIRMED'],
    handle: ({ query }, session) => readPaymentDetails(deps, scopeOf(session), customerOf(session), query),
  });
}
