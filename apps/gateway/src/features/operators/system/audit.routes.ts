import { AuditListSchema, AuditQuery, OPERATOR_TAG } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { type Database, SYSTEM } from '../../../db/database.ts';
import { countAudit, listAudit } from '../../../engine/audit.ts';
import { route } from '../../../http/route.ts';

export function registerAuditRoutes(app: FastifyInstance, { db }: { readonly db: Database }): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/audit',
    operationId: 'listAudit',
    tag: OPERATOR_TAG,
    summary: 'List the audit log, newest first',
    query: AuditQuery,
    data: AuditListSchema,
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
