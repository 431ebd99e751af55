import { readFile } from 'node:fs/promises';
import { Causeway, isCausewayError } from '@causeway/sdk';
import { privateKeySigner, signRefund, signTransfer, trustOfSandbox } from '@causeway/sdk/signing';

/**
 * npx causeway conformance --driver examples/conformance-driver.mjs
 *
 * The functions that the conformance runner calls. Yours call your own code; this one uses the SDK, whose habits are good ones.
 */
const home = process.env.CAUSEWAY_HOME ?? '.causeway';

const clientOf = ({ baseUrl, apiKey }) => new Causeway({ baseUrl, apiKey });

/** A quote is valid for a minute: one that has expired is replaced, once. */
async function withFreshQuote(quote, initiate) {
  try {
    return await initiate(await quote());
  } catch (error) {
    if (!isCausewayError(error, 'QUOTE_EXPIRED')) throw error;
    return initiate(await quote());
  }
}

export async function openOnramp(request) {
  const { onramp } = clientOf(request);
  const { userId, fiatAmount, fiatCurrency, cryptoCurrency, referenceId } = request;
  const asked = { user_uuid: userId, fiat_amount: fiatAmount, fiat_currency: fiatCurrency };
  const order = await withFreshQuote(
    () => onramp.quote({ ...asked, crypto_currency: cryptoCurrency }),
    ({ quote_id }) => onramp.initiate({ quote_id, reference_id: referenceId }),
  );
  return { orderId: order.order_id };
}

export async function openOfframp(request) {
  const { offramp } = clientOf(request);
  const { userId, paymentDetailsId, fiatAmount, fiatCurrency, cryptoCurrency, referenceId } = request;
  const payee = { user_uuid: userId, payment_details_id: paymentDetailsId, provider_scope: 'p2p' };
  const asked = { fiat_amount: fiatAmount, fiat_currency: fiatCurrency, crypto_currency: cryptoCurrency };
  const order = await withFreshQuote(
    () => offramp.quote({ ...payee, ...asked }),
    ({ quote_id }) => offramp.initiate({ quote_id, reference_id: referenceId }),
  );
  return { orderId: order.order_id };
}

/** Does what the order asks for, and nothing else, until nothing is left to do. */
export async function followOrder(request) {
  const { orders } = clientOf(request);
  const { orderId, signal } = request;
  for (;;) {
    const asksOrEnds = ({ next_action: next }) => next in ACTIONS || next === 'none';
    const order = await orders.waitFor(orderId, asksOrEnds, { signal, pollInterval: 500 });
    if (order.next_action === 'none') return;
    await ACTIONS[order.next_action](orders, order);
    await orders.waitFor(orderId, ({ next_action: next }) => next !== order.next_action, { signal });
  }
}

const ACTIONS = {
  confirm_payment_sent: (orders, { order_id: id }) => orders.confirmPaymentSent(id),
  confirm_fiat_received: (orders, { order_id: id }) => orders.confirmFiatReceived(id),
  authorize_crypto_transfer: async (orders, order) => {
    const parameters = await orders.transferParameters(order.order_id);
    await orders.authorizeTransfer(order.order_id, await signed(signTransfer, orders, order, parameters));
  },
  authorize_refund: async (orders, order) => {
    const parameters = await orders.refundParameters(order.order_id);
    await orders.authorizeRefund(order.order_id, await signed(signRefund, orders, order, parameters));
  },
};

async function signed(sign, orders, order, parameters) {
  const sandbox = JSON.parse(await readFile(`${home}/sandbox.json`, 'utf8'));
  const { owners } = (await orders.funds(order.order_id)).escrow;
  const signer = privateKeySigner(sandbox.partners[0].wallet_private_key);
  return sign({ order, parameters, owners, trust: trustOfSandbox(sandbox) }, signer);
}
