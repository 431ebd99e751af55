import { causeway, clientWith, sandbox, say } from './sandbox.ts';
import { vendorWallet } from './wallet.ts';

/**
 * A vendor that sells USDC for EUR, unattended: it accepts orders, funds their escrows, and confirms the fiat. It serves the
 * given number of orders, or all until Ctrl-C. An order for it: npx node examples/first-onramp.ts 731.00
 *
 * npx node examples/vendor-bot.ts [number of orders]
 */
const wanted = Number(process.argv[2] ?? Number.POSITIVE_INFINITY);
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

// The wallet needs coin for gas and the tokens that it sells. Its key stays here.
const wallet = vendorWallet();
const chain = sandbox.chains[0]?.slug ?? '';
for (const [token, amount] of Object.entries({ native: '0.1', USDC: '10000' }))
  await causeway.sandbox.faucet({ chain, token, address: wallet.address, amount });

// The operator takes the vendor on, and looks at every offer before orders are matched with it.
const { operator } = clientWith(sandbox.operator_key);
const name = `Bot ${wallet.address.slice(0, 10)}`;
const { vendor_key } = await operator.vendors.create({ name, kind: 'p2p', wallet_address: wallet.address });
const { vendor } = clientWith(vendor_key.key);
const { offer_id } = await vendor.offers.create({
  side: 'SELL',
  crypto_currency: 'USDC',
  fiat_currency: 'EUR',
  margin_pct: '0',
  min_amount: '700',
  max_amount: '800',
  available_balance: '10000',
  countries: ['DE'],
  payment_options: [{ network_slug: 'iban-sepa' }],
});
await operator.offers.decideAuthorization(offer_id, { authorized: true, reason: 'contract signed' });
say('online', `${name} sells USDC for 700 to 800 EUR`);

/** Escrows that were paid: never twice. Yours is written down before the payment is sent. */
const paid = new Set<string>();

/** Whatever the order allows now. Events may repeat, so the order decides and not the event. */
async function serve(orderId: string): Promise<void> {
  const order = await vendor.orders.get(orderId);
  const signFor = async (purpose: 'refund' | 'release') =>
    wallet.sign(await vendor.orders.signingParameters(orderId, { purpose }));
  if (order.allowed_actions.includes('accept')) {
    // The refund is signed first, so that the crypto can always come back.
    const refund_signature = await signFor('refund');
    const payment_details = { full_name: 'Newcomer Ltd', iban: 'DE02120300000000202051' };
    await vendor.orders.accept(orderId, { refund_signature, payment_details });
    say('accepted', `${orderId}: ${order.crypto_amount} USDC for ${order.fiat_amount} EUR`);
  } else if (
    order.status === 'awaiting_vendor_escrow_funding' &&
    order.funding !== null &&
    !paid.has(orderId)
  ) {
    paid.add(orderId);
    say('funded', `${order.funding.amount} USDC, ${await wallet.fund(order)}`);
  } else if (order.status === 'fiat_transfer_pending' && order.allowed_actions.includes('fiat-confirmed')) {
    // The partner says that it was paid. Look at your bank account first: after this the crypto is gone.
    await vendor.orders.confirmFiat(orderId, { release_signature: await signFor('release') });
    say('fiat confirmed', `${order.fiat_amount} EUR`);
  }
}

let served = 0;
try {
  for await (const { event } of vendor.events.stream({ after: '0', signal: stopping.signal })) {
    if (event.order !== null) await serve(event.order_id);
    if (event.status === 'completed' && ++served === wanted) break;
  }
} catch (error) {
  if (!stopping.signal.aborted) throw error;
}
await vendor.offers.withdraw(offer_id);
await vendor.setOnline({ online: false });
say('offline', `orders served: ${served}`);
