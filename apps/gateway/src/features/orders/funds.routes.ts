import { CausewayError, formatFixed, OrderFundsSchema, Uuid } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { type Static, Type } from 'typebox';
import { tokenByCode } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import { tokenBalance } from '../../chain/token-reads.ts';
import { type Database, partnerScope } from '../../db/database.ts';
import { partnerRoute } from '../../http/route.ts';
import { depositOf } from './order.escrow.ts';
import { type MovementRow, movementsOfOrder } from './order.store.ts';
import type { OrderRow } from './order.types.ts';
import { waitingFor, whoCanMove } from './order-steps.ts';
import { readOrder } from './read-order.ts';

interface FundsTools {
  readonly db: Database;
  readonly chains: Chains;
}

type Funds = Static<typeof OrderFundsSchema>;

const WHERE: Readonly<Record<OrderRow['facts']['escrow'], string>> = {
  none: 'Nothing has been paid into the escrow.',
  funded: 'The crypto is in the escrow.',
  releasing: 'The crypto is on its way from the escrow to the buyer.',
  refunding: 'The crypto is on its way from the escrow back to the seller.',
  emptied: 'The escrow has been paid out.',
};

/** The support agent's question, answered from the books and from the chain. */
export function registerFundsRoute(app: FastifyInstance, tools: FundsTools): void {
  partnerRoute(
    app,
    {
      method: 'GET',
      url: '/api/v1/partner/orders/:order_id/funds',
      operationId: 'getOrderFunds',
      tag: 'Orders',
      summary: 'Where the money of an order is, and who must act next',
      params: Type.Object({ order_id: Uuid }),
      data: OrderFundsSchema,
      errors: ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID'],
    },
    async ({ params }, partner) => {
      const scope = partnerScope(partner.partnerId);
      const [order, movements] = await Promise.all([
        readOrder(tools.db, scope, params.order_id),
        tools.db.query(scope, movementsOfOrder, [params.order_id]),
      ]);
      if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
      return fundsView(order, movements, await escrowBalance(tools.chains, order));
    },
  );
}

/** Null where no node answers: the books are still worth reading then. */
async function escrowBalance(chains: Chains, order: OrderRow): Promise<bigint | null> {
  if (order.escrow === null) return null;
  const { client, settings } = chains.get(order.chain);
  const token = tokenByCode(settings, order.crypto_currency).address;
  return tokenBalance(client, token, order.escrow.address).catch(() => null);
}

function fundsView(order: OrderRow, movements: readonly MovementRow[], onChain: bigint | null): Funds {
  const next = waitingFor(order);
  const human = (amount: bigint) => formatFixed(amount, order.crypto_decimals);
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
    movements: movementsView(movements, human),
    waiting_for: next,
    deadline_at: order.deadline_at?.toISOString() ?? null,
    who_can_move_it: whoCanMove(order),
  };
}

function movementsView(rows: readonly MovementRow[], human: (amount: bigint) => string): Funds['movements'] {
  const byKind = Map.groupBy(rows, ({ kind }) => kind);
  return [...byKind].map(([kind, postings]) => ({
    kind,
    at: postings[0]?.at.toISOString() ?? '',
    postings: postings.map(({ account, asset, amount }) => ({
      account,
      asset,
      amount: human(BigInt(amount)),
    })),
  }));
}
