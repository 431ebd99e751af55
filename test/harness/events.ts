import type { PartnerEventData } from '@causeway/protocol';

type OrderChanged = PartnerEventData<'order.status.changed'>;

/** What order.status.changed carries, with what a test wants different or wants to recognise it by. */
export function orderChanged<Extra extends object>(extra: Extra): OrderChanged & Extra {
  return {
    order_id: '00000000-0000-7000-8000-0000000000aa',
    status: 'completed',
    user_id: '00000000-0000-7000-8000-0000000000bb',
    crypto_amount: '100.000000',
    crypto_currency: 'USDC',
    partner_fee: '1',
    partner_fee_pct: 1,
    fiat_amount: '92.40',
    fiat_currency: 'EUR',
    provider: 'p2p',
    payment_details_id: '',
    reference_id: null,
    failure: null,
    cancelled_by: null,
    hold: null,
    expires_at: null,
    ...extra,
  };
}
