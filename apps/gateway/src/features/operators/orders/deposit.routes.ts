import {
  DepositDecisionInput,
  DepositDecisionSchema,
  DepositParams,
  DepositQuery,
  DepositReturnParametersSchema,
  DepositSignatureInput,
  DepositStateSchema,
  OPERATOR_TAG,
  OperatorDepositListSchema,
} from '@causeway/protocol';
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { toChecksumAddress } from '../../../chain/chain-settings.ts';
import { SYSTEM } from '../../../db/database.ts';
import { recordAction } from '../../../engine/audit.ts';
import type { UnitDeps } from '../../../engine/unit-of-work.ts';
import { invalidRequest } from '../../../http/errors.ts';
import { route } from '../../../http/route.ts';
import {
  type DepositDecisionDeps,
  decideDeposit,
  lockDeposit,
  lookAtDeposit,
} from '../../orders/deposits/decide-deposit.ts';
import { readDeposits } from '../../orders/deposits/deposit.view.ts';
import {
  depositReturnParameters,
  lookBeforeSigning,
  type ReturnSigner,
  signDepositReturn,
} from '../../orders/deposits/return-deposit.ts';
import { larger, valueOfOrder, valueOfTokens } from './moved-value.ts';

type DepositRouteDeps = UnitDeps & DepositDecisionDeps;

const DEPOSITS = '/api/v1/operator/deposits';

const ERRORS = [
  'DEPOSIT_NOT_FOUND',
  'INVALID_STATUS',
  'OPERATION_NOT_ALLOWED',
  'WALLET_NOT_CLEARED',
  'TRANSACTOR_UNAVAILABLE',
] as const;

const OPERATOR: ReturnSigner = { actor: 'operator', scope: SYSTEM, owners: ['seller', 'buyer'] };

/** Payments into escrows that are not exactly what was awaited: what an operator sees and does about them. */
export function registerDepositRoutes(app: FastifyInstance, deps: DepositRouteDeps): void {
  registerQueue(app, deps);
  registerDecision(app, deps);
  registerSignature(app, deps);
}

function registerQueue(app: FastifyInstance, deps: DepositRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: DEPOSITS,
    operationId: 'listDeposits',
    tag: OPERATOR_TAG,
    summary: 'List deposits into escrows, longest first',
    description: 'Deposits in held_for_review wait for a decision.',
    query: DepositQuery,
    data: OperatorDepositListSchema,
    handle: async ({ query: { limit, offset, status, kind, order_id, partner_id } }) => {
      const filter = { status, kind, orderId: order_id, partnerId: partner_id, limit, offset };
      const { deposits, total } = await readDeposits(deps, filter);
      return { deposits, pagination: { total, limit, offset } };
    },
  });
}

