import { type CausewayError, INITIAL_ORDER_FACTS, type OrderSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { claimQuote } from '../quotes/claim-quote.ts';
import type { HonourTools } from '../quotes/honour-quote.ts';
import { type OrderHosts, storedFacts } from './order.host.ts';
import { refusedTransition } from './order.refusals.ts';
import type { OrderRow } from './order.types.ts';
import { orderView } from './order.view.ts';

export interface InitiateTools extends HonourTools {
  readonly orderHosts: OrderHosts;
}

export interface InitiateInput {
  readonly quote_id: string;
  readonly reference_id?: string;
}

/** Turns an active quote into an order, or leaves the quote as it was. */
export async function initiateOnramp(
  tools: InitiateTools,
  unit: UnitOfWork,
  input: InitiateInput,
): Promise<Static<typeof OrderSchema>> {
  const quote = await claimQuote(tools, unit, input.quote_id, 'onramp');
  const draft: OrderRow = {
    ...quote,
    is_new: true,
    order_id: unit.ids.uuid(),
    order_type: 'onramp',
    reference_id: input.reference_id ?? null,
    status: 'created',
    facts: storedFacts({ ...INITIAL_ORDER_FACTS, anchor: quote.anchor }),
    timeline: [],
    deadline_at: null,
    escrow: null,
    tx_hash: null,
    created_at: unit.at,
    updated_at: unit.at,
  };
  const execution = execute(unit, tools.orderHosts.onramp, draft, 'order_initiated', 'partner');
  if (execution.kind === 'refused') throw refusedTransition(execution) satisfies CausewayError;
  // The contract shows an empty timeline here; the entries are read with the order.
  return { ...orderView(execution.row), timeline: [] };
}
