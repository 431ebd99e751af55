import { Type } from 'typebox';
import { ACTORS, ORDER_TRIGGERS } from '../machines/index.ts';
import { DecimalString, EvmAddress, literals, Timestamp, Uuid } from './common.ts';
import { OrderStatusSchema } from './order.ts';

const Step = Type.Object({
  actor: literals(ACTORS),
  /** What has to happen, as the state tables name it. */
  fact: literals(ORDER_TRIGGERS),
});

/** Where the money of an order is, for somebody who has to explain it on the phone. */
export const OrderFundsSchema = Type.Object({
  order_id: Uuid,
  status: OrderStatusSchema,
  summary: Type.String({ description: 'One sentence in plain words' }),
  crypto_currency: Type.String(),
  chain: Type.String(),
  held_for_review: Type.Boolean(),
  escrow: Type.Union([
    Type.Object({
      address: EvmAddress,
      state: literals(['none', 'funded', 'releasing', 'refunding', 'emptied']),
      expected_amount: DecimalString,
      booked_amount: DecimalString,
      balance_on_chain: Type.Union([DecimalString, Type.Null()], {
        description: 'Read from the chain now; null while no node answers',
      }),
      owners: Type.Object({ service: EvmAddress, seller: EvmAddress, buyer: EvmAddress }),
    }),
    Type.Null(),
  ]),
  movements: Type.Array(
    Type.Object({
      kind: Type.String(),
      at: Timestamp,
      postings: Type.Array(
        Type.Object({
          account: Type.String(),
          asset: Type.String(),
          amount: Type.String({ description: 'Negative where the account then holds less' }),
        }),
      ),
    }),
  ),
  waiting_for: Type.Union([Step, Type.Null()]),
  deadline_at: Type.Union([Timestamp, Type.Null()]),
  who_can_move_it: Type.Array(Step),
});
