import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InitiateInput, OnrampQuoteRequest, OrderSchema, QuoteSchema, Uuid } from '@causeway/protocol';
import Fastify from 'fastify';
import { type Static, type TSchema, Type } from 'typebox';
import { createDatabase, partnerScope } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { createIdGenerator } from '../../apps/gateway/src/lib/ids.ts';
import { ownIds, RECORDED_ORDER_FILE, type RecordedOrder, replaySql } from './recorded-sql.ts';

/**
 * The baselines: Fastify as it comes with the gateway's own schemas. Quote and initiate run the SQL of the gateway with new
 * ids, in the same round trips; a read runs its one SELECT. All answer what the gateway answered.
 *
 * Included is what every statement of a partner includes (docs/decisions/0022): the gateway's own pool, of the same size, and
 * the role and the partner set in the round trip of a transaction's first statement, so that row-level security binds it.
 * Not included, and so measured by the ratio: keys, limits, log, metrics, and all that is decided between the statements.
 */
const {
  DATABASE_URL: connectionString = '',
  BENCH_HOME: home = '',
  BENCH_POOL: poolText = '10',
} = process.env;
const poolSize = Number(poolText);
const recorded = JSON.parse(await readFile(join(home, RECORDED_ORDER_FILE), 'utf8')) as RecordedOrder;
const quoteId = String(recorded.quote.answer.data.quote_id);
const db = createDatabase({ connectionString, poolSize });
const ids = createIdGenerator();
const app = Fastify({ logger: false });
const success = (data: TSchema) => ({ 200: Type.Object({ success: Type.Literal(true), data }) });

const issue = replaySql(db, ids, recorded.quote.sql, ownIds(recorded.quote.sql, recorded.madeAfter));
app.post(
  '/onramp/quote',
  { schema: { body: OnrampQuoteRequest, response: success(QuoteSchema) } },
  async () => {
    const made = await issue(new Map());
    return { success: true, data: { ...recorded.quote.answer.data, quote_id: made.get(quoteId) } };
  },
);

const open = replaySql(db, ids, recorded.initiate.sql, ownIds(recorded.initiate.sql, recorded.madeAfter));
app.post(
  '/onramp/initiate',
  { schema: { body: InitiateInput, response: success(OrderSchema) } },
  async ({ body }) => {
    await open(new Map([[quoteId, (body as Static<typeof InitiateInput>).quote_id]]));
    return recorded.initiate.answer;
  },
);

const { answer: readAnswer, sql: readSql } = recorded.read;
const [select] = readSql.steps;
if (select === undefined) throw new Error('reading an order asked nothing of the database');
const selectOrder = statement<[orderId: string], object>('bench.bare_read', select.text);
const readScope = partnerScope(readSql.partnerId);
const OrderParams = Type.Object({ order_id: Uuid });
app.get(
  '/orders/:order_id',
  { schema: { params: OrderParams, response: success(OrderSchema) } },
  async ({ params }) => {
    const { order_id: orderId } = params as Static<typeof OrderParams>;
    const rows = await db.query(readScope, selectOrder, [orderId]);
    // Finding nothing is cheaper, and would flatter the baseline.
    if (rows.length !== 1) throw new Error('no such order');
    return readAnswer;
  },
);

const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.send?.({ url });
process.once('SIGTERM', () => {
  void (async () => {
    await app.close();
    await db.close();
    process.exit(0);
  })();
});
