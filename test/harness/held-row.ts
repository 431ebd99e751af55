import pg from 'pg';
import type { TestGateway } from './gateway.ts';
import { until } from './until.ts';

/** Keeps an order's row until it is let go, and says when so many wait, for it or behind others that wait for it. */
export async function holdRow({ databaseUrl }: TestGateway, orderId: string) {
  const connect = async () => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    return client;
  };
  // Within a transaction the activity of others is seen as it was at first, so somebody else looks.
  const [keeper, onlooker] = [await connect(), await connect()];
  await keeper.query('BEGIN');
  await keeper.query('SELECT FROM orders WHERE order_id = $1 FOR UPDATE', [orderId]);
  return {
    waiters: (expected: number) =>
      until(`${expected} to wait`, async () => {
        const { rows } = await onlooker.query(
          `SELECT count(*)::int AS waiting FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rows[0].waiting >= expected;
      }),
    async letGo() {
      await keeper.query('COMMIT');
      await Promise.all([keeper.end(), onlooker.end()]);
    },
  };
}
