import { CausewayError } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
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
  REFERENCE_KINDS,
  type ReferenceEditor,
} from '../../upstream/currencies/reference.ts';
import { toCamelCase, toSnakeCase } from './answer-memory.ts';
import { Pagination, paging } from './schema-parts.ts';

export interface ReferenceDeps {
  readonly db: Database;
  readonly editor: ReferenceEditor;
}

const Kind = Type.Union(
  REFERENCE_KINDS.map((kind) => Type.Literal(kind)),
  { examples: ['institutions'] },
);
const Id = Type.String({ minLength: 1, maxLength: 120, examples: ['mtn-momo-ghana'] });

const RECORD_DATA = {
  slug: 'mtn-momo-ghana',
  payment_method_id: 1810,
  name: 'MTN MoMo Ghana',
  code: 'MTN',
  institution_type: 'mobile-money',
  countries: ['GH'],
  supported_rails: ['ghana-transfer'],
  live: true,
};

const Data = Type.Record(Type.String(), Type.Unknown(), {
  description: 'The record, in the form of the data files with snake case names',
  examples: [RECORD_DATA],
});

const ReferenceRecord = Type.Object(
  {
    kind: Type.String(),
    id: Type.String(),
    data: Data,
    source: Type.Union([Type.Literal('files'), Type.Literal('operator')], {
      description: 'A record that an operator has changed is no longer updated from the files',
    }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  {
    examples: [
      {
        kind: 'institutions',
        id: 'mtn-momo-ghana',
        data: RECORD_DATA,
        source: 'files',
        updated_at: '2026-01-31T12:00:00.000Z',
      },
    ],
  },
);

/** How an operator reads and changes what discovery lists. A change is in force in every process within a second. */
export function registerReferenceRoutes(app: FastifyInstance, { db, editor }: ReferenceDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/reference/:kind',
    operationId: 'listReferenceRecords',
    tag: 'Operator',
    summary: 'Reference records of a kind',
    params: Type.Object({ kind: Kind }),
    query: Type.Object(paging(20, 100)),
    data: Type.Object({ records: Type.Array(ReferenceRecord), pagination: Pagination }),
    handle: async ({ params, query: { limit, offset } }) => {
      const rows = await db.query(SYSTEM, referenceRecordsOfKind, [params.kind, limit, offset]);
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
    summary: 'One reference record',
    params: Type.Object({ kind: Kind, id: Id }),
    data: ReferenceRecord,
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
      'The whole record is sent. It is checked together with everything it refers to; an invalid change answers 400 and changes nothing. To take something off the lists, send it with live false.',
    params: Type.Object({ kind: Kind, id: Id }),
    body: Type.Object({
      data: Data,
      reason: Type.String({
        description: 'Kept in the audit log',
        minLength: 1,
        maxLength: 500,
        examples: ['Operator outage announced for the weekend'],
      }),
    }),
    data: ReferenceRecord,
    errors: ['OPERATION_NOT_ALLOWED'],
    handle: async ({ params, body }, operator) => {
      const data = toCamelCase(body.data) as Record<string, unknown>;
      try {
        const edit = { ...params, data, reason: body.reason, operatorKeyId: operator.keyId };
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
