import type { OrderSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { partnerScope } from '../../db/database.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import type { PartnerPrincipal } from '../../http/principals.ts';
import type { BlindIndex } from '../../vault/vault.ts';
import { type InitiateDeps, initiateOfframp, initiateOnramp } from '../orders/lifecycle/initiate-order.ts';
import { createPaymentDetails } from '../payment-details/payment-details.ts';
import { withQuoteClaim } from '../quotes/claim-quote.ts';
import { issueOfframpQuote, issueOnrampQuote, type OfframpQuoteDeps } from '../quotes/issue-quote.ts';
import { changeKycStatus } from '../users/kyc-status.ts';
import { createUser } from '../users/user.ts';

export type WidgetOrderDeps = InitiateDeps &
  UnitDeps &
  OfframpQuoteDeps & {
    readonly blindIndex: BlindIndex;
  };

export interface WidgetOrderInput {
  readonly order_type: 'onramp' | 'offramp';
  readonly user_uuid?: string;
  readonly crypto_currency?: string;
  readonly fiat_currency?: string;
  readonly fiat_amount?: string;
  readonly crypto_amount?: string;
  readonly payment_details_id?: number;
  readonly reference_id?: string;
}

const SAMPLE_ACCOUNT = {
  rail: 'iban-sepa',
  currency: 'EUR',
  countryCode: 'DE',
  institutionId: undefined,
  details: { full_name: 'Widget Customer', iban: 'DE89370400440532013000' },
};

/** An order as the embedded widget would open it: by an end user, so that its partner is told of it and no more. */
export async function openWidgetOrder(
  deps: WidgetOrderDeps,
  partner: PartnerPrincipal,
  input: WidgetOrderInput,
): Promise<Static<typeof OrderSchema>> {
  const scope = partnerScope(partner.partnerId);
  const quoteId = await unitOfWork(deps, scope, (unit) => quoteInWidget(deps, unit, partner, input));
  const request = {
    quote_id: quoteId,
    ...(input.reference_id === undefined ? {} : { reference_id: input.reference_id }),
  };
  const initiate = input.order_type === 'onramp' ? initiateOnramp : initiateOfframp;
  return withQuoteClaim(
    deps,
    { partnerId: partner.partnerId, quoteId, direction: input.order_type },
    (claim) => unitOfWork(deps, scope, (unit) => initiate(deps, unit, claim, request, 'widget')),
  );
}

async function quoteInWidget(
  deps: WidgetOrderDeps,
  unit: UnitOfWork,
  partner: PartnerPrincipal,
  input: WidgetOrderInput,
): Promise<string> {
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
    return (await issueOnrampQuote(deps, run, partner, request)).quote_id;
  }
  const detailsId =
    input.payment_details_id ??
    Number((await createPaymentDetails(deps, unit, userId, SAMPLE_ACCOUNT)).row.payment_details_id);
  // Its partner may not say that the fiat has arrived, so the provider has to.
  const requested = { ...request, payment_details_id: detailsId, has_fiat_settlement_notification: true };
  return (await issueOfframpQuote(deps, run, partner, requested)).quote_id;
}

async function widgetCustomer(deps: WidgetOrderDeps, unit: UnitOfWork, partnerId: string): Promise<string> {
  const { id } = await createUser(deps, unit, partnerId, { email: `widget-${unit.ids.uuid()}@example.com` });
  await changeKycStatus(unit, id, 'verification_passed', 'simulator', []);
  return id;
}
