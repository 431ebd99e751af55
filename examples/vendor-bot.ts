import type { VendorOrderDetail } from '@causeway/sdk';
import { signVendorRefund, signVendorRelease } from '@causeway/sdk/signing';
import { say } from './sandbox.ts';
import { newVendor } from './vendor-account.ts';

/**
 * A vendor that sells and buys USDC for EUR, unattended. Everything that it signs or pays is held against the order first, and
 * what does not fit stops it. It serves the given number of orders, or all until Ctrl-C. Orders for it:
 * npx node examples/first-onramp.ts 731.00
 *
 * npx node examples/vendor-bot.ts [number of orders]
 */
const wanted = Number(process.argv[2] ?? Number.POSITIVE_INFINITY);
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

const { vendor, wallet, signer, trust, leave } = await newVendor();

/** What was paid, into escrows and to customers: never twice. Yours is written down before the payment is sent. */
const paid = new Set<string>();

/** Whatever the order asks of its vendor now. Events may repeat, so the order decides and not the event. */
async function serve(orderId: string): Promise<void> {
  const order: VendorOrderDetail = await vendor.orders.get(orderId);
  const may = (action: string) => order.allowed_actions.includes(action);
  const request = async (purpose: 'refund' | 'release') => ({
    ...{ order, trust, parameters: await vendor.orders.signingParameters(orderId, { purpose }) },
  });
  const { direction, status, fiat_amount: fiat } = order;
  if (may('accept')) {
    // The refund is signed first, so that the crypto can always come back.
    const payment_details = { full_name: 'Newcomer Ltd', iban: 'DE02120300000000202051' };
    const signed = await signVendorRefund(await request('refund'), signer);
    await vendor.orders.accept(orderId, { ...signed, payment_details });
    say('accepted', `${orderId}: ${order.crypto_amount} USDC for ${fiat} EUR`);
  } else if (status === 'awaiting_vendor_escrow_funding' && order.funding !== null && !paid.has(orderId)) {
    paid.add(orderId);
    say('funded', `${order.funding.amount} USDC, ${await wallet.fund(order)}`);
  } else if (status === 'fiat_transfer_pending' && may('fiat-confirmed')) {
    // The partner says that it was paid. Look at your bank account first: after this the crypto is gone.
    await vendor.orders.confirmFiat(orderId, await signVendorRelease(await request('release'), signer));
    say('fiat confirmed', `${fiat} EUR`);
  } else if (may('payment-proof') && !paid.has(orderId)) {
    // Here your bank pays, and its reference is the proof. A refusal of the operator's is for a person.
    paid.add(orderId);
    const { details } = await vendor.orders.paymentInstructions(orderId);
    const signed = await signVendorRelease(await request('release'), signer);
    await vendor.orders.submitProof(orderId, { payment_reference: `E2E ${orderId}`, ...signed });
    say('paid and proved', `${fiat} EUR to ${details.full_name}`);
  } else if (direction === 'offramp' && !order.signed.refund && order.failure === null) {
    await vendor.orders.signRefund(orderId, await signVendorRefund(await request('refund'), signer));
    say('refund signed', `${orderId}: ${order.crypto_amount} USDC for ${fiat} EUR`);
  }
}

const served = new Set<string>();
try {
  for await (const { event } of vendor.events.stream({ after: '0', signal: stopping.signal })) {
    if (event.order !== null) await serve(event.order_id);
    if (event.status === 'completed') served.add(event.order_id);
    if (served.size === wanted) break;
  }
} catch (error) {
  if (!stopping.signal.aborted) throw error;
}
await leave(served.size);
