import { api } from '../../api/client.ts';

export interface TestOrder {
  readonly direction: 'onramp' | 'offramp';
  /** In EUR. */
  readonly amount: string;
  readonly reference: string;
}

const ACCOUNT = { full_name: 'Ada Lovelace', iban: 'DE89370400440532013000' };
const PARTNER_FEE_PCT = '1';

/** A new customer, verified at once, and an order of it: the same calls as a partner’s program makes. */
export async function openTestOrder({ direction, amount, reference }: TestOrder): Promise<string> {
  const email = `test-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const { id } = await api.users.create({ email, first_name: 'Ada', last_name: 'Lovelace' });
  await api.sandbox.kycStatus(id, { status: 'VERIFIED' });
  const asked = {
    user_uuid: id,
    crypto_currency: 'USDC',
    fiat_currency: 'EUR',
    fiat_amount: amount.trim(),
    partner_fee_pct: PARTNER_FEE_PCT,
  };
  const named = reference.trim() === '' ? {} : { reference_id: reference.trim() };
  if (direction === 'onramp') {
    const { quote_id } = await api.onramp.quote(asked);
    return (await api.onramp.initiate({ quote_id, ...named })).order_id;
  }
  const account = await api.paymentDetails.create(id, {
    rail: 'iban-sepa',
    currency: 'EUR',
    country_code: 'DE',
    details: ACCOUNT,
  });
  const { quote_id } = await api.offramp.quote({
    ...asked,
    payment_details_id: account.id,
    provider_scope: 'p2p',
  });
  return (await api.offramp.initiate({ quote_id, ...named })).order_id;
}
