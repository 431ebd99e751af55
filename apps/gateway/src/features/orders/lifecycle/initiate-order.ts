import {
  type Actor,
  CausewayError,
  INITIAL_ORDER_FACTS,
  ORDER_INITIAL,
  type OrderFacts,
  type OrderSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Address } from '../../../chain/chain-settings.ts';
import { execute } from '../../../engine/execute.ts';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import type { PartnerPrincipal } from '../../../http/principals.ts';
import type { Currencies } from '../../../ports/currencies.ts';
import type { Vaults } from '../../../vault/vault.ts';
import { identityFields, isSuppliable } from '../../kyc/kyc-fields.ts';
import { readIdentity } from '../../kyc/submission.ts';
import { senderFieldProblems, senderIdentityDetails } from '../../payment-details/validation/mask-details.ts';
import {
  type ClaimDeps,
  type ClaimedQuote,
  claimQuote,
  type QuoteClaim,
  withQuoteClaim,
} from '../../quotes/claim-quote.ts';
import { refusedTransition } from './act-on-order.ts';
import { type OrderAdapters, storedFacts } from './order.adapter.ts';
import { insertComplianceCase } from './order.store.ts';
import type { OrderRow, OrderSecrets } from './order.ts';
import { orderView } from './order.view.ts';

export interface InitiateRequest {
  readonly quote_id: string;
  readonly reference_id?: string;
}

/** Who opens the order: the partner's own call, or an end user in the embedded widget, with a wallet of its own. */
export type OrderOpener =
  | { readonly origin: 'api' }
  | { readonly origin: 'widget'; readonly wallet: Address; readonly isWalletClear: boolean };

const BY_PARTNER: OrderOpener = { origin: 'api' };

function actorOf({ origin }: OrderOpener): Actor {
  return origin === 'api' ? 'partner' : 'customer';
}

/** While no vendor serves it, an order names the kind of vendor that it waits for. */
function expectedKind(quote: ClaimedQuote): OrderRow['vendor_kind'] {
  const wantsDirect = quote.provider_scope === 'direct' || quote.has_fiat_settlement_notification;
  return wantsDirect ? 'direct' : 'p2p';
}

/** An order that is about to be written: everything that its quote fixed, and nothing that has happened yet. */
export function draftOrder(
  unit: UnitOfWork,
  quote: ClaimedQuote,
  orderType: OrderRow['order_type'],
  referenceId: string | undefined,
  facts: Partial<OrderFacts>,
  opener: OrderOpener = BY_PARTNER,
): OrderRow {
  const isPartnerClear = quote.partner_wallet_cleared;
  const isOpenerClear = opener.origin === 'api' ? isPartnerClear : opener.isWalletClear;
  return {
    ...quote,
    is_new: true,
    order_type: orderType,
    reference_id: referenceId ?? null,
    status: ORDER_INITIAL,
    facts: storedFacts({
      ...INITIAL_ORDER_FACTS,
      anchor: quote.anchor,
      settlementNotification: quote.has_fiat_settlement_notification,
      origin: opener.origin,
      ...facts,
    }),
    timeline: [],
    revision: 0,
    deadline_at: null,
    failure_code: null,
    cancelled_by: null,
    hold_reason: null,
    held_at: null,
    customer_wallet: opener.origin === 'api' ? null : opener.wallet,
    escrow: null,
    deposit_shortfall: '0',
    tx_hash: null,
    send_out_tx_hash: null,
    vendor_payment_details_sealed: null,
    payer_details_sealed: null,
    vendor_kind: quote.provider ?? expectedKind(quote),
    // The vendor's wallet counts from the moment the escrow is fixed.
    seller_cleared: quote.direction === 'onramp' || isOpenerClear,
    buyer_cleared: quote.direction === 'offramp' || isOpenerClear,
    // The partner's fee is paid in the same transaction.
    fee_wallet_cleared: isPartnerClear,
    created_at: unit.at,
    updated_at: unit.at,
  };
}

export interface InitiateDeps extends ClaimDeps, OrderSecrets {
  readonly orderAdapters: OrderAdapters;
}

/** What an initiate takes before its unit begins. */
export function claimingQuote(deps: ClaimDeps, direction: OrderRow['direction']) {
  return <T>(
    { body }: { readonly body: InitiateRequest },
    { partnerId }: PartnerPrincipal,
    work: (claim: QuoteClaim) => Promise<T>,
  ): Promise<T> => withQuoteClaim(deps, { partnerId, quoteId: body.quote_id, direction }, work);
}

