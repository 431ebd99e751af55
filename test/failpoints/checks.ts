import { expect } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { until } from '../harness/until.ts';
import { failpointsOf, readList } from './list.ts';
import type { Round } from './round.ts';

const unbalanced = statement<[], { entry_id: string }>(
  'test.failpoints_unbalanced',
  'SELECT entry_id FROM ledger_postings GROUP BY entry_id, asset HAVING sum(amount) <> 0',
);
/** Two are ended by the operator of the walk: given up, and answered for. */
const failedEffects = statement<[], { kind: string; last_error: string | null }>(
  'test.failpoints_failed_effects',
  `SELECT kind, last_error FROM intents WHERE status = 'failed' AND coalesce(last_error, '') NOT LIKE '%by an operator'`,
);
const waitingEffects = statement<[at: Date], { kind: string }>(
  'test.failpoints_waiting_effects',
  `SELECT kind FROM intents WHERE status IN ('prepared', 'submitted') AND run_at <= $1
     AND (leased_until IS NULL OR leased_until < clock_timestamp())`,
);
const repeatedStates = statement<[], { subject_id: string; state: string }>(
  'test.failpoints_repeated_states',
  `SELECT subject_id::text, body::jsonb -> 'data' ->> 'status' AS state FROM events
    WHERE event_type = 'order.status.changed' AND body::jsonb -> 'data' ->> 'status' IN ('completed', 'cancelled', 'refunded')
    GROUP BY 1, 2 HAVING count(*) > 1`,
);
const nonces = statement<[], { chain_id: string; sender: string; next_nonce: string; sent: string }>(
  'test.failpoints_nonces',
  `SELECT n.chain_id::text, n.sender, n.next_nonce::text,
          (SELECT count(*) FROM chain_transactions t WHERE t.chain_id = n.chain_id AND t.sender = n.sender)::text AS sent
     FROM chain_nonces n`,
);

/**
 * What must hold whatever the process was doing when it ended: each request has one answer, the books balance and agree
 * with the chain, no effect has failed or is left lying, no order ended twice, no nonce was lost.
 */
export async function expectOneOutcome({ gateway, supervisor, contradictions }: Round): Promise<void> {
  await supervisor.ready();
  const { db, clock } = gateway.deps;
  expect(contradictions, 'a repeated request was answered differently').toEqual([]);
  expect(supervisor.accidents, 'a process ended where no failpoint was').toEqual([]);
  expect(supervisor.unlisted(), 'it belongs to no site').toEqual([]);
  const listed = new Set(failpointsOf(readList()));
  expect(
    supervisor.reached().filter((name) => !listed.has(name)),
    'it is reached and not listed',
  ).toEqual([]);
  await until('nothing to be left lying', async () => {
    return (await db.query(SYSTEM, waitingEffects, [clock.date()])).length === 0;
  });
  expect(await db.query(SYSTEM, failedEffects, [])).toEqual([]);
  expect(await db.query(SYSTEM, unbalanced, [])).toEqual([]);
  expect(await db.query(SYSTEM, repeatedStates, [])).toEqual([]);
  const lost = (await db.query(SYSTEM, nonces, [])).filter(({ next_nonce, sent }) => next_nonce !== sent);
  expect(lost, 'a nonce without a transaction').toEqual([]);
  await until('books and chain to agree', async () => {
    const { status, body } = await gateway.call(
      'GET',
      '/api/v1/operator/reconciliation?scope=all&limit=500',
      {
        key: gateway.sandbox.operatorKey,
      },
    );
    expect(status).toBe(200);
    const { books, escrows } = body.data;
    expect(books.filter(({ balanced }: { balanced: boolean }) => !balanced)).toEqual([]);
    return (
      escrows.different.length === 0 && escrows.in_flight.length === 0 && escrows.unreachable.length === 0
    );
  });
}
