import { OffsetPage, OPERATOR_TAG, PageQuery, Timestamp, Uuid } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { type Database, SYSTEM } from '../../../db/database.ts';
import { countAudit, listAudit } from '../../../engine/audit.ts';
import { route } from '../../../http/route.ts';

const State = Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]);

export function registerAuditRoutes(app: FastifyInstance, { db }: { readonly db: Database }): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/audit',
    operationId: 'listAudit',
    tag: OPERATOR_TAG,
    summary: 'What operators did, newest first',
    query: Type.Object({
      ...PageQuery.properties,
      subject: Type.Optional(
        Type.String({
          pattern: '^[A-Za-z0-9_./-]{1,200}$',
          examples: ['users/0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10'],
        }),
      ),
    }),
    data: Type.Object({
      entries: Type.Array(
        Type.Object({
          audit_id: Uuid,
          operator_key_id: Uuid,
          action: Type.String(),
          subject: Type.String(),
          reason: Type.String(),
          before: State,
          after: State,
          at: Timestamp,
        }),
      ),
      pagination: OffsetPage,
    }),
    handle: async ({ query: { subject, limit, offset } }) => {
      const [rows, [count]] = await db.transaction(SYSTEM, (tx) =>
        tx.queryBoth(listAudit, [subject ?? null, limit, offset], countAudit, [subject ?? null]),
      );
      return {
        entries: rows.map((row) => ({ ...row, at: row.at.toISOString() })),
        pagination: { total: Number(count?.total ?? 0), limit, offset },
      };
    },
  });
}
