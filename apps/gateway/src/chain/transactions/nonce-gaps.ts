import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { ConnectedChain } from '../chains.ts';
import { listSenders, signedFrom } from './transaction.store.ts';
import { broadcast, nonceAt } from './transaction-rpc.ts';

export interface GapDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** While an effect's own intent is still at work, it sends its bytes itself. */
const GRACE_MS = 30_000;
const BATCH = 50;

/**
 * A chain that lost blocks (a rolled-back local one, a deep reorganisation) expects nonces again that were long used, and
 * everything behind them waits for ever. The bytes that used them are kept, so they are sent again: the same effects
 * under the same nonces, and nothing new. Answers how many were sent.
 */
export async function fillNonceGaps(
  { db, clock, logger }: GapDeps,
  { settings, client }: ConnectedChain,
  graceMs = GRACE_MS,
): Promise<number> {
  const { chainId, slug } = settings;
  const signedBefore = new Date(clock.now() - graceMs);
  let sent = 0;
  for (const { sender, nextNonce } of await listSenders(db, chainId)) {
    const expected = await nonceAt(client, sender, { blockTag: 'pending' });
    if (expected >= nextNonce) continue;
    const missing = await signedFrom(db, chainId, sender, expected, signedBefore, BATCH);
    for (const { nonce, raw } of missing) {
      const complaint = await broadcast(client, raw);
      if (complaint === undefined) sent += 1;
      logger.warn({ chain: slug, sender, nonce, complaint }, 'sent a transaction again to close a nonce gap');
    }
  }
  return sent;
}