/** Turns an active quote into an order of the partner's, or leaves the quote as it was. */
export async function initiateOnramp(
  deps: InitiateDeps,
  unit: UnitOfWork,
  claim: QuoteClaim,
  input: InitiateRequest,
): Promise<Static<typeof OrderSchema>> {
  // The contract shows an empty timeline here; the entries are read with the order.
  return { ...orderView(deps, await openOnramp(deps, unit, claim, input)), timeline: [] };
}

/** The same, for whoever opens it. */
export async function openOnramp(
  deps: InitiateDeps,
  unit: UnitOfWork,
  claim: QuoteClaim,
  input: InitiateRequest,
  opener: OrderOpener = BY_PARTNER,
): Promise<OrderRow> {
  const quote = await claimQuote(unit, claim, actorOf(opener));
  // Where the payee asks the payer for the money, the vendor must be told whom to ask.
  const rail = deps.currencies.current().reference.catalogue.rail(quote.payment_network_slug);
  // Money from the customer's own account does not have to be asked for.
  const fundingSource = quote.has_own_account ? 'own_iban' : 'vendor_details';
  const paymentRequest = rail?.paymentRequest === true && !quote.has_own_account;
  const orderType = paymentRequest ? 'payment_request' : 'onramp';
  const facts = { paymentRequest, fundingSource } as const;
  const draft = draftOrder(unit, quote, orderType, input.reference_id, facts, opener);
  return open(deps, unit, claim, draft, actorOf(opener));
}

function open(
  { orderAdapters }: InitiateDeps,
  unit: UnitOfWork,
  claim: QuoteClaim,
  draft: OrderRow,
  actor: Actor,
): OrderRow {
  const execution = execute(unit, orderAdapters[draft.direction], draft, 'order_initiated', actor);
  if (execution.kind === 'refused') throw refusedTransition(execution, actor);
  claim.keep();
  return execution.row;
}

export interface SenderIdentityDeps {
  readonly vaults: Vaults;
  readonly currencies: Currencies;
}

/** Consumer-to-consumer wallets have to be told who pays. Other rails are not asked anything. */
export async function requireSenderIdentity(
  deps: SenderIdentityDeps,
  unit: UnitOfWork,
  payment: { readonly user_id: string; readonly payment_network_slug: string },
): Promise<void> {
  const { catalogue } = deps.currencies.current().reference;
  const wanted = catalogue
    .rail(payment.payment_network_slug)
    ?.formats?.find(({ senderIdentity }) => senderIdentity !== undefined)?.senderIdentity;
  if (wanted === undefined) return;
  const { identity } = await readIdentity(unit.tx, deps.vaults, payment.user_id);
  const fieldLimits: Record<string, number> = {};
  for (const [field, limit] of Object.entries(wanted.fieldLimits ?? {})) {
    if (limit !== undefined) fieldLimits[field] = limit;
  }
  const problems = senderFieldProblems(identityFields(identity), {
    requiredFields: wanted.requiredFields,
    fieldLimits,
  });
  if (problems.length === 0) return;
  throw new CausewayError('SENDER_IDENTITY_REQUIRED', {
    details: senderIdentityDetails(problems, (field) => isSuppliable(field, identity.kyc)),
  });
}

/**
 * Turns an active quote into an order that waits for the partner's deposit, or leaves the quote as it was: whatever is
 * refused here is refused inside the transaction that claims it. Where no vendor can serve it, the order waits for
 * one.
 */
export async function initiateOfframp(
  deps: InitiateDeps,
  unit: UnitOfWork,
  claim: QuoteClaim,
  input: InitiateRequest,
): Promise<Static<typeof OrderSchema>> {
  return { ...orderView(deps, await openOfframp(deps, unit, claim, input)), timeline: [] };
}

/** The same, for whoever opens it. */
export async function openOfframp(
  deps: InitiateDeps,
  unit: UnitOfWork,
  claim: QuoteClaim,
  input: InitiateRequest,
  opener: OrderOpener = BY_PARTNER,
): Promise<OrderRow> {
  const quote = await claimQuote(unit, claim, actorOf(opener));
  await requireSenderIdentity(deps, unit, quote);
  const facts = { vendorAvailable: quote.served };
  const draft = draftOrder(unit, quote, 'offramp', input.reference_id, facts, opener);
  const order = open(deps, unit, claim, draft, actorOf(opener));
  openComplianceCase(unit, order, quote.sender_recipient_relationship, quote.purpose_of_payment);
  return order;
}

function openComplianceCase(
  unit: UnitOfWork,
  order: OrderRow,
  relationship: string | null,
  purpose: string | null,
): void {
  if (order.recipient_id === null) return;
  unit.tx.defer(insertComplianceCase, [
    unit.ids.uuid(),
    order.partner_id,
    order.order_id,
    order.user_id,
    order.recipient_id,
    relationship,
    purpose,
    unit.at,
  ]);
}
