import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Actor,
  CausewayError,
  decide,
  type ErrorCode,
  type ForwardRequestInput,
  ORDER_MACHINES,
  type OrderTrigger,
  type RefundAnswerSchema,
  type RefundAuthorizationParametersSchema,
  type TransferAuthorizationParametersSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import {
  acceptAuthorization,
  acceptOwnerSignature,
  type EscrowOwner,
  payoutParameters,
} from '../../../chain/authorization/accept-authorization.ts';
import { transferParameters } from '../../../chain/authorization/authorization.ts';
import { issueAuthorization } from '../../../chain/authorization/issue-authorization.ts';
import { type Hex, tokenByCode } from '../../../chain/chain-settings.ts';
import type { Chains } from '../../../chain/chains.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../../engine/unit-of-work.ts';
import type { OutsideWork } from '../../../http/idempotency.ts';
import {
  loadOrderForAction,
  moveOrder,
  type OrderCaller,
  readOrder,
  refusedTransition,
} from '../lifecycle/act-on-order.ts';
import { factsOf, type OrderAdapters } from '../lifecycle/order.adapter.ts';
import type { OrderEscrow, OrderRow } from '../lifecycle/order.ts';
import {
  depositOf,
  ensureEscrow,
  type PayoutPurpose,
  payoutOf,
  recordSignature,
  releasedOf,
} from './escrow.ts';

export interface SignedTransfer {
  readonly forward_request: Static<typeof ForwardRequestInput>;
  readonly signature: string;
}

type SigningParameters = Static<typeof RefundAuthorizationParametersSchema>;

/** The order a caller wants to sign something for, refused as the signed request itself would be. */
export async function orderToSign(
  deps: UnitDeps,
  { scope, actor }: OrderCaller,
  orderId: string,
  trigger: OrderTrigger,
): Promise<OrderRow> {
  const order = await readOrder(deps.db, scope, orderId);
  if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
  const machine = ORDER_MACHINES[order.direction];
  const decision = decide(machine, order.status, trigger, factsOf(order), actor);
  if (decision.kind === 'refused') {
    throw refusedTransition({ kind: 'refused', code: decision.code, row: order }, actor);
  }
  return order;
}

export function escrowOfOrder(order: OrderRow): OrderEscrow {
  if (order.escrow === null) throw new Error(`order ${order.order_id} has no escrow`);
  return order.escrow;
}

/** What the wallet of partner or customer signs to pay its deposit into the escrow. */
export async function transferAuthorizationParameters(
  deps: UnitDeps & { readonly chains: Chains },
  caller: OrderCaller,
  orderId: string,
): Promise<Static<typeof TransferAuthorizationParametersSchema>> {
  const wanted = await orderToSign(deps, caller, orderId, 'transfer_authorized');
  const order = await ensureEscrow(deps, wanted);
  const escrow = escrowOfOrder(order);
  const chain = deps.chains.get(order.chain);
  const token = tokenByCode(chain.settings, order.crypto_currency);
  const authorization = await issueAuthorization(deps, chain, {
    orderId,
    partnerId: order.partner_id,
    sender: escrow.seller,
    token: token.address,
    amount: depositOf(order),
    recipient: escrow.address,
  });
  return transferParameters(chain.settings, token, authorization);
}

/** What the partner's route and the widget's answer besides what every action may. */
export const TRANSFER_AUTHORIZATION_ERRORS = [
  'KYC_NOT_CLEARED',
  'RECIPIENT_NOT_CLEARED',
  'WALLET_NOT_CLEARED',
  'INVALID_FORWARD_REQUEST',
  'INVALID_SIGNATURE',
  'NONCE_ALREADY_USED',
] as const satisfies readonly ErrorCode[];

export async function authorizeCryptoTransfer(
  deps: { readonly chains: Chains; readonly orderAdapters: OrderAdapters },
  unit: UnitOfWork,
  orderId: string,
  signed: SignedTransfer,
  actor: OrderCaller['actor'] = 'partner',
): Promise<OrderRow> {
  const order = await loadOrderForAction(unit, orderId);
  const authorized = moveOrder(unit, deps.orderAdapters, order, 'transfer_authorized', actor);
  await acceptAuthorization(unit, deps.chains.get(order.chain).settings, {
    orderId,
    purpose: 'funding',
    forwardRequest: signed.forward_request,
    signature: signed.signature,
  });
  return authorized;
}

