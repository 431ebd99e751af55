import { CompactOrderSchema, GivenSignature, Uuid } from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { UnitTools } from '../../engine/unit-of-work.ts';
import { vendorMutation } from '../../http/route.ts';
import { signRelease, type VendorTools } from './serve-order.ts';
import { findVendor } from './vendor.store.ts';

export function registerVendorReleaseRoute(app: FastifyInstance, tools: UnitTools & VendorTools): void {
  vendorMutation(
    app,
    tools,
    {
      method: 'POST',
      url: '/api/v1/vendor/orders/:order_id/sign-release',
      operationId: 'signVendorRelease',
      tag: 'Vendor',
      summary: 'Sign the release after a dispute that was decided for the buyer',
      description: 'Off-ramp the vendor is the buyer and is paid by it; on-ramp the vendor gives in.',
      params: Type.Object({ order_id: Uuid }),
      body: Type.Object({ release_signature: GivenSignature }),
      data: CompactOrderSchema,
      errors: [
        'ORDER_NOT_FOUND',
        'INVALID_ORDER_ID',
        'INVALID_STATUS',
        'OPERATION_NOT_ALLOWED',
        'KYC_NOT_CLEARED',
        'WALLET_NOT_CLEARED',
        'INVALID_SIGNATURE',
      ],
    },
    async ({ params, body }, { vendorId }, unit) => {
      const [vendor] = await unit.tx.query(findVendor, [vendorId]);
      if (vendor === undefined) throw new Error(`there is no vendor ${vendorId}`);
      const given = async () => body.release_signature as `0x${string}`;
      const { order_id, status } = await signRelease(tools, unit, vendor, params.order_id, given);
      return { order_id, status };
    },
  );
}
