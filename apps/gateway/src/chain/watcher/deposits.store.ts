import {
  DEPOSIT_STATUSES,
  decide,
  depositMachine,
  INITIAL_DEPOSIT_FACTS,
  isTerminal,
  NEW,
} from '@causeway/protocol';
import { sqlWords, statement } from '../../db/statement.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { giveWay } from '../../lib/pacing.ts';
import type { Address, Hex } from '../chain-settings.ts';
import type { Deposit, DepositKind } from './chain-facts.ts';

/** What was paid into escrows, as the watcher found it. */

type DepositRef = Pick<Deposit, 'txHash' | 'logIndex'>;

const ROWS_A_STATEMENT = 200;

const selectFunded = statement<[chainId: number, addresses: readonly string[]], { address: Address }>(
  'chain.funded_escrows',
  `SELECT address FROM deposit_observations
    WHERE chain_id = $1 AND (kind = 'exact' OR credited_amount > 0) AND address = ANY($2::text[])`,
);

const selectDeposits = statement<
  [chainId: number, txHashes: readonly string[], logIndexes: readonly number[]],
  { tx_hash: Hex; log_index: number }
>(
  'chain.known_deposits',
  `SELECT d.tx_hash, d.log_index FROM unnest($2::text[], $3::integer[]) AS seen (tx_hash, log_index)
     JOIN deposit_observations d ON d.chain_id = $1 AND d.tx_hash = seen.tx_hash AND d.log_index = seen.log_index`,
);

const selectDepositIn = statement<[orderId: string, txHash: string], { kind: DepositKind }>(
  'chain.deposit_in',
  'SELECT kind FROM deposit_observations WHERE order_id = $1 AND tx_hash = $2 LIMIT 1',
);

const OPEN = sqlWords(DEPOSIT_STATUSES.filter((status) => !isTerminal(depositMachine, status)));

const selectSignedReturns = statement<[orderIds: readonly string[]], { order_id: string }>(
  'chain.orders_with_signed_returns',
  `SELECT DISTINCT order_id FROM deposit_observations
    WHERE order_id = ANY($1::uuid[]) AND return_nonce IS NOT NULL AND disposition IN (${OPEN})`,
);

const insertDeposits = statement<
  [
    chainId: number,
    txHashes: readonly string[],
    logIndexes: readonly number[],
    blockNumbers: readonly string[],
    blockHashes: readonly string[],
    addresses: readonly string[],
    orderIds: readonly string[],
    partnerIds: readonly string[],
    tokens: readonly string[],
    senders: readonly string[],
    amounts: readonly string[],
    kinds: readonly string[],
    dispositions: readonly string[],
    depositIds: readonly string[],
    at: Date,
  ]
>(
  'chain.insert_deposits',
  `INSERT INTO deposit_observations (chain_id, tx_hash, log_index, block_number, block_hash, address, order_id,
     partner_id, token, sender, amount, kind, disposition, deposit_id, observed_at)
   SELECT $1, tx_hash, log_index, block_number, block_hash, address, order_id, partner_id, token, sender, amount, kind,
          disposition, deposit_id, $15
     FROM unnest($2::text[], $3::integer[], $4::bigint[], $5::text[], $6::text[], $7::uuid[], $8::uuid[], $9::text[],
                 $10::text[], $11::numeric[], $12::text[], $13::text[], $14::uuid[])
       AS paid (tx_hash, log_index, block_number, block_hash, address, order_id, partner_id, token, sender, amount, kind,
                disposition, deposit_id)`,
);

/** What is needed to judge these deposits: which of their escrows are funded, and which of them are on record. */
export async function readKnown(
  unit: UnitOfWork,
  chainId: number,
  deposits: readonly Pick<Deposit, 'escrow' | 'txHash' | 'logIndex'>[],
): Promise<{ readonly funded: Set<Address>; isKnown(deposit: DepositRef): boolean }> {
  const [funded, known] = await unit.tx.queryBoth(
    selectFunded,
    [chainId, [...new Set(deposits.map(({ escrow }) => escrow))]],
    selectDeposits,
    [chainId, deposits.map(({ txHash }) => txHash), deposits.map(({ logIndex }) => logIndex)],
  );
  const places = new Set(known.map(({ tx_hash, log_index }) => `${tx_hash}:${log_index}`));
  return {
    funded: new Set(funded.map(({ address }) => address)),
    isKnown: ({ txHash, logIndex }) => places.has(`${txHash}:${logIndex}`),
  };
}

/** Whether this transaction paid something into the order's escrow. */
export async function hasDepositIn(unit: UnitOfWork, orderId: string, txHash: Hex): Promise<boolean> {
  return (await unit.tx.query(selectDepositIn, [orderId, txHash])).length > 0;
}

/** Of these orders, those with a deposit whose return two owners have signed and which is not back yet. */
export async function ordersWithSignedReturns(
  unit: UnitOfWork,
  orderIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (orderIds.length === 0) return new Set();
  const rows = await unit.tx.query(selectSignedReturns, [orderIds]);
  return new Set(rows.map(({ order_id }) => order_id));
}

/** However many they are, they travel together, and no other work waits while they are written. */
export async function recordDeposits(
  unit: UnitOfWork,
  chainId: number,
  deposits: readonly Deposit[],
): Promise<void> {
  for (let start = 0; start < deposits.length; start += ROWS_A_STATEMENT) {
    await giveWay(start);
    const some = deposits.slice(start, start + ROWS_A_STATEMENT);
    unit.tx.defer(insertDeposits, [
      chainId,
      some.map(({ txHash }) => txHash),
      some.map(({ logIndex }) => logIndex),
      some.map(({ blockNumber }) => `${blockNumber}`),
      some.map(({ blockHash }) => blockHash),
      some.map(({ escrow }) => escrow),
      some.map(({ orderId }) => orderId),
      some.map(({ partnerId }) => partnerId),
      some.map(({ token }) => token),
      some.map(({ sender }) => sender),
      some.map(({ amount }) => `${amount}`),
      some.map(({ kind }) => kind),
      some.map(({ kind }) => firstDisposition(kind)),
      some.map(({ depositId }) => depositId),
      unit.at,
    ]);
  }
}

/** What the table says of a deposit that has just been found. */
function firstDisposition(kind: DepositKind): string {
  const trigger = kind === 'exact' ? 'paid_exactly' : 'paid_oddly';
  const decision = decide(depositMachine, NEW, trigger, INITIAL_DEPOSIT_FACTS, 'chain');
  if (decision.kind === 'refused') throw new Error(`a deposit cannot begin as ${kind}`);
  return decision.transition.to;
}
