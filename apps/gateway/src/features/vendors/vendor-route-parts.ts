import { Uuid } from '@causeway/protocol';
import { Type } from 'typebox';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import type { paymentInstructions } from '../orders/pay-instructions.ts';
import type { VendorTools } from './serve-order.ts';

/** Building blocks of the vendors' routes. */

type InstructionTools = Parameters<typeof paymentInstructions>[0];

export interface VendorRouteTools extends UnitTools, VendorTools, InstructionTools {
  /** Null where vendors may take as long as the order waits. */
  readonly vendorResponseSeconds: number | null;
}

export const TAG = 'Vendor';
export const ORDER = '/api/v1/vendor/orders/:order_id';
export const OrderParams = Type.Object({ order_id: Uuid });
export const ORDER_ERRORS = [
  'ORDER_NOT_FOUND',
  'INVALID_ORDER_ID',
  'INVALID_STATUS',
  'OPERATION_NOT_ALLOWED',
] as const;

export const PageQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, examples: [20] }),
  offset: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, examples: [0] }),
});