function registerDecision(app: FastifyInstance, deps: DepositRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${DEPOSITS}/:deposit_id/decision`,
    operationId: 'decideDeposit',
    tag: OPERATOR_TAG,
    summary: 'Accept or return a deposit',
    description:
      'accept: the order goes on, if what is held covers what it needs; several deposits count together, and what is left over goes back to its payer. return: to the payer, once the order does not need the escrow and one of its owners has signed; return_to names another address where the payer cannot be paid, and is part of the audit log. hold takes back a return that is not signed yet. dismiss closes a token that the chain is not configured for.',
    params: DepositParams,
    body: DepositDecisionInput,
    data: DepositDecisionSchema,
    errors: [...ERRORS, 'KYC_NOT_CLEARED'],
    secondApproval: {
      amountOf: async ({ params, body }, unit) => {
        // Taking a decision back moves nothing, and a token that is dismissed stays where it is.
        if (body.decision === 'hold' || body.decision === 'dismiss') return undefined;
        const { order, deposit } = await lockDeposit(unit, params.deposit_id);
        const { settings } = deps.chains.get(order.chain);
        const paid = valueOfTokens(settings, deposit.token, BigInt(deposit.amount));
        return body.decision === 'accept' ? larger(paid, valueOfOrder(order)) : paid;
      },
      subjectOf: ({ params }) => `deposits/${params.deposit_id}`,
      describe: ({ body }) => describeDecision(body),
    },
    readFirst: ({ params, body }) => lookAtDeposit(deps, params.deposit_id, body.decision, payeeOf(body)),
    handle: async ({ params, body }, operator, unit, seen) => {
      const returnTo = payeeOf(body);
      const made = { decision: body.decision, ...(returnTo === undefined ? {} : { returnTo }) };
      const { before, after, orderStatus } = await decideDeposit(deps, unit, params.deposit_id, made, seen);
      recordAction(unit, operator, {
        action: `deposit.${body.decision}`,
        subject: `deposits/${after.deposit_id}`,
        reason: body.reason,
        before: { status: before.disposition, amount: before.amount, sender: before.sender },
        after: {
          status: after.disposition,
          credited: after.credited_amount,
          return_to: after.return_to,
          return_amount: after.return_amount,
          order_id: after.order_id,
          order_status: orderStatus,
        },
      });
      return {
        deposit_id: after.deposit_id,
        status: after.disposition,
        order_id: after.order_id,
        order_status: orderStatus,
        credited_atomic: after.credited_amount,
        return_to: after.return_to,
        return_atomic: after.return_amount,
      };
    },
  });
}

function describeDecision({ decision, return_to }: Static<typeof DepositDecisionInput>): string {
  switch (decision) {
    case 'accept':
      return 'Accept the deposit: the order goes on with it, and what is too much goes back to its payer.';
    case 'return':
      return return_to === undefined
        ? 'Return the deposit to the address that paid it.'
        : `Return the deposit to ${return_to}, which is not the address that paid it.`;
    case 'hold':
      return 'Take back the decision about the deposit.';
    case 'dismiss':
      return 'Close the deposit: the token stays where it is.';
  }
}

function payeeOf(body: { readonly decision: string; readonly return_to?: string }) {
  if (body.return_to === undefined) return undefined;
  if (body.decision !== 'return') throw invalidRequest('return_to', 'belongs to return only');
  const payee = toChecksumAddress(body.return_to);
  if (payee === undefined) throw invalidRequest('return_to', 'is no address, or its checksum is wrong');
  return payee;
}

function registerSignature(app: FastifyInstance, deps: DepositRouteDeps): void {
  route(app, {
    access: 'operator',
    transaction: 'none',
    method: 'GET',
    url: `${DEPOSITS}/:deposit_id/signing-parameters`,
    operationId: 'getDepositSigningParameters',
    tag: OPERATOR_TAG,
    summary: 'Get the parameters to sign the return of a deposit',
    params: DepositParams,
    data: DepositReturnParametersSchema,
    errors: ERRORS,
    handle: ({ params }) => depositReturnParameters(deps, OPERATOR, params.deposit_id),
  });

  route(app, {
    access: 'operator',
    transaction: 'unit',
    deps,
    method: 'POST',
    url: `${DEPOSITS}/:deposit_id/signature`,
    operationId: 'submitDepositSignature',
    tag: OPERATOR_TAG,
    summary: 'Submit an owner’s signature for the return of a deposit',
    description: 'The owner is recovered from the signature. The service adds its own.',
    params: DepositParams,
    body: DepositSignatureInput,
    data: DepositStateSchema,
    errors: [...ERRORS, 'INVALID_SIGNATURE', 'ESCROW_SIGNER_MISMATCH'],
    secondApproval: {
      amountOf: async ({ params }, unit) => {
        const { order, deposit } = await lockDeposit(unit, params.deposit_id);
        const { settings } = deps.chains.get(order.chain);
        return valueOfTokens(settings, deposit.token, BigInt(deposit.return_amount ?? deposit.amount));
      },
      subjectOf: ({ params }) => `deposits/${params.deposit_id}`,
      describe: () => 'Hand in an owner’s signature: the deposit is paid back as it was decided.',
    },
    readFirst: ({ params }) => lookBeforeSigning(deps, OPERATOR, params.deposit_id),
    handle: async ({ params, body }, operator, unit, sight) => {
      const { deposit_id } = params;
      const { before, after } = await signDepositReturn(
        deps,
        unit,
        OPERATOR,
        deposit_id,
        body.signature,
        sight,
      );
      recordAction(unit, operator, {
        action: 'deposit.signature',
        subject: `deposits/${after.deposit_id}`,
        reason: body.reason,
        before: { status: before.disposition },
        after: { status: after.disposition, nonce: after.return_nonce },
      });
      return { deposit_id: after.deposit_id, status: after.disposition };
    },
  });
}
