/** An off-ramp whose money goes to somebody other than the sender: the requests that prepare it, and its quote. */
export const THIRD_PARTY = { recipient_name: 'Wang Wei', recipient_country: 'CN' };

export const THIRD_PARTY_DESTINATION = {
  rail: 'alipay-china',
  currency: 'CNY',
  country_code: 'CN',
  details: { full_name: 'Wang Wei', account_number: '13800138000', mobile_number: '+8613800138000' },
};

export interface ThirdPartyIds {
  readonly recipient_id: string;
  readonly recipient_destination_id: string;
}

export function thirdPartyQuote(senderId: string, recipient: ThirdPartyIds): object {
  return {
    crypto_currency: 'USDC',
    fiat_currency: 'CNY',
    fiat_amount: '700.00',
    sender_id: senderId,
    ...recipient,
    sender_recipient_relationship: 'family',
    purpose_of_payment: 'gift',
  };
}
