import { causeway, sandbox, say, verifiedCustomer } from './sandbox.ts';

/**
 * A first on-ramp order: 100 EUR of a customer become USDC in the partner's wallet.
 *
 * npx node examples/first-onramp.ts [amount]
 */
const [fiat_amount = '100.00'] = process.argv.slice(2);
const user_uuid = await verifiedCustomer('Ada', 'Lovelace');

const quote = await causeway.onramp.quote({
  user_uuid,
  crypto_currency: 'USDC',
  fiat_currency: 'EUR',
  fiat_amount,
  partner_fee_pct: '1',
});
const { crypto_amount, rate, fee_breakdown } = quote;
say(
  'quote',
  `${fiat_amount} EUR buys ${crypto_amount} USDC at ${rate}, fees ${fee_breakdown.total_fee} USDC`,
);

// A repeat with the same key is the same order: the SDK sends one with every write, and keeps it when it tries again.
const { order_id } = await causeway.onramp.initiate({
  quote_id: quote.quote_id,
  reference_id: 'my-first-order',
});
say('order', order_id);

// A vendor accepts and locks its crypto in the order's escrow. Then the order says where to pay.
const onStatus = ({ status }: { status: string }) => say('', status);
const order = await causeway.orders.waitFor(order_id, 'awaiting_fiat_transfer', { onStatus });
say('to be paid to', Object.values(order.vendor_payment_details ?? {}).join(', '));

await causeway.orders.confirmPaymentSent(order_id);
say('', '→ your customer has paid: confirm-payment-sent');

const { tx_hash } = await causeway.orders.waitFor(order_id, 'completed', { onStatus });
const [chain] = sandbox.chains;
say('on chain', `${tx_hash} on ${chain?.slug} (${chain?.rpc_url})`);
