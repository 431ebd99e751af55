import type { Order, OrderFunds } from '@causeway/sdk';
import {
  reviewBridge,
  reviewRefund,
  reviewRelease,
  reviewTransfer,
  SigningRefusedError,
  type Trust,
} from '@causeway/sdk/signing';
import { api } from '../../api/client.ts';
import { serviceNow } from '../../api/service-time.ts';
import { loadSession } from '../../api/session.ts';
import type { PreparedSignature } from '../../wallet/signing.tsx';
import { loadSigningTrust, trustFor } from '../../wallet/trust.ts';
import type { Names } from '../../wallet/words.ts';

/** What a partner’s wallet is asked to sign, after it has been held against the order. What does not fit is never shown. */
export type SignedAction =
  | 'authorize-crypto-transfer'
  | 'authorize-refund'
  | 'authorize-release'
  | 'authorize-bridge';

export interface Destination {
  readonly destination_chain: string;
  readonly destination_address: string;
}

export interface PartnerSignature extends PreparedSignature {
  /** What the signature means for the order, beyond the payments that it makes. */
  readonly meaning: string;
  readonly handIn: (signature: string) => Promise<unknown>;
}

/** Reads everything anew and refuses it unless everything fits. */
export async function prepareSignature(
  orderId: string,
  action: SignedAction,
  destination: Destination | undefined,
): Promise<PartnerSignature> {
  const [order, funds, trusted] = await Promise.all([
    api.orders.get(orderId),
    api.orders.funds(orderId),
    loadSigningTrust(orderId),
    loadSession(),
  ]);
  if (trusted.wallet_address === null)
    throw new SigningRefusedError('EXPECTATION_MISSING', 'wallet_address', 'the partner’s wallet', null);
  const common: Common = {
    order,
    funds,
    trust: trustFor(trusted, funds.chain, trusted.wallet_address),
    // Signed requests end by the clock of the service, which a sandbox may have moved.
    now: serviceNow() / 1_000,
  };
  if (action === 'authorize-bridge') {
    if (destination === undefined) throw new Error('Say where the crypto is to go.');
    return bridgeToSign(common, destination);
  }
  return action === 'authorize-crypto-transfer' ? transferToSign(common) : payoutToSign(common, action);
}

interface Common {
  readonly order: Order;
  readonly funds: OrderFunds;
  readonly trust: Trust;
  readonly now: number;
}

function escrowOf({ escrow }: OrderFunds) {
  if (escrow === null) throw new SigningRefusedError('ESCROW_MISMATCH', 'escrow', 'an escrow', 'none yet');
  return escrow;
}

function namesOf({ wallet, treasury }: Trust, more: Names): Names {
  return {
    ...(treasury === undefined ? {} : { [treasury]: 'the platform, as its fee' }),
    ...more,
    [wallet]: 'your wallet',
  };
}

async function transferToSign({ order, trust, funds, now }: Common): Promise<PartnerSignature> {
  const { owners, address } = escrowOf(funds);
  const parameters = await api.orders.transferParameters(order.order_id);
  const { forward_request } = parameters;
  return {
    reviewed: reviewTransfer({ order, parameters, owners, trust, now }),
    trust,
    names: namesOf(trust, { [address]: 'the escrow of this order' }),
    meaning:
      'The vendor pays the recipient once it is there. If the trade stops, your signature brings all of it back.',
    handIn: (signature) =>
      api.orders.authorizeTransfer(order.order_id, { forward_request: { ...forward_request }, signature }),
  };
}

async function payoutToSign(
  { order, trust, funds }: Common,
  action: 'authorize-refund' | 'authorize-release',
): Promise<PartnerSignature> {
  const { orders } = api;
  const { owners, address } = escrowOf(funds);
  const common = { trust, names: namesOf(trust, { [address]: 'the escrow of this order' }) };
  if (action === 'authorize-refund') {
    const parameters = await orders.refundParameters(order.order_id);
    return {
      ...common,
      reviewed: reviewRefund({ order, parameters, owners, trust, shortfall: shortfallOf(funds) }),
      meaning: 'The whole deposit comes back. The order then cannot be paid out any more.',
      handIn: (signature) => orders.authorizeRefund(order.order_id, { signature }),
    };
  }
  const parameters = await orders.releaseParameters(order.order_id);
  return {
    ...common,
    reviewed: reviewRelease({ order, parameters, owners, trust }),
    meaning: 'The dispute was decided for you. The order then cannot be refunded any more.',
    handIn: (signature) => orders.authorizeRelease(order.order_id, { signature }),
  };
}

async function bridgeToSign(
  { order, trust, now }: Common,
  destination: Destination,
): Promise<PartnerSignature> {
  const { destination_chain: chain, destination_address: address } = destination;
  const parameters = await api.orders.bridgeParameters(order.order_id, { ...destination });
  const { forward_request, solver_address, to_amount } = parameters;
  return {
    reviewed: reviewBridge({ order, parameters, destination, trust, now }),
    trust,
    names: namesOf(trust, { [solver_address]: 'the bridge' }),
    meaning: `The bridge pays ${address} on ${chain}: ${to_amount} in the smallest units there.`,
    handIn: (signature) =>
      api.orders.authorizeBridge(order.order_id, {
        ...destination,
        forward_request: { ...forward_request },
        signature,
      }),
  };
}

/** What an operator has accepted to be missing from the deposit: expected less booked, in exact units. */
export function shortfallOf({ escrow, deposits }: OrderFunds): string {
  const isAgreed = deposits.some(({ kind, status }) => kind === 'short' && status === 'accepted');
  if (escrow === null || !isAgreed) return '0';
  const decimals = escrow.expected_amount.split('.')[1]?.length ?? 0;
  const units = (text: string) => {
    const [whole = '0', fraction = ''] = text.split('.');
    return BigInt(whole + fraction.padEnd(decimals, '0'));
  };
  const missing = units(escrow.expected_amount) - units(escrow.booked_amount);
  if (missing <= 0n) return '0';
  const digits = missing.toString().padStart(decimals + 1, '0');
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
