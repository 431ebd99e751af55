import { causeway, say, until, verifiedCustomer } from './sandbox.ts';
import { authorizeTransfer } from './sign.ts';

/**
 * A customer pays somebody else: an off-ramp order to a recipient's destination.
 *
 * npx node examples/third-party-payout.ts
 */
const sender_id = await verifiedCustomer('Kim', 'Rao');

// Whoever is paid is screened when it is registered, and again at every later step. Only `clear` can be quoted.
const { recipient_id } = await causeway.recipients.create({
  recipient_name: 'Lin Chen',
  recipient_country: 'DE',
});
const { screening_status } = await until(
  () => causeway.recipients.get(recipient_id),
  (recipient) => recipient.screening_status !== 'pending',
);
say('recipient', `${recipient_id}, screening ${screening_status}`);

const { recipient_destination_id, ...destination } = await causeway.recipients.createDestination(
  recipient_id,
  {
    country_code: 'DE',
    currency: 'EUR',
    rail: 'iban-sepa',
    details: { full_name: 'Lin Chen', iban: 'DE89370400440532013000' },
  },
);
say('destination', `${recipient_destination_id}, screening ${destination.screening_status}`);

const quote = await causeway.offramp.quote({
  sender_id,
  recipient_id,
  recipient_destination_id,
  sender_recipient_relationship: 'supplier',
  purpose_of_payment: 'goods',
  crypto_currency: 'USDC',
  fiat_currency: 'EUR',
  fiat_amount: '250.00',
  provider_scope: 'p2p',
});
const { order_id } = await causeway.offramp.initiate({
  quote_id: quote.quote_id,
  reference_id: 'invoice-42',
});
say('order', `${order_id}, ${quote.crypto_amount} USDC for ${quote.fiat_amount} EUR`);

await authorizeTransfer(order_id);
const onStatus = ({ status }: { status: string }) => say('', status);
await causeway.orders.waitFor(order_id, 'awaiting_fiat_received_confirmation', { onStatus });

// The recipient has told your customer, or your customer has told you.
await causeway.orders.confirmFiatReceived(order_id);
const order = await causeway.orders.waitFor(order_id, 'completed', { onStatus });
say(
  'paid',
  `${order.amounts.fiat_amount} EUR to recipient ${order.recipient_context?.recipient.recipient_id}`,
);
