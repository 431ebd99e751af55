import { allowedActions, CausewayError, ORDER_MACHINES } from '@causeway/protocol';
import type { Execution } from '../../engine/execute.ts';
import { kycNotCleared } from '../quotes/claim-quote.ts';
import { factsOf } from './order.host.ts';
import type { OrderRow } from './order.types.ts';

type Refusal = Extract<Execution<OrderRow>, { kind: 'refused' }>;

/** What the caller of a refused action is told. */
export function refusedTransition({ code, row }: Refusal): CausewayError {
  switch (code) {
    case 'INVALID_STATUS':
      return new CausewayError('INVALID_STATUS', {
        details: {
          status: row.status,
          allowed_actions: allowedActions(ORDER_MACHINES[row.direction], row.status, factsOf(row)),
        },
      });
    case 'KYC_NOT_CLEARED':
      return kycNotCleared(row.kyc_status);
    default:
      return new CausewayError(code);
  }
}
