import {
  DepositParams,
  DepositReturnParametersSchema,
  DepositStatusSchema,
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
} from './return-deposit.ts';

type DepositReturnDeps = UnitDeps & { readonly chains: Chains };

const DEPOSIT = '/api/v1/partner/deposits/:deposit_id';

const ERRORS = [
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
    errors: ERRORS,
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
    data: DepositStatusSchema,
    errors: [...ERRORS, 'INVALID_SIGNATURE', 'ESCROW_SIGNER_MISMATCH'],
    handle: async ({ params, body }, partner) => {
      const signer = signerOf(partner);
      await requireSignable(deps, signer, params.deposit_id);
      const sight = await lookBeforeSigning(deps, signer, params.deposit_id);
      const { after } = await unitOfWork(deps, signer.scope, (unit) =>
        signDepositReturn(deps, unit, signer, params.deposit_id, body.signature, sight),
      );
      return { deposit_id: after.deposit_id, status: after.disposition };
    },
  });
}
