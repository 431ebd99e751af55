import {
  CausewayError,
  ReferenceKindParams,
  ReferenceListQuery,
  ReferenceRecordInput,
  ReferenceRecordListSchema,
  ReferenceRecordParams,
  ReferenceRecordSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { type Database, SYSTEM } from '../../db/database.ts';
import { invalidFields } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import {
  type ReferenceRecordRow,
  referenceRecord,
  referenceRecordsOfKind,
} from '../../upstream/currencies/reference.store.ts';
import {
  editReference,
  InvalidReferenceEdit,
  type ReferenceEditor,
} from '../../upstream/currencies/reference.ts';
import { toCamelCase, toSnakeCase } from './answer-memory.ts';
import { registerGatewayRoutes } from './gateway.routes.ts';
import { type RatesDeps, registerRatesRoutes } from './rates.routes.ts';
import { registerSupportedRoutes, type SupportedDeps } from './supported.routes.ts';

export interface ReferenceDeps {
  readonly db: Database;
  readonly editor: ReferenceEditor;
}

/** How an operator reads and changes what discovery lists. A change is in force in every process within a second. */
export function registerReferenceRoutes(app: FastifyInstance, { db, editor }: ReferenceDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/reference/:kind',
    operationId: 'listReferenceRecords',
    tag: 'Operator',
    summary: 'List reference records of a kind',
    params: ReferenceKindParams,
    query: ReferenceListQuery,
    data: ReferenceRecordListSchema,
    handle: async ({ params, query }) => {
      const { limit, offset } = query;
      const rows = await db.query(SYSTEM, referenceRecordsOfKind, [
        params.kind,
        query.search?.trim() ?? null,
        query.live ?? null,
        query.rail ?? null,
        query.country?.toUpperCase() ?? null,
        limit,
        offset,
      ]);
      const total = Number(rows[0]?.total ?? 0);
      return { records: rows.map(viewOf), pagination: { total, limit, offset } };
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/reference/:kind/:id',
    operationId: 'getReferenceRecord',
    tag: 'Operator',
    summary: 'Get a reference record',
    params: ReferenceRecordParams,
    data: ReferenceRecordSchema,
    errors: ['ROUTE_NOT_FOUND'],
    handle: async ({ params }) => {
      const [row] = await db.query(SYSTEM, referenceRecord, [params.kind, params.id]);
      if (row === undefined) throw new CausewayError('ROUTE_NOT_FOUND');
      return viewOf(row);
    },
  });

  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'PUT',
    url: '/api/v1/operator/reference/:kind/:id',
    operationId: 'putReferenceRecord',
    tag: 'Operator',
    summary: 'Add or replace a reference record',
    description:
      'The whole record is sent. It is checked together with everything it refers to; an invalid change answers 400 and changes nothing. To remove a record from the lists, send it with live false.',
    params: ReferenceRecordParams,
    body: ReferenceRecordInput,
    data: ReferenceRecordSchema,
    errors: ['OPERATION_NOT_ALLOWED'],
    handle: async ({ params, body }, operator) => {
      const data = toCamelCase(body.data) as Record<string, unknown>;
      try {
        const edit = { ...params, data, reason: body.reason, operator };
        return viewOf(await editReference(editor, edit));
      } catch (error) {
        if (error instanceof InvalidReferenceEdit) throw invalidFields([...error.problems].slice(0, 20));
        throw error;
      }
    },
  });
}

function viewOf({ kind, id, data, source, updated_at }: ReferenceRecordRow) {
  return {
    kind,
    id,
    data: toSnakeCase(data) as Record<string, unknown>,
    source,
    updated_at: updated_at.toISOString(),
  };
}

export interface DiscoveryDeps extends SupportedDeps, RatesDeps, ReferenceDeps {}

/** Everything a partner reads before a first quote, and the operator's hand on it. */
export function registerDiscoveryRoutes(app: FastifyInstance, deps: DiscoveryDeps): void {
  registerSupportedRoutes(app, deps);
  registerRatesRoutes(app, deps);
  registerGatewayRoutes(app, deps.currencies);
  registerReferenceRoutes(app, deps);
}
