import Fastify from 'fastify';
import { ANSWER } from './answer.ts';

/** The baseline: Fastify as it comes, sending the same bytes. */
const app = Fastify({ logger: false });
app.get(
  '/api/v1/partner/trivial',
  {
    schema: {
      response: {
        200: {
          type: 'object',
          properties: {
            success: { type: 'boolean' },
            data: { type: 'object', properties: { message: { type: 'string' } } },
          },
        },
      },
    },
  },
  async () => ANSWER,
);
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
if (typeof address === 'object' && address !== null)
  process.send?.({ url: `http://127.0.0.1:${address.port}/api/v1/partner/trivial` });
process.once('SIGTERM', () => void app.close().then(() => process.exit(0)));
