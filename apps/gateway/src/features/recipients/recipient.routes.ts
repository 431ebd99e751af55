import {
  DestinationInput,
  DestinationListSchema,
  DestinationSchema,
  EmptySchema,
  RecipientInput,
  RecipientListSchema,
  RecipientParams,
  RecipientPatchInput,
  RecipientQuery,
  RecipientSchema,
  SANDBOX_SCREENING_TRIGGERS,
  SandboxScreeningStatusInput,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { partnerScope } from '../../db/database.ts';
import type { UnitDeps } from '../../engine/unit-of-work.ts';
import { route } from '../../http/route.ts';
import {
  addDestination,
  type DestinationDeps,
  MAX_DESTINATIONS,
  openDestinationRow,
} from './destinations.ts';
import { listDestinations } from './recipient.store.ts';
import { openCurrent, readRecipient, vaultOfRecipient } from './recipient.ts';
import { destinationView, recipientView } from './recipient.view.ts';
import { decideScreening } from './recipient-screening.ts';
import {
  archiveRecipient,
  findRecipients,
  registerRecipient,
  updateRecipient,
} from './register-recipient.ts';

export interface RecipientRouteDeps extends UnitDeps, DestinationDeps {}

const TAG = 'Recipients';
const RECIPIENTS = '/api/v1/partner/recipients';
const RECIPIENT = `${RECIPIENTS}/:recipient_id`;

export function registerRecipientRoutes(app: FastifyInstance, deps: RecipientRouteDeps): void {
  registerReads(app, deps);
  registerWrites(app, deps);
  registerDestinations(app, deps);
}

function registerReads(app: FastifyInstance, deps: RecipientRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: RECIPIENTS,
    operationId: 'listRecipients',
    tag: TAG,
    summary: 'List recipients, newest first',
    description: 'A search finds names by whole words and their beginnings, identifiers only whole.',
    query: RecipientQuery,
    data: RecipientListSchema,
    handle: async ({ query }, { partnerId }) => {
      const { rows, total } = await findRecipients(deps, partnerScope(partnerId), partnerId, query);
      return {
        recipients: rows.map((row) => recipientView(row, openCurrent(deps.vaults, row))),
        pagination: { total, limit: query.limit, offset: query.offset },
      };
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: RECIPIENT,
    operationId: 'getRecipient',
    tag: TAG,
    summary: 'Get a recipient',
    params: RecipientParams,
    data: RecipientSchema,
    errors: ['RECIPIENT_NOT_FOUND'],
    handle: async ({ params }, { partnerId }) => {
      const row = await readRecipient(deps.db, partnerScope(partnerId), params.recipient_id);
      return recipientView(row, openCurrent(deps.vaults, row));
    },
  });
}

function registerWrites(app: FastifyInstance, deps: RecipientRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: RECIPIENTS,
    operationId: 'createRecipient',
    tag: TAG,
    summary: 'Create a recipient',
    description:
      'It is screened at once, or is pending where the screening needs longer; only a recipient whose screening_status is clear can be quoted.',
    body: RecipientInput,
    data: RecipientSchema,
    handle: ({ body }, partner, unit) => {
      const { row, data } = registerRecipient(deps, unit, partner.partnerId, body);
      return recipientView(row, data);
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'PATCH',
    url: RECIPIENT,
    operationId: 'updateRecipient',
    tag: TAG,
    summary: 'Update a recipient',
    description:
      'It writes a new version; quotes and orders keep theirs. A null takes an optional value away.',
    params: RecipientParams,
    body: RecipientPatchInput,
    data: RecipientSchema,
    errors: ['RECIPIENT_NOT_FOUND'],
    handle: async ({ params, body }, _partner, unit) => {
      const { row, data } = await updateRecipient(deps, unit, params.recipient_id, body);
      return recipientView(row, data);
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'DELETE',
    url: RECIPIENT,
    operationId: 'archiveRecipient',
    tag: TAG,
    summary: 'Archive a recipient',
    params: RecipientParams,
    data: EmptySchema,
    errors: ['RECIPIENT_NOT_FOUND'],
    handle: async ({ params }, _partner, unit) => {
      await archiveRecipient(unit, params.recipient_id);
      return {};
    },
  });
}

function registerDestinations(app: FastifyInstance, deps: RecipientRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: `${RECIPIENT}/destinations`,
    operationId: 'listDestinations',
    tag: TAG,
    summary: 'List destinations of a recipient',
    params: RecipientParams,
    data: DestinationListSchema,
    errors: ['RECIPIENT_NOT_FOUND'],
    handle: async ({ params }, { partnerId }) => {
      const scope = partnerScope(partnerId);
      const recipient = await readRecipient(deps.db, scope, params.recipient_id);
      const vault = vaultOfRecipient(deps.vaults, recipient);
      const rows = await deps.db.query(scope, listDestinations, [recipient.recipient_id, MAX_DESTINATIONS]);
      return {
        destinations: rows.map((row) =>
          destinationView(deps.detailsCheck, row, openDestinationRow(vault, row)),
        ),
      };
    },
  });

  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${RECIPIENT}/destinations`,
    operationId: 'createDestination',
    tag: TAG,
    summary: 'Add a destination to a recipient',
    params: RecipientParams,
    body: DestinationInput,
    data: DestinationSchema,
    errors: [
      'RECIPIENT_NOT_FOUND',
      'INVALID_RECIPIENT_FIELDS',
      'RECIPIENT_NOT_ELIGIBLE',
      'INSTITUTION_REQUIRED',
      'INSTITUTION_NOT_AVAILABLE',
      'OPERATION_NOT_ALLOWED',
      'SERVICE_UNAVAILABLE',
    ],
    handle: async ({ params, body }, _partner, unit) => {
      const { row, details } = await addDestination(deps, unit, params.recipient_id, {
        rail: body.rail,
        currency: body.currency,
        countryCode: body.country_code,
        institutionId: body.institution_id ?? undefined,
        details: body.details,
      });
      return destinationView(deps.detailsCheck, row, details);
    },
  });
}

/** Registered by sandbox deployments only. */
export function registerSandboxScreeningRoute(app: FastifyInstance, deps: RecipientRouteDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/sandbox/recipients/:recipient_id/screening-status',
    operationId: 'sandboxScreeningStatus',
    tag: 'Sandbox',
    summary: 'Set a recipient’s screening status',
    params: RecipientParams,
    body: SandboxScreeningStatusInput,
    data: RecipientSchema,
    errors: ['RECIPIENT_NOT_FOUND'],
    handle: async ({ params, body }, _partner, unit) => {
      const trigger = SANDBOX_SCREENING_TRIGGERS[body.screening_status];
      const row = await decideScreening(unit, params.recipient_id, trigger, 'simulator');
      return recipientView(row, openCurrent(deps.vaults, row));
    },
  });
}
