import { EstimateSchema, OnrampQuoteRequest, PricingRequest, QuoteSchema } from '@causeway/protocol';
import Fastify from 'fastify';
import { Type } from 'typebox';
import { createDatabase } from '../../apps/gateway/src/db/database.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { latestQuoteInsert, replaySql } from './recorded-sql.ts';

/**
 * The baselines: Fastify as it comes with the gateway's own schemas. `quote` makes one INSERT of a row like the gateway's
 * last quote; `estimate` only validates and serialises. Both answer what the gateway answered.
 *
 * What the INSERT includes is what every statement of a partner includes (docs/decisions/0022): the gateway's own pool, of the
 * same size, and the role and the partner set in the same round trip, so that row-level security binds it. What it does
 * not include, and the ratio therefore measures: keys, limits, log, metrics, pricing, matching and reserving.
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
  const { insert, quoteId } = await latestQuoteInsert(connectionString);
  const db = createDatabase({ connectionString, poolSize: Number(poolSize) });
  const store = replaySql(db, createIdGenerator(), insert, [quoteId]);
  app.post(
    '/api/v1/partner/onramp/quote',
    { schema: { body: OnrampQuoteRequest, response: response(QuoteSchema) } },
    async () => {
      await store(new Map());
      return answer;
    },
  );
}
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ url: `${url}/api/v1/partner/onramp/${role}` });
process.once('SIGTERM', () => void app.close().then(() => process.exit(0)));
