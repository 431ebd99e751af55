import { isCausewayError } from '@causeway/sdk';
import { signBridge, signRefund, signTransfer } from '@causeway/sdk/signing';
import { causeway, walletOf } from './sandbox.ts';

/**
 * What moves a partner's crypto, signed. The SDK builds the typed data itself from the order and from what the wallet trusts,
 * compares it with what the API asks for, and refuses whatever does not fit.
 *
 * npx node examples/sign.ts transfer <order id>   pays an off-ramp order into its escrow
 * npx node examples/sign.ts refund <order id>     takes the deposit of a stopped order back
 * npx node examples/sign.ts send-out <order id> <destination chain> <destination address>
 */
const { signer, trust } = walletOf();

export async function authorizeTransfer(orderId: string) {
  const order = await causeway.orders.get(orderId);
  return withFreshNonce(async () => {
    const parameters = await causeway.orders.transferParameters(orderId);
    const body = await signTransfer({ order, parameters, owners: await ownersOf(orderId), trust }, signer);
    return causeway.orders.authorizeTransfer(orderId, body);
  });
}

export async function authorizeRefund(orderId: string) {
  const order = await causeway.orders.get(orderId);
  const parameters = await causeway.orders.refundParameters(orderId);
  const body = await signRefund({ order, parameters, owners: await ownersOf(orderId), trust }, signer);
  return causeway.orders.authorizeRefund(orderId, body);
}

export async function authorizeSendOut(orderId: string, chain: string, address: string) {
  const order = await causeway.orders.get(orderId);
  const destination = { destination_chain: chain, destination_address: address };
  return withFreshNonce(async () => {
    const parameters = await causeway.orders.bridgeParameters(orderId, destination);
    const body = await signBridge({ order, parameters, destination, trust }, signer);
    return causeway.orders.authorizeBridge(orderId, body);
  });
}

/** The three keys of the order's escrow: its address follows from them. */
async function ownersOf(orderId: string) {
  const { escrow } = await causeway.orders.funds(orderId);
  if (escrow === null) throw new Error(`Order ${orderId} has no escrow yet.`);
  return escrow.owners;
}

/** Nonces are one sequence a wallet: another order may have taken this one. Read the parameters again then. */
async function withFreshNonce<Answer>(authorize: () => Promise<Answer>, attempts = 10): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await authorize();
    } catch (error) {
      if (!isCausewayError(error, 'NONCE_ALREADY_USED') || attempt === attempts) throw error;
    }
  }
}

if (import.meta.main) {
  const [purpose, orderId = '', chain = '', address = ''] = process.argv.slice(2);
  const authorize = {
    transfer: () => authorizeTransfer(orderId),
    refund: () => authorizeRefund(orderId),
    'send-out': () => authorizeSendOut(orderId, chain, address),
  }[purpose ?? ''];
  if (authorize === undefined || orderId === '')
    throw new Error('Usage: sign.ts transfer|refund|send-out <order id> [<chain> <address>]');
  console.log((await authorize()).status);
}
