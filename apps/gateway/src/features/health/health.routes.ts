import { CausewayError } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';

const ping = statement<[], { one: number }>('health.ping', 'SELECT 1 AS one');

/** `/health`: the process is alive. `/ready`: it can serve, which needs the database and is false while stopping. */
export function registerHealthRoutes(
  app: FastifyInstance,
  tools: { db: Database; isStopping: () => boolean },
): void {
  const liveness = Type.Object({
    success: Type.Literal(true),
    data: Type.Object({ status: Type.Literal('ok') }),
  });
  app.get(
    '/health',
    {
      config: { access: 'open' },
      schema: {
        operationId: 'health',
        tags: ['Gateway'],
        summary: 'Is the process alive?',
        security: [],
        response: { 200: { ...liveness, description: 'Alive' } },
      },
    },
    async () => ({ success: true, data: { status: 'ok' } }),
  );

  app.get(
    '/ready',
    {
      config: { access: 'open', errors: ['SERVICE_UNAVAILABLE'] },
      schema: {
        operationId: 'ready',
        tags: ['Gateway'],
        summary: 'Can the process serve requests?',
        security: [],
        response: { 200: { ...liveness, description: 'Ready' } },
      },
    },
    async () => {
      if (tools.isStopping()) throw new CausewayError('SERVICE_UNAVAILABLE');
      await tools.db.query(SYSTEM, ping, []).catch((cause) => {
        throw new CausewayError('SERVICE_UNAVAILABLE', { cause });
      });
      return { success: true, data: { status: 'ok' } };
    },
  );
}
