import {
  IdentitySchema,
  KycDocumentInput,
  KycDocumentSchema,
  KycPatchInput,
  KycPatchSchema,
  KycSubmissionInput,
  KycSubmissionListSchema,
  KycSubmissionSchema,
  UserParams,
  VerificationStatusSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { partnerScope, reading } from '../../db/database.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { route } from '../../http/route.ts';
import { readUser } from '../users/user.ts';
import { readSubmissions } from './customer-kyc.ts';
import { DOCUMENT_BODY_BYTES, uploadDocument } from './documents/documents.ts';
import { identityView } from './kyc-fields.ts';
import { patchKyc, readIdentity, type SubmitKycDeps, submitKyc } from './submission.ts';

export interface KycRouteDeps extends UnitDeps, SubmitKycDeps {}

const TAG = 'Users and KYC';
const USER = '/api/v1/partner/users/:user_uuid';

export function registerKycRoutes(app: FastifyInstance, deps: KycRouteDeps): void {
  registerSubmissions(app, deps);
  app.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      route.bodyLimit = DOCUMENT_BODY_BYTES;
    });
    registerDocuments(scope, deps);
  });
  registerPatch(app, deps);
  registerReads(app, deps);
}

/** The contract names both paths; they are one operation. */
function registerSubmissions(app: FastifyInstance, deps: KycRouteDeps): void {
  const paths = [
    ['kyc-submissions', 'submitKyc'],
    ['kyc', 'submitKycShort'],
  ] as const;
  for (const [path, operationId] of paths) {
    route(app, {
      access: 'partner',
      transaction: 'unit',
      deps,
      method: 'POST',
      url: `${USER}/${path}`,
      operationId,
      tag: TAG,
      summary: 'Submit KYC data',
      description:
        'direct_data waits for the documents it lists; hosted_link answers a URL where the customer continues.',
      params: UserParams,
      body: KycSubmissionInput,
      data: KycSubmissionSchema,
      errors: ['USER_NOT_FOUND', 'INVALID_STATUS'],
      handle: ({ params, body }, _partner, unit) => submitKyc(deps, unit, params.user_uuid, body),
    });
  }
}

function registerDocuments(app: FastifyInstance, deps: KycRouteDeps): void {
  const paths = [
    ['kyc/documents', 'uploadKycDocument'],
    ['documents', 'uploadKycDocumentShort'],
  ] as const;
  for (const [path, operationId] of paths) {
    route(app, {
      access: 'partner',
      transaction: 'unit',
      deps,
      method: 'POST',
      url: `${USER}/${path}`,
      operationId,
      tag: TAG,
      summary: 'Upload a KYC document',
      description:
        'JPEG, PNG, WebP or PDF; the request may have 10 MiB. A document sent again replaces the first.',
      params: UserParams,
      body: KycDocumentInput,
      data: KycDocumentSchema,
      errors: ['USER_NOT_FOUND', 'INVALID_STATUS', 'OPERATION_NOT_ALLOWED', 'PAYLOAD_TOO_LARGE'],
      handle: ({ params, body }, _partner, unit) => uploadDocument(deps, unit, params.user_uuid, body),
    });
  }
}

function registerPatch(app: FastifyInstance, deps: KycRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'PATCH',
    url: `${USER}/kyc`,
    operationId: 'patchKyc',
    tag: TAG,
    summary: 'Update KYC fields',
    params: UserParams,
    body: KycPatchInput,
    data: KycPatchSchema,
    errors: [
      'USER_NOT_FOUND',
      'invalid_gender',
      'invalid_country_code',
      'invalid_source_of_funds',
      'invalid_field_value',
    ],
    handle: async ({ params, body }, _partner, unit) => ({
      updated_fields: await patchKyc(deps, unit, params.user_uuid, body),
    }),
  });
}

function registerReads(app: FastifyInstance, deps: KycRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: `${USER}/kyc-submissions`,
    operationId: 'listKycSubmissions',
    tag: TAG,
    summary: 'List KYC submissions and their documents',
    description:
      'Newest first, with what is still missing. Names and states only: content is never answered.',
    params: UserParams,
    data: KycSubmissionListSchema,
    errors: ['USER_NOT_FOUND'],
    handle: ({ params }, { partnerId }) =>
      readSubmissions(deps, reading(deps.db, partnerScope(partnerId)), params.user_uuid),
  });

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: `${USER}/verification-status`,
    operationId: 'getVerificationStatus',
    tag: TAG,
    summary: 'Get the verification status',
    params: UserParams,
    data: VerificationStatusSchema,
    errors: ['USER_NOT_FOUND'],
    handle: async ({ params }, { partnerId }) => {
      const user = await readUser(deps.db, partnerScope(partnerId), params.user_uuid);
      return {
        status: user.kyc_status,
        ...(user.rejection_reasons.length > 0 ? { rejection_reasons: user.rejection_reasons } : {}),
        updated_at: user.kyc_updated_at.toISOString(),
      };
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: `${USER}/identity`,
    operationId: 'getIdentity',
    tag: TAG,
    summary: 'List known and missing identity items',
    params: UserParams,
    data: IdentitySchema,
    errors: ['USER_NOT_FOUND'],
    handle: async ({ params }, { partnerId }) =>
      identityView(
        (await readIdentity(reading(deps.db, partnerScope(partnerId)), deps.vaults, params.user_uuid))
          .identity,
      ),
  });
}
