import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { newId } from '../../apps/gateway/src/lib/ids.ts';
import { startChainlessGateway } from './chainless-gateway.ts';
import { RECORDED_ORDER_FILE, type RecordedCall, type RecordedOrder, recordSql } from './recorded-sql.ts';

/**
 * The candidate: a whole gateway. It makes one order itself, through its own front door, and leaves in its home what was
 * asked of the database for it.
 */

/** Deep enough that no run empties one: what is measured must not change on the way. */
const deepenOffers = statement<[]>(
  'bench.deepen_offers',
  'UPDATE offers SET available_balance = 1000000000000',
);

const { BENCH_HOME: home = '', BENCH_KEY: apiKey = '' } = process.env;
const userId = newId();
const { deps, listen } = await startChainlessGateway(home, userId);
await deps.db.query(SYSTEM, deepenOffers, []);
const url = `${await listen()}/api/v1/partner`;

async function recordCall(method: string, path: string, body?: object): Promise<RecordedCall> {
  const recorder = recordSql(deps.db);
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const sql = recorder.stop();
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
  return { answer: JSON.parse(text) as RecordedCall['answer'], sql };
}

async function makeOrder(): Promise<Pick<RecordedOrder, 'quote' | 'initiate' | 'read'>> {
  const quote = await recordCall('POST', '/onramp/quote', {
    crypto_currency: 'USDC',
    fiat_currency: 'EUR',
    fiat_amount: '100.00',
    partner_fee_pct: '1',
    user_uuid: userId,
  });
  const initiate = await recordCall('POST', '/onramp/initiate', { quote_id: quote.answer.data.quote_id });
  const read = await recordCall('GET', `/orders/${initiate.answer.data.order_id}`);
  return { quote, initiate, read };
}

// The first requests of a process also look up what it then keeps in memory, such as the key.
await makeOrder();
const madeAfter = newId();
// Ids of two generators sort by their milliseconds only.
await delay(2);
const recorded: RecordedOrder = { userId, madeAfter, ...(await makeOrder()) };
await writeFile(join(home, RECORDED_ORDER_FILE), JSON.stringify(recorded));
process.send?.({ url });
