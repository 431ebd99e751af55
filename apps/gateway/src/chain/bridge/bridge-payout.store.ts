import { statement } from '../../db/statement.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Authorization } from '../authorization/authorization.ts';
import type { Hex } from '../chain-settings.ts';
import type { SeenPayout } from './bridge-payout.ts';

/** All SQL of counting what bridges paid out. */

const insertClaim = statement<
  [authorizationId: string, txHash: string, at: Date],
  { authorization_id: string }
>(
  'bridge_payouts.claim',
  `INSERT INTO bridge_payout_claims (authorization_id, tx_hash, claimed_at) VALUES ($1, $2, $3)
   ON CONFLICT (authorization_id) DO NOTHING RETURNING authorization_id`,
);

const selectClaim = statement<[authorizationId: string], { tx_hash: Hex }>(
  'bridge_payouts.claimed',
  'SELECT tx_hash FROM bridge_payout_claims WHERE authorization_id = $1',
);

const deleteClaim = statement<[authorizationId: string]>(
  'bridge_payouts.unclaim',
  'DELETE FROM bridge_payout_claims WHERE authorization_id = $1',
);

const countPayout = statement<
  [chain: string, txHash: string, asset: string, recipient: string, received: bigint, amount: bigint],
  { counted: string }
>(
  'bridge_payouts.count',
  `INSERT INTO bridge_payouts AS p (destination_chain, tx_hash, asset, recipient, received, counted)
   VALUES ($1, $2, $3, lower($4), $5, $6)
   ON CONFLICT (destination_chain, tx_hash, asset, recipient) DO UPDATE
     SET counted = p.counted + excluded.counted, received = greatest(p.received, excluded.received)
     WHERE p.counted + excluded.counted <= greatest(p.received, excluded.received)
   RETURNING counted::text`,
);

/**
 * Counts a payout for a send-out. False where what it brought is needed for others that it was counted for before; counting
 * it again for the same send-out changes nothing.
 */
export async function claimPayout(
  unit: UnitOfWork,
  { authorizationId, bridge }: Authorization,
  txHash: Hex,
  { asset, received }: Pick<SeenPayout, 'asset' | 'received'>,
): Promise<boolean> {
  if (bridge === null) return false;
  const isNew = (await unit.tx.query(insertClaim, [authorizationId, txHash, unit.at])).length > 0;
  if (!isNew) {
    const [claim] = await unit.tx.query(selectClaim, [authorizationId]);
    return claim?.tx_hash === txHash;
  }
  const { destinationChain, destinationAddress, toAmount } = bridge;
  const counted = await unit.tx.query(countPayout, [
    destinationChain,
    txHash,
    asset,
    destinationAddress,
    received,
    BigInt(toAmount),
  ]);
  if (counted.length === 0) unit.tx.defer(deleteClaim, [authorizationId]);
  return counted.length > 0;
}
