import {
  DecimalString,
  EvmAddress,
  literals,
  OPERATOR_TAG,
  OrderStatusSchema,
  oneOf,
  Uuid,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Chains } from '../../../chain/chains.ts';
import type { Database } from '../../../db/database.ts';
import { route } from '../../../http/route.ts';
import { checkBooks, compareEscrows } from '../../orders/escrow/reconcile-escrows.ts';

const ComparisonSchema = Type.Object({
  order_id: Uuid,
  partner_id: Uuid,
  status: Type.Unsafe<string>(OrderStatusSchema),
  escrow_address: EvmAddress,
  escrow_state: literals(['none', 'funded', 'releasing', 'refunding', 'emptied']),
  asset: Type.String({ examples: ['USDC@base-mainnet'] }),
  booked: DecimalString,
  on_chain: Type.Union([DecimalString, Type.Null()]),
  difference: Type.Union([DecimalString, Type.Null()], { description: 'On chain less booked' }),
  verdict: literals(['equal', 'in_flight', 'different', 'unreachable']),
});

/** Whether the books agree with themselves and with the chain. */
export function registerReconciliationRoutes(
  app: FastifyInstance,
  deps: { readonly db: Database; readonly chains: Chains },
): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/operator/reconciliation',
    operationId: 'reconcile',
    tag: OPERATOR_TAG,
    summary: 'Compare the books with themselves and with the chain',
    description:
      'books: every asset must sum to zero. escrows: what the books say each holds, against the chain now, a page at a time, oldest order first. in_flight is a payment that the chain shows and the books await as final; different needs a person. Escrows that agree are counted and not listed.',
    query: Type.Object({
      scope: Type.Optional(
        Type.Unsafe<'open' | 'all'>({
          ...oneOf(['open', 'all']),
          default: 'open',
          description: 'open: escrows that hold or await something. all: every escrow there ever was',
        }),
      ),
      limit: Type.Integer({ minimum: 1, maximum: 500, default: 200, examples: [200] }),
      cursor: Type.Optional(Uuid),
    }),
    data: Type.Object({
      books: Type.Array(
        Type.Object({
          asset: Type.String({ examples: ['USDC@base-mainnet'] }),
          sum: Type.String({ description: 'Atomic units', examples: ['0'] }),
          balanced: Type.Boolean(),
        }),
      ),
      escrows: Type.Object({
        checked: Type.Integer({ examples: [42] }),
        equal: Type.Integer({ examples: [41] }),
        in_flight: Type.Array(ComparisonSchema),
        different: Type.Array(ComparisonSchema),
        unreachable: Type.Array(ComparisonSchema),
      }),
      next_cursor: Type.Union([Uuid, Type.Null()], { description: 'Null when all have been looked at' }),
    }),
    handle: async ({ query: { scope = 'open', limit, cursor = null } }) => {
      const [books, compared] = await Promise.all([
        checkBooks(deps.db),
        compareEscrows(deps, scope, { after: cursor, limit }),
      ]);
      const of = (verdict: string) => compared.filter((one) => one.verdict === verdict);
      return {
        books,
        escrows: {
          checked: compared.length,
          equal: of('equal').length,
          in_flight: of('in_flight'),
          different: of('different'),
          unreachable: of('unreachable'),
        },
        next_cursor: compared.length === limit ? (compared.at(-1)?.order_id ?? null) : null,
      };
    },
  });
}
