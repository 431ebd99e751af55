import { causeway, say, until, verifiedCustomer } from './sandbox.ts';

/**
 * A customer with an IBAN of its own: whatever it pays in, to the cent, pays its waiting on-ramp order by itself.
 *
 * npx node examples/own-account.ts
 */
const user = await verifiedCustomer('Iris', 'Okoro');

// The bank must know the customer. Verified KYC data counts for more than what is sent here.
await causeway.fiatAccounts.submitIdentification(user, {
  date_of_birth: '1990-12-31',
  nationality: 'DE',
  address: 'Example street 1',
  city: 'Berlin',
  postal_code: '10115',
  country_code: 'DE',
});
const { status } = await until(
  () => causeway.fiatAccounts.getIdentification(user),
  (seen) => seen.status !== 'pending' && seen.status !== 'not_submitted',
);
say('bank', `the customer is ${status}`);

const { id } = await causeway.fiatAccounts.issue(user, { currency: 'EUR', jurisdiction: 'DE' });
const account = await until(
  () => causeway.fiatAccounts.get(user, id),
  (seen) => seen.status === 'active',
);
say('account', `${account.iban} of ${account.account_holder_name}`);

// Nothing in the request says so: an order of a customer with an active account is paid from it.
const quote = await causeway.onramp.quote({
  user_uuid: user,
  crypto_currency: 'USDC',
  fiat_currency: 'EUR',
  fiat_amount: '100.00',
});
const { order_id, fiat_funding_source } = await causeway.onramp.initiate({ quote_id: quote.quote_id });
say('order', `${order_id}, paid from ${fiat_funding_source}`);

await causeway.orders.waitFor(order_id, ({ next_action }) => next_action === 'deposit_to_user_account');
say('', `your customer pays ${quote.fiat_amount} EUR into ${account.iban}`);
const payment = await causeway.sandbox.deposit(user, id, {
  amount: quote.fiat_amount,
  sender_name: 'Iris Okoro',
});
say('deposit', payment.status);

await causeway.orders.waitFor(order_id, 'completed');
for await (const entry of causeway.fiatAccounts.ledger(user, id))
  say('booked', `${entry.kind} ${entry.amount} EUR, balance ${entry.balance_after} EUR`);
say('completed', `${quote.crypto_amount} USDC for ${quote.fiat_amount} EUR`);
