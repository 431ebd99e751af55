import {
  CausewayError,
  CompactOrderSchema,
  DepositParams,
  DepositReturnParametersSchema,
  DepositStateSchema,
  OrderFundsSchema,
  OrderParams,
  RefundAuthorizationParametersSchema,
  SignatureInput,
} from '@causeway/protocol';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Value } from 'typebox/value';
import type { Chains } from '../../../chain/chains.ts';
import { partnerScope } from '../../../db/database.ts';
import { type UnitDeps, unitOfWork } from '../../../engine/unit-of-work.ts';
import type { PartnerPrincipal } from '../../../http/principals.ts';
import { route } from '../../../http/route.ts';
import {
  depositReturnParameters,
  lookBeforeSigning,
  type ReturnSigner,
  requireDepositToSign,
  requireSignable,
  signDepositReturn,
} from '../deposits/return-deposit.ts';
import { callerOf, readOrder, requireOrder } from '../lifecycle/act-on-order.ts';
import type { OrderAdapters } from '../lifecycle/order.adapter.ts';
import { authorizePayout, payoutAuthorizationParameters } from './authorize.ts';
import { type FundsDeps, readOrderFunds } from './order-funds.ts';

interface ReleaseDeps extends UnitDeps {
  readonly chains: Chains;
  readonly orderAdapters: OrderAdapters;
}

const ERRORS = [
  'ORDER_NOT_FOUND',
  'INVALID_ORDER_ID',
  'INVALID_STATUS',
  'OPERATION_NOT_ALLOWED',
  'KYC_NOT_CLEARED',
  'WALLET_NOT_CLEARED',
] as const;

/** How the buyer of an on-ramp order, the partner, is paid after a dispute although the vendor never signed. */
export function registerReleaseRoutes(app: FastifyInstance, deps: ReleaseDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/orders/:order_id/release-authorization-parameters',
    operationId: 'getReleaseAuthorizationParameters',
    tag: 'On-ramp',
    summary: 'Get the parameters to sign a release after a dispute decided for the partner',
    description:
      'Sign with signer_address. The transaction pays crypto_amount less platform_fee to recipient_address, which is the partner wallet, and the fee to the platform.',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    data: RefundAuthorizationParametersSchema,
    errors: ERRORS,
    handle: ({ params }, partner) =>
      payoutAuthorizationParameters(deps, callerOf(partner), params.order_id, 'release'),
  });

  route(app, {
    access: 'partner',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: '/api/v1/partner/orders/:order_id/authorize-release',
    operationId: 'authorizeRelease',
    tag: 'On-ramp',
    summary: 'Submit the signed release after a dispute decided for the partner',
    description:
      'Asked for by order.release.required; the order is completed once the chain has confirmed it.',
    params: OrderParams,
    requireSubject: requireOrder(deps),
    body: SignatureInput,
    data: CompactOrderSchema,
    errors: [...ERRORS, 'INVALID_SIGNATURE', 'ESCROW_SIGNER_MISMATCH'],
    handle: async ({ params, body }, _partner, unit) => {
      const { after } = await authorizePayout(deps, unit, params.order_id, {
        purpose: 'release',
        actor: 'partner',
        owners: ['buyer'],
        signature: body.signature,
      });
      return { order_id: after.order_id, status: after.status };
    },
  });
}

/** The support agent's question, answered from the books and from the chain. */
export function registerFundsRoute(app: FastifyInstance, deps: FundsDeps): void {
  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: '/api/v1/partner/orders/:order_id/funds',
    operationId: 'getOrderFunds',
    tag: 'Orders',
    summary: 'Get the funds of an order and the next step',
    params: OrderParams,
    data: OrderFundsSchema,
    errors: ['ORDER_NOT_FOUND', 'INVALID_ORDER_ID'],
    handle: async ({ params }, partner) => {
      const scope = partnerScope(partner.partnerId);
      const order = await readOrder(deps.db, scope, params.order_id);
      if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
      return readOrderFunds(deps, scope, order);
    },
  });
}

type DepositReturnDeps = UnitDeps & { readonly chains: Chains };

const DEPOSIT = '/api/v1/partner/deposits/:deposit_id';

const DEPOSIT_RETURN_ERRORS = [
  'DEPOSIT_NOT_FOUND',
  'INVALID_STATUS',
  'OPERATION_NOT_ALLOWED',
  'WALLET_NOT_CLEARED',
  'TRANSACTOR_UNAVAILABLE',
] as const;

function signerOf({ partnerId }: Pick<PartnerPrincipal, 'partnerId'>): ReturnSigner {
  return { actor: 'partner', scope: partnerScope(partnerId), owners: 'partner' };
}

/** The partner owns a third of every escrow of its orders: with its signature a mismatched deposit is returned. */
export function registerDepositReturnRoutes(app: FastifyInstance, deps: DepositReturnDeps): void {
  const requireOwnDeposit = async ({ principal, params }: FastifyRequest): Promise<void> => {
    if (!Value.Check(DepositParams, params)) return;
    await requireDepositToSign(deps, signerOf(principal as PartnerPrincipal), params.deposit_id);
  };

  route(app, {
    access: 'partner',
    transaction: 'none',
    method: 'GET',
    url: `${DEPOSIT}/return-authorization-parameters`,
    operationId: 'getReturnAuthorizationParameters',
    tag: 'Orders',
    summary: 'Get the parameters to sign the return of a mismatched deposit',
    description:
      'The operator has decided that it goes back; GET /partner/orders/{order_id}/funds shows it waiting for a signature. It pays recipient_address only.',
    params: DepositParams,
    requireSubject: requireOwnDeposit,
    data: DepositReturnParametersSchema,
    errors: DEPOSIT_RETURN_ERRORS,
    handle: ({ params }, partner) => depositReturnParameters(deps, signerOf(partner), params.deposit_id),
  });

  route(app, {
    access: 'partner',
    transaction: 'outside',
    deps,
    method: 'POST',
    url: `${DEPOSIT}/authorize-return`,
    operationId: 'authorizeReturn',
    tag: 'Orders',
    summary: 'Submit the signed return of a mismatched deposit',
    description:
      'The service adds its own signature and sends it; poll GET /partner/orders/{order_id}/funds.',
    params: DepositParams,
    requireSubject: requireOwnDeposit,
    body: SignatureInput,
    data: DepositStateSchema,
    errors: [...DEPOSIT_RETURN_ERRORS, 'INVALID_SIGNATURE', 'ESCROW_SIGNER_MISMATCH'],
    handle: async ({ params, body }, partner, outside) => {
      const signer = signerOf(partner);
      if (outside.isWritten) {
        const { deposit } = await requireDepositToSign(deps, signer, params.deposit_id);
        return { deposit_id: deposit.deposit_id, status: deposit.disposition };
      }
      await requireSignable(deps, signer, params.deposit_id);
      const sight = await lookBeforeSigning(deps, signer, params.deposit_id);
      const { after } = await unitOfWork(deps, signer.scope, async (unit) => {
        const signed = await signDepositReturn(deps, unit, signer, params.deposit_id, body.signature, sight);
        outside.written(unit);
        return signed;
      });
      return { deposit_id: after.deposit_id, status: after.disposition };
    },
  });
}
