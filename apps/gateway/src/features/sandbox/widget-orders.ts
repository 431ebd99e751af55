import type { OrderSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { customerScope, partnerScope } from '../../db/database.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import type { PartnerPrincipal } from '../../http/principals.ts';
import type { BlindIndex } from '../../vault/vault.ts';
import { orderView } from '../orders/lifecycle/order.view.ts';
import { createPaymentDetails } from '../payment-details/payment-details.ts';
import { issueOfframpQuote, issueOnrampQuote, type OfframpQuoteDeps } from '../quotes/issue-quote.ts';
import { changeKycStatus } from '../users/kyc-status.ts';
import { createUser } from '../users/user.ts';
import { openWidgetOrder, type WidgetOrderDeps, withWidgetClaim } from '../widget/widget-order.ts';

export type SandboxWidgetOrderDeps = WidgetOrderDeps &
  UnitDeps &
  OfframpQuoteDeps & {
    readonly blindIndex: BlindIndex;
  };

export interface SandboxWidgetOrderRequest {
  readonly order_type: 'onramp' | 'offramp';
  readonly user_uuid?: string;
  readonly crypto_currency?: string;
  readonly fiat_currency?: string;
  readonly fiat_amount?: string;
  readonly crypto_amount?: string;
  readonly payment_details_id?: number;
  readonly wallet_address?: string;
  readonly reference_id?: string;
}

const SAMPLE_ACCOUNT = {
  rail: 'iban-sepa',
  currency: 'EUR',
  countryCode: 'DE',
  institutionId: undefined,
  details: { full_name: 'Widget Customer', iban: 'DE89370400440532013000' },
};

/**
 * An order as the embedded widget would open it: by an end user, so that its partner is told of it and no more. The wallet is
 * the partner's own unless another is named: a sandbox's partner has its key, tokens and an approval of the router.
 */
export async function openSandboxWidgetOrder(
  deps: SandboxWidgetOrderDeps,
  partner: PartnerPrincipal,
  input: SandboxWidgetOrderRequest,
): Promise<Static<typeof OrderSchema>> {
  const { partnerId } = partner;
  const { quoteId, userId } = await unitOfWork(deps, partnerScope(partnerId), (unit) =>
    quoteInWidget(deps, unit, partner, input),
  );
  const walletAddress = input.wallet_address ?? partner.partner.walletAddress;
  const request = {
    quote_id: quoteId,
    ...(input.reference_id === undefined ? {} : { reference_id: input.reference_id }),
  };
  const order = await withWidgetClaim(
    deps,
    { partnerId, userId },
    { quoteId, walletAddress, sessionId: null },
    (claimed) =>
      unitOfWork(deps, customerScope(partnerId, userId), (unit) =>
        openWidgetOrder(deps, unit, claimed, request),
      ),
  );
  return { ...orderView(deps, order), timeline: [] };
}

async function quoteInWidget(
  deps: SandboxWidgetOrderDeps,
  unit: UnitOfWork,
  partner: PartnerPrincipal,
  input: SandboxWidgetOrderRequest,
): Promise<{ readonly quoteId: string; readonly userId: string }> {
  const run = { ids: unit.ids, at: unit.at, query: unit.tx.query };
  const userId = input.user_uuid ?? (await widgetCustomer(deps, unit, partner.partnerId));
  const request = {
    user_uuid: userId,
    crypto_currency: input.crypto_currency ?? 'USDC',
    fiat_currency: input.fiat_currency ?? 'EUR',
    ...(input.crypto_amount === undefined
      ? { fiat_amount: input.fiat_amount ?? '100.00' }
      : { crypto_amount: input.crypto_amount }),
  };
  if (input.order_type === 'onramp') {
    return { userId, quoteId: (await issueOnrampQuote(deps, run, partner, request)).quote_id };
  }
  const detailsId =
    input.payment_details_id ??
    Number((await createPaymentDetails(deps, unit, userId, SAMPLE_ACCOUNT)).row.payment_details_id);
  // No person plays the customer, who could say that the fiat has arrived; so the provider has to.
  const requested = { ...request, payment_details_id: detailsId, has_fiat_settlement_notification: true };
  return { userId, quoteId: (await issueOfframpQuote(deps, run, partner, requested)).quote_id };
}

async function widgetCustomer(
  deps: SandboxWidgetOrderDeps,
  unit: UnitOfWork,
  partnerId: string,
): Promise<string> {
  const { id } = await createUser(deps, unit, partnerId, { email: `widget-${unit.ids.uuid()}@example.com` });
  await changeKycStatus(unit, id, 'verification_passed', 'simulator', []);
  return id;
}
