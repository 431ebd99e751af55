import { formatFixed, type OrderFundsSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { tokenByCode } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import { tokenBalance } from '../../chain/token-reads.ts';
import type { Database, Scope } from '../../db/database.ts';
import { depositOf } from './order.escrow.ts';
import { type MovementRow, movementsOfOrder } from './order.store.ts';
import type { OrderRow } from './order.types.ts';
import { waitingFor, whoCanMove } from './order-steps.ts';

export interface FundsTools {
  readonly db: Database;
  readonly chains: Chains;
}

export type OrderFunds = Static<typeof OrderFundsSchema>;

const WHERE: Readonly<Record<OrderRow['facts']['escrow'], string>> = {
  none: 'Nothing has been paid into the escrow.',
  funded: 'The crypto is in the escrow.',
  releasing: 'The crypto is on its way from the escrow to the buyer.',
  refunding: 'The crypto is on its way from the escrow back to the seller.',
  emptied: 'The escrow has been paid out.',
};

/** Where an order's money is, from the books and from the chain. */
export async function readOrderFunds(
  { db, chains }: FundsTools,
  scope: Scope,
  order: OrderRow,
): Promise<OrderFunds> {
  const [movements, onChain] = await Promise.all([
    db.query(scope, movementsOfOrder, [order.order_id]),
    escrowBalance(chains, order),
  ]);
  return fundsView(order, movements, onChain);
}

/** Null where no node answers: the books are still worth reading then. */
async function escrowBalance(chains: Chains, order: OrderRow): Promise<bigint | null> {
  if (order.escrow === null) return null;
  const { client, settings } = chains.get(order.chain);
  const token = tokenByCode(settings, order.crypto_currency).address;
  return tokenBalance(client, token, order.escrow.address).catch(() => null);
}

function fundsView(order: OrderRow, movements: readonly MovementRow[], onChain: bigint | null): OrderFunds {
  const next = waitingFor(order);
  const human = (amount: bigint) => formatFixed(amount, order.crypto_decimals);
  const written = (asset: string, amount: bigint) =>
    asset === order.fiat_currency ? formatFixed(amount, order.fiat_decimals) : human(amount);
  const booked = movements
    .filter(({ account }) => account === `escrow:${order.order_id}`)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return {
    order_id: order.order_id,
    status: order.status,
    summary: [
      WHERE[order.facts.escrow],
      ...(order.facts.held ? ['It is held for review.'] : []),
      next === null ? 'Nobody has to act.' : `Next: ${next.actor} (${next.fact.replaceAll('_', ' ')}).`,
    ].join(' '),
    crypto_currency: order.crypto_currency,
    chain: order.chain,
    held_for_review: order.facts.held,
    escrow:
      order.escrow === null
        ? null
        : {
            address: order.escrow.address,
            state: order.facts.escrow,
            expected_amount: human(depositOf(order)),
            booked_amount: human(booked),
            balance_on_chain: onChain === null ? null : human(onChain),
            owners: {
              service: order.escrow.service,
              seller: order.escrow.seller,
              buyer: order.escrow.buyer,
            },
          },
    movements: movementsView(movements, written),
    waiting_for: next,
    deadline_at: order.deadline_at?.toISOString() ?? null,
    who_can_move_it: whoCanMove(order),
  };
}

function movementsView(
  rows: readonly MovementRow[],
  written: (asset: string, amount: bigint) => string,
): OrderFunds['movements'] {
  const byKind = Map.groupBy(rows, ({ kind }) => kind);
  return [...byKind].map(([kind, postings]) => ({
    kind,
    at: postings[0]?.at.toISOString() ?? '',
    postings: postings.map(({ account, asset, amount }) => ({
      account,
      asset,
      amount: written(asset, BigInt(amount)),
    })),
  }));
}