/** The fact that a handed-over signature reports. */
const SIGNED: Readonly<Record<PayoutPurpose, OrderTrigger>> = {
  release: 'release_authorized',
  refund: 'refund_authorized',
};

/** The Safe's own transaction that pays the escrow out, as one of its owners signs it. */
export function signingParameters(
  chains: Chains,
  order: OrderRow,
  purpose: PayoutPurpose,
  signer: EscrowOwner,
): SigningParameters {
  const chain = chains.get(order.chain);
  const { escrow, transaction } = payoutOf(chain, order, purpose);
  return payoutParameters(chain.settings, tokenByCode(chain.settings, order.crypto_currency), {
    orderId: order.order_id,
    purpose,
    escrow,
    transaction,
    amount: purpose === 'refund' ? depositOf(order) : releasedOf(order),
    signer,
  });
}

/** What partner or customer signs: to get its deposit back, or to be paid after a dispute that was decided for it. */
export async function payoutAuthorizationParameters(
  deps: UnitDeps & { readonly chains: Chains },
  caller: OrderCaller,
  orderId: string,
  purpose: PayoutPurpose,
): Promise<SigningParameters> {
  const order = await orderToSign(deps, caller, orderId, SIGNED[purpose]);
  return signingParameters(deps.chains, order, purpose, purpose === 'refund' ? 'seller' : 'buyer');
}

/**
 * Takes an owner's signature of a payout and keeps it, whoever hands it over: a partner, a vendor, an operator for one
 * of them. The service adds its own and executes.
 */
export async function acceptPayoutSignature(
  chains: Chains,
  unit: UnitOfWork,
  order: OrderRow,
  purpose: PayoutPurpose,
  owners: readonly EscrowOwner[],
  sign: (hash: Hex) => Promise<string>,
): Promise<void> {
  const { escrow, hash } = payoutOf(chains.get(order.chain), order, purpose);
  const accepted = await acceptOwnerSignature(escrow, hash, owners, await sign(hash));
  recordSignature(unit, order, purpose, accepted.signer, accepted.signature);
}

/** Whether the order waits for a signature is asked first: one is looked at only where it could be used. */
export async function authorizePayout(
  deps: { readonly chains: Chains; readonly orderAdapters: OrderAdapters },
  unit: UnitOfWork,
  orderId: string,
  given: {
    readonly purpose: PayoutPurpose;
    readonly actor: Actor;
    readonly owners: readonly EscrowOwner[];
    readonly signature: string;
  },
): Promise<{ readonly before: OrderRow; readonly after: OrderRow }> {
  const { purpose, actor, owners, signature } = given;
  const order = await loadOrderForAction(unit, orderId);
  const after = moveOrder(unit, deps.orderAdapters, order, SIGNED[purpose], actor);
  await acceptPayoutSignature(deps.chains, unit, order, purpose, owners, async () => signature);
  return { before: order, after };
}

/** Well within what a caller waits for an answer. */
const WAIT_MS = 10_000;
const LOOK_AGAIN_MS = 100;

/** Authorizes the refund, and answers its transaction where the chain is quick enough. */
export async function refundDeposit(
  deps: UnitDeps & { readonly chains: Chains; readonly orderAdapters: OrderAdapters },
  { scope, actor }: OrderCaller,
  orderId: string,
  signature: string,
  outside: OutsideWork,
  waitMs = WAIT_MS,
): Promise<Static<typeof RefundAnswerSchema>> {
  const given = { purpose: 'refund', actor, owners: ['seller'], signature } as const;
  const known = outside.isWritten ? await readOrder(deps.db, scope, orderId) : undefined;
  let order =
    known ??
    (await unitOfWork(deps, scope, async (unit) => {
      const { after } = await authorizePayout(deps, unit, orderId, given);
      outside.written(unit);
      return after;
    }));
  for (let waited = 0; isInFlight(order) && waited < waitMs; waited += LOOK_AGAIN_MS) {
    await sleep(LOOK_AGAIN_MS);
    order = (await readOrder(deps.db, scope, orderId)) ?? order;
  }
  const { status, facts, tx_hash: txHash } = order;
  const isRefunded = facts.escrow === 'emptied' && txHash !== null;
  return { order_id: orderId, status, ...(isRefunded ? { tx_hash: txHash } : {}) };
}

function isInFlight({ facts }: OrderRow): boolean {
  return facts.escrow === 'refunding';
}
