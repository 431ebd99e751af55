import { EstimateSchema, OnrampQuoteRequest, PricingRequest, QuoteSchema } from '@causeway/protocol';
import Fastify from 'fastify';
import pg from 'pg';
import { Type } from 'typebox';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';

/**
 * The baselines: Fastify as it comes with the gateway's own schemas. `quote` makes one INSERT of a row like the gateway's
 * last quote, on a pool of the same size; `estimate` only validates and serialises. Both answer what the gateway answered.
 */
const role = process.argv[2];
const {
  DATABASE_URL: connectionString = '',
  BENCH_ANSWER: answerText = '',
  BENCH_POOL: poolSize = '10',
} = process.env;
const answer = JSON.parse(answerText) as object;
const app = Fastify({ logger: false });
const response = (data: typeof QuoteSchema | typeof EstimateSchema) => ({
  200: Type.Object({ success: Type.Literal(true), data }),
});

if (role === 'estimate') {
  app.post(
    '/api/v1/partner/onramp/estimate',
    { schema: { body: PricingRequest, response: response(EstimateSchema) } },
    async () => answer,
  );
} else {
  const ids = createIdGenerator();
  const pool = new pg.Pool({ connectionString, max: Number(poolSize), options: '-c role=causeway_system' });
  const { rows, fields } = await pool.query('SELECT * FROM quotes ORDER BY created_at DESC LIMIT 1');
  const columns = fields.map(({ name }) => name);
  const row = columns.map((name) => (rows[0] as Record<string, unknown>)[name]);
  const idAt = columns.indexOf('quote_id');
  const text = `INSERT INTO quotes (${columns.join(', ')}) VALUES (${columns.map((_, at) => `$${at + 1}`).join(', ')})`;
  app.post(
    '/api/v1/partner/onramp/quote',
    { schema: { body: OnrampQuoteRequest, response: response(QuoteSchema) } },
    async () => {
      await pool.query({ name: 'bare', text, values: row.with(idAt, ids.uuid()) });
      return answer;
    },
  );
}
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ url: `${url}/api/v1/partner/onramp/${role}` });
process.once('SIGTERM', () => void app.close().then(() => process.exit(0)));
