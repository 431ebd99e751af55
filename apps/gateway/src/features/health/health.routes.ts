import { LivenessSchema, successResponseOf } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { RETRY_AFTER_SECONDS } from '../../http/errors.ts';
import type { Readiness } from './readiness.ts';

/** `/health`: the process is alive. `/ready`: its API can serve, and if not, why not. */
export function registerHealthRoutes(app: FastifyInstance, readiness: Readiness): void {
  const liveness = successResponseOf(LivenessSchema);
  app.get(
    '/health',
    {
      config: { access: 'open' },
      schema: {
        operationId: 'health',
        tags: ['Gateway'],
        summary: 'Liveness probe',
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
        summary: 'Readiness probe',
        description:
          'Not ready while it starts or stops, while its database does not answer, and while nothing can be priced because rates are stale or absent.',
        security: [],
        response: { 200: { ...liveness, description: 'Ready' } },
      },
    },
    async (_request, reply: FastifyReply) => {
      // Sent, not thrown: a probe that is answered no is no failed request.
      const { status, body } = await readiness.answer();
      if (status !== 200) reply.header('retry-after', RETRY_AFTER_SECONDS);
      return reply.code(status).send(body);
    },
  );
}
