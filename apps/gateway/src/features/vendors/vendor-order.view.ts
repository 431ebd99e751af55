import {
  decide,
  formatFixed,
  isDisputeUndecided,
  ORDER_MACHINES,
  VENDOR_ACTIONS,
  VENDOR_TRIGGERS,
  type VendorOrderDetailSchema,
  type VendorOrderSchema,
  type VendorSigningSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { typedDataToSign } from '../../chain/authorization/accept-authorization.ts';
import { tokenByCode } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import type { EscrowParties } from '../../chain/escrow/escrow.ts';
import { depositOf, type PayoutPurpose, payoutOf } from '../orders/escrow/escrow.ts';
import { orderState } from '../orders/lifecycle/act-on-order.ts';
import type { BackofficeOrderRow, DepositRow } from '../orders/lifecycle/list-orders.ts';
import { factsOf } from '../orders/lifecycle/order.adapter.ts';
import {
  type OrderEscrow,
  type OrderRow,
  shownDeadline,
  vendorReasonsView,
} from '../orders/lifecycle/order.ts';

type VendorAction = (typeof VENDOR_ACTIONS)[number];

function allowedActions(order: OrderRow): VendorAction[] {
  const machine = ORDER_MACHINES[order.direction];
  const facts = factsOf(order);
  return VENDOR_ACTIONS.filter((action) => {
    // Words move nothing; they are heard while somebody can still decide by them.
    if (action === 'dispute-statements') return isDisputeUndecided(orderState(order));
    const { trigger, actor } = VENDOR_TRIGGERS[action];
    const decision = decide(machine, order.status, trigger, facts, actor);
    return decision.kind === 'moved' && decision.transition.noop !== true;
  });
}

export function vendorOrderView(
  order: BackofficeOrderRow,
  responseSeconds: number | null,
): Static<typeof VendorOrderSchema> {
  const actions = allowedActions(order);
  return {
    order_id: order.order_id,
    direction: order.direction,
    payment_request: order.facts.paymentRequest,
    status: order.status,
    crypto_currency: order.crypto_currency,
    crypto_amount: formatFixed(BigInt(order.crypto_amount), order.crypto_decimals),
    platform_fee: formatFixed(BigInt(order.platform_fee), order.crypto_decimals),
    fiat_currency: order.fiat_currency,
    fiat_amount: formatFixed(BigInt(order.fiat_amount), order.fiat_decimals),
    rate: order.rate,
    payment_method_slug: order.payment_method_slug,
    payment_network_slug: order.payment_network_slug,
    chain: order.chain,
    escrow_address: order.escrow?.address ?? null,
    held_for_review: order.facts.held,
    allowed_actions: actions,
    offered_at: order.offered_at.toISOString(),
    respond_by: actions.includes('accept') ? respondBy(order, responseSeconds) : null,
    deadline_at: shownDeadline(order),
    ...vendorReasonsView(order),
    tx_hash: order.tx_hash,
    created_at: order.created_at.toISOString(),
    updated_at: order.updated_at.toISOString(),
  };
}

/** Whichever comes first: the vendor's own time, or the order's. */
function respondBy(order: BackofficeOrderRow, responseSeconds: number | null): string | null {
  const deadline = shownDeadline(order);
  if (responseSeconds === null) return deadline;
  const own = new Date(order.offered_at.getTime() + responseSeconds * 1_000).toISOString();
  return deadline === null || own < deadline ? own : deadline;
}

type Detail = Static<typeof VendorOrderDetailSchema>;

/** One order with its escrow: what has to be paid in, what was found there, what this vendor has signed. */
export function vendorOrderDetail(
  chains: Chains,
  read: {
    readonly order: BackofficeOrderRow;
    readonly signatures: readonly { readonly purpose: string; readonly signer: string }[];
    readonly deposits: readonly DepositRow[];
  },
  wallet: string,
  responseSeconds: number | null,
): Omit<Detail, 'proofs' | 'dispute_statements'> {
  const { order, signatures, deposits } = read;
  const hasSigned = (purpose: PayoutPurpose) =>
    signatures.some((one) => one.purpose === purpose && one.signer.toLowerCase() === wallet.toLowerCase());
  return {
    ...vendorOrderView(order, responseSeconds),
    funding: fundingView(chains, order, deposits),
    // After a failed release the table takes another signature: the one that is kept may be why it failed.
    signed: { refund: hasSigned('refund'), release: hasSigned('release') && order.facts.releaseSigned },
  };
}

function fundingView(chains: Chains, order: OrderRow, deposits: readonly DepositRow[]): Detail['funding'] {
  if (order.escrow === null) return null;
  const { settings } = chains.get(order.chain);
  const deposit = depositOf(order);
  return {
    chain: settings.slug,
    chain_id: settings.chainId,
    token_address: tokenByCode(settings, order.crypto_currency).address,
    escrow_address: order.escrow.address,
    from_address: order.escrow.seller,
    owners: ownersOf(order.escrow),
    amount: formatFixed(deposit, order.crypto_decimals),
    amount_atomic: deposit.toString(),
    confirmations: settings.confirmations,
    state: order.facts.escrow === 'none' ? 'awaited' : order.facts.escrow,
    deposits: deposits.map(depositView),
  };
}

function ownersOf({ service, seller, buyer }: OrderEscrow): EscrowParties {
  return { service, seller, buyer };
}

type FoundDeposit = NonNullable<Detail['funding']>['deposits'][number];

export function depositView(row: DepositRow): FoundDeposit {
  return {
    deposit_id: row.deposit_id,
    tx_hash: row.tx_hash,
    kind: row.kind,
    disposition: row.disposition,
    token_address: row.token,
    sender: row.sender,
    amount_atomic: row.amount,
    block_number: row.block_number,
    observed_at: row.observed_at.toISOString(),
  };
}

/** Refund and release are the same kind of transaction, so they are shown the same way. */
export function signingView(
  chains: Chains,
  order: OrderRow,
  purpose: PayoutPurpose,
): Static<typeof VendorSigningSchema> {
  const { escrow, transaction, hash } = payoutOf(chains.get(order.chain), order, purpose);
  return {
    order_id: order.order_id,
    purpose,
    escrow_address: escrow.address,
    chain: order.chain,
    owners: escrow.parties,
    partner_address: order.escrow?.partner ?? null,
    safe_tx_hash: hash,
    typed_data: typedDataToSign(escrow, transaction),
  };
}
