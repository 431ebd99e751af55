import { statement } from '../../db/statement.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Address } from '../chain-settings.ts';

/** All SQL of the nonces that wallets have at a forwarder: which are used, and which is the next. */

/** Whose sequence of nonces it is. */
export interface NonceOwner {
  readonly chainId: number;
  readonly forwarder: Address;
  readonly sender: Address;
}

const observeNonce = statement<
  [chainId: number, forwarder: string, sender: string, partnerId: string, nextNonce: bigint]
>(
  'chain.observe_forwarder_nonce',
  `INSERT INTO forwarder_nonces (chain_id, forwarder, sender, partner_id, next_nonce) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (chain_id, forwarder, sender, partner_id)
   DO UPDATE SET next_nonce = greatest(forwarder_nonces.next_nonce, excluded.next_nonce)`,
);

const noteSpentNonce = statement<[chainId: number, forwarder: string, sender: string, nextNonce: bigint]>(
  'chain.note_spent_forwarder_nonce',
  `UPDATE forwarder_nonces SET next_nonce = greatest(next_nonce, $4)
    WHERE chain_id = $1 AND forwarder = $2 AND sender = $3`,
);

const selectNext = statement<[chainId: number, forwarder: string, sender: string], { nonce: string }>(
  'chain.next_forward_nonce',
  'SELECT next_forward_nonce($1, $2, $3)::text AS nonce',
);

/**
 * The nonce the wallet's next request must carry: the lowest that the chain has not used and nothing that is signed holds.
 * That of a request which has lapsed is free again, and must be taken: those behind it wait for it. Takes the lock under
 * which it stays true until the transaction ends.
 */
export async function nextNonce(
  unit: UnitOfWork,
  owner: NonceOwner,
  partnerId: string,
  observedOnChain: bigint,
): Promise<bigint> {
  const { chainId, forwarder, sender } = owner;
  const [, [next]] = await unit.tx.queryBoth(
    observeNonce,
    [chainId, forwarder, sender, partnerId, observedOnChain],
    selectNext,
    [chainId, forwarder, sender],
  );
  if (next === undefined) throw new Error('there is always a next nonce');
  return BigInt(next.nonce);
}

export function noteSpent(unit: UnitOfWork, { chainId, forwarder, sender }: NonceOwner, nonce: bigint): void {
  unit.tx.defer(noteSpentNonce, [chainId, forwarder, sender, nonce + 1n]);
}
