import { getAddress } from 'viem';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { IdGenerator } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Address } from '../chain-settings.ts';
import type { ConnectedChain } from '../chains.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import type { HotWallet } from './hot-wallets.ts';
import { firstTaken, insertGapFillers, openGapFillers, signedFrom } from './nonce-gaps.store.ts';
import { listSenders } from './transaction.store.ts';
import { broadcast, CallRevertsError, estimateGas, nonceAt } from './transaction-rpc.ts';
import type { Transactor } from './transactor.ts';

export interface GapDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly logger: Logger;
  readonly transactor: Transactor;
  readonly hotWallets: readonly HotWallet[];
}

/** While an effect's own intent is still at work, it sends its bytes itself. */
const GRACE_MS = 30_000;
const BATCH = 50;
/** So many times as long something has to wait behind a nonce that nothing of ours holds: another program may be about to use it. */
const FILL_AFTER_GRACES = 10;

/**
 * Everything behind a nonce that the chain expects and nobody uses waits for ever. Where a chain lost blocks (a rolled-back
 * local one, a deep reorganisation) the bytes that used it are kept, so they are sent again: the same effects under the same
 * nonces, and nothing new. Where nothing is stored (another program used the key, and what it sent was dropped), the wallet
 * pays itself nothing under it. Answers how many were sent again.
 */
export async function fillNonceGaps(
  deps: GapDeps,
  chain: ConnectedChain,
  graceMs = GRACE_MS,
): Promise<number> {
  const { db, clock, logger, hotWallets } = deps;
  const { settings, client } = chain;
  const { chainId, slug } = settings;
  const signedBefore = new Date(clock.now() - graceMs);
  const waitsSince = new Date(clock.now() - graceMs * FILL_AFTER_GRACES);
  const own = hotWallets.map(({ signer }) => getAddress(signer.address));
  let sent = 0;
  for (const { sender, nextNonce } of await listSenders(db, chainId)) {
    const expected = await nonceAt(client, sender, { blockTag: 'pending' });
    if (expected >= nextNonce) continue;
    const missing = await signedFrom(db, chainId, sender, expected, signedBefore, BATCH);
    for (const { nonce, raw } of missing) {
      const refusal = await broadcast(client, raw);
      if (refusal === undefined) sent += 1;
      logger.warn(
        { chain: slug, sender, nonce, complaint: refusal?.complaint },
        'sent a transaction again to close a nonce gap',
      );
    }
    if (own.includes(sender)) await takeUnknownNonces(deps, chain, { sender, expected, waitsSince });
  }
  await sendFillers(deps, chain, own);
  return sent;
}

/**
 * Only where nothing of ours was ever signed for a nonce and no node has anything for it: what is on its way is left alone.
 * They are committed before anything is signed, as any transaction is.
 */
async function takeUnknownNonces(
  { db, clock, ids, logger }: GapDeps,
  { settings, client }: ConnectedChain,
  { sender, expected, waitsSince }: { sender: Address; expected: number; waitsSince: Date },
): Promise<void> {
  const { chainId, slug } = settings;
  const taken = await firstTaken(db, chainId, sender, expected);
  if (taken === undefined || taken.nonce === expected || taken.since > waitsSince) return;
  const about = { chain: slug, sender, nonce: expected, nonces: taken.nonce - expected };
  const used = await nonceAt(client, sender, { blockTag: 'latest' });
  if (used !== expected || about.nonces > BATCH) {
    logger.error(about, 'transactions wait behind nonces that are not ours');
    return;
  }
  const gas = await gasOfNothing(client, sender);
  if (gas === undefined) return;
  const nonces = Array.from({ length: about.nonces }, (_, index) => expected + index);
  await insertGapFillers(
    db,
    { chainId, sender, gas, at: clock.date() },
    nonces.map((nonce) => ({ transactionId: ids.uuid(), nonce })),
  );
  logger.error(about, 'filling nonces that something else has left unused');
}

/** Undefined where the node would not take it: the wallets after this one must not wait for that. */
async function gasOfNothing(client: ChainClient, sender: Address): Promise<bigint | undefined> {
  try {
    return await estimateGas(client, sender, { to: sender, value: 0n, data: '0x' });
  } catch (error) {
    if (error instanceof CallRevertsError) return undefined;
    throw error;
  }
}

/** Signed, sent, paid better and settled as any other transaction: what else uses the nonce meanwhile displaces it. */
async function sendFillers(
  { db, logger, transactor }: GapDeps,
  { settings }: ConnectedChain,
  wallets: readonly Address[],
): Promise<void> {
  for (const effectKey of await openGapFillers(db, settings.chainId, wallets, BATCH)) {
    const progress = await transactor.advance(effectKey, async () => undefined);
    if (progress.state === 'pending' && progress.reason !== undefined) {
      const about = { chain: settings.slug, effect_key: effectKey, reason: progress.reason };
      logger.warn(about, 'filling a nonce gap waits');
    }
  }
}
