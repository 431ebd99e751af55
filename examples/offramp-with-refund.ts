import { causeway, say, until, verifiedCustomer } from './sandbox.ts';
import { authorizeRefund, authorizeTransfer } from './sign.ts';

/**
 * Two off-ramp orders. One pays a customer in EUR for USDC of the partner's wallet; the other stops with the deposit in escrow,
 * and the partner takes it back. Both are signed by the wallet: sign.ts.
 *
 * npx node examples/offramp-with-refund.ts
 */
const user_uuid = await verifiedCustomer('Grace', 'Hopper');
const account = await causeway.paymentDetails.create(user_uuid, {
  rail: 'iban-sepa',
  currency: 'EUR',
  country_code: 'DE',
  details: { full_name: 'Grace Hopper', iban: 'DE89370400440532013000' },
});

/** An order whose deposit is in escrow: quoted, initiated, signed, final on chain. */
async function fundedOrder(fiat_amount: string): Promise<string> {
  const quote = await causeway.offramp.quote({
    user_uuid,
    payment_details_id: account.id,
    crypto_currency: 'USDC',
    fiat_currency: 'EUR',
    fiat_amount,
    partner_fee_pct: '1',
    provider_scope: 'p2p',
  });
  const { order_id } = await causeway.offramp.initiate({ quote_id: quote.quote_id });
  say('order', order_id);
  say(
    'quote',
    `${fiat_amount} EUR for ${quote.crypto_amount} USDC, fees ${quote.fee_breakdown.total_fee} USDC`,
  );
  const { status } = await authorizeTransfer(order_id);
  say('signed', status);
  await causeway.orders.waitFor(order_id, 'crypto_received');
  const { escrow } = await causeway.orders.funds(order_id);
  say('in escrow', `${escrow?.booked_amount} USDC at ${escrow?.address}`);
  return order_id;
}

// The vendor pays and proves it, an operator reviews the proof: the sandbox simulates both. Then the customer has the money.
const paid = await fundedOrder('100.00');
await causeway.orders.waitFor(paid, 'awaiting_fiat_received_confirmation');
await causeway.orders.confirmFiatReceived(paid);
const { tx_hash } = await causeway.orders.waitFor(paid, 'completed');
say('paid out', `the vendor has the crypto, ${tx_hash}`);

// In a sandbox nobody pays an order of 113.21 EUR. Webhooks would tell of it: order.refund.required.
const stopped = await fundedOrder('113.21');
await causeway.orders.cancel(stopped, { reason: 'the customer changed their mind' });
const { failure, allowed_actions } = await causeway.orders.get(stopped);
say('stopped', `${failure?.code}, now allowed: ${allowed_actions.join(', ')}`);

await authorizeRefund(stopped);
const { deposits } = await until(
  () => causeway.orders.funds(stopped),
  ({ escrow }) => escrow?.state === 'emptied',
);
const refunded = await causeway.orders.get(stopped);
say('refunded', `${deposits[0]?.amount} USDC, ${refunded.tx_hash}`);
