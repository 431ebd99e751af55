import type { Order, OrderFunds } from '@causeway/sdk';
import {
  type Reviewed,
  reviewBridge,
  reviewRefund,
  reviewRelease,
  reviewTransfer,
  type Signer,
  SigningRefusedError,
  signBridge,
  signRefund,
  signRelease,
  signTransfer,
  type Trust,
} from '@causeway/sdk/signing';
import { api, consoleCall } from '../../api/client.ts';
import { loadSession } from '../../api/session.ts';
import { formatAmount } from '../../ui/values.tsx';
import type { SigningTrust } from './order-money.tsx';

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

export interface ToSign {
  /** One sentence: what the signature does. */
  readonly sentence: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
  readonly reviewed: Reviewed;
  /** The wallet that has to sign. */
  readonly wallet: string;
  readonly chainId: number;
  /** Asks the wallet, checks what it gives and hands it in. */
  readonly signAndSend: (signer: Signer) => Promise<unknown>;
}

/** Reads everything anew and refuses it unless everything fits. */
export async function prepareSignature(
  orderId: string,
  action: SignedAction,
  destination: Destination | undefined,
): Promise<ToSign> {
  const [order, funds, trusted, session] = await Promise.all([
    api.orders.get(orderId),
    api.orders.funds(orderId),
    consoleCall<SigningTrust>('getSigningTrust'),
    loadSession(),
  ]);
  // Signed requests end by the clock of the service, which a sandbox may have moved.
  const now = Math.max(Date.now(), Date.parse(session?.server_time ?? '') || 0) / 1_000;
  const common: Common = { order, trust: trustOf(trusted, funds), funds, now };
  if (action === 'authorize-bridge') {
    if (destination === undefined) throw new Error('Say where the crypto is to go.');
    return bridgeToSign(common, destination);
  }
  if (action === 'authorize-crypto-transfer') return transferToSign(common);
  return payoutToSign(common, action);
}

interface Common {
  readonly order: Order;
  readonly trust: Trust;
  readonly funds: OrderFunds;
  readonly now: number;
}

function trustOf({ wallet_address, chains }: SigningTrust, funds: OrderFunds): Trust {
  const chain = chains.find(({ slug }) => slug === funds.chain);
  if (chain === undefined || wallet_address === null) {
    throw new SigningRefusedError(
      'CHAIN_MISMATCH',
      'chain',
      chains.map(({ slug }) => slug).join(', '),
      funds.chain,
    );
  }
  return {
    chainId: chain.chain_id,
    contracts: chain.contracts as Trust['contracts'],
    wallet: wallet_address,
    // The address of the escrow is made of its owners: another service would have another escrow.
    service: funds.escrow?.owners.service ?? '',
    treasury: chain.treasury,
    bridgeSolvers: 'any',
    tokens: Object.fromEntries(
      chain.tokens.map(({ code, address, decimals }) => [code, { address, decimals }]),
    ),
  };
}

function ownersOf({ escrow }: OrderFunds) {
  if (escrow === null) throw new SigningRefusedError('ESCROW_MISMATCH', 'escrow', 'an escrow', 'none yet');
  return escrow.owners;
}

const amountOf = (amount: string, currency: string) => `${formatAmount(amount)} ${currency}`;
const until = (seconds: string) =>
  new Date(Number(seconds) * 1_000).toISOString().slice(0, 19).replace('T', ' ');

async function transferToSign({ order, trust, funds, now }: Common): Promise<ToSign> {
  const parameters = await api.orders.transferParameters(order.order_id);
  const request = { order, parameters, owners: ownersOf(funds), trust, now };
  const reviewed = reviewTransfer(request);
  const amount = amountOf(parameters.amount_human, parameters.crypto_currency);
  return {
    sentence: `Move ${amount} from your wallet into the escrow of this order, and nothing else.`,
    facts: [
      ['Amount', amount],
      ['From', parameters.sender_address],
      ['Into escrow', parameters.escrow_address],
      ['Token contract', parameters.token_address],
      ['Chain', `${funds.chain} (${parameters.chain_id})`],
      ['Good until', `${until(parameters.forward_request.deadline)} UTC`],
      ['Number of the request', parameters.forward_request.nonce],
    ],
    reviewed,
    wallet: trust.wallet,
    chainId: trust.chainId,
    signAndSend: async (signer) =>
      api.orders.authorizeTransfer(order.order_id, await signTransfer(request, signer)),
  };
}

async function payoutToSign(
  { order, trust, funds }: Common,
  action: 'authorize-refund' | 'authorize-release',
): Promise<ToSign> {
  const isRefund = action === 'authorize-refund';
  const { orders } = api;
  const parameters = isRefund
    ? await orders.refundParameters(order.order_id)
    : await orders.releaseParameters(order.order_id);
  const request = {
    order,
    parameters,
    owners: ownersOf(funds),
    trust,
    ...(isRefund ? { shortfall: shortfallOf(funds) } : {}),
  };
  const reviewed = isRefund ? reviewRefund(request) : reviewRelease(request);
  const amount = amountOf(parameters.amount_human, parameters.crypto_currency);
  return {
    sentence: isRefund
      ? `Pay the whole deposit of ${amount} back from the escrow to your wallet. The order then cannot be paid out any more.`
      : `Pay ${amount} from the escrow to your wallet, and the platform its fee. The order then cannot be refunded any more.`,
    facts: [
      ['Amount', amount],
      ['From escrow', parameters.escrow_address],
      ['To', parameters.recipient_address],
      ['Token contract', parameters.token_address],
      ['Chain', `${funds.chain} (${parameters.chain_id})`],
    ],
    reviewed,
    wallet: trust.wallet,
    chainId: trust.chainId,
    signAndSend: async (signer) =>
      isRefund
        ? orders.authorizeRefund(order.order_id, await signRefund(request, signer))
        : orders.authorizeRelease(order.order_id, await signRelease(request, signer)),
  };
}

async function bridgeToSign({ order, trust, funds, now }: Common, destination: Destination): Promise<ToSign> {
  const parameters = await api.orders.bridgeParameters(order.order_id, { ...destination });
  const request = { order, parameters, destination, trust, now };
  const reviewed = reviewBridge(request);
  const amount = amountOf(parameters.amount_human, parameters.crypto_currency);
  return {
    sentence: `Pay ${amount} from your wallet to the bridge, which pays ${destination.destination_address} on ${destination.destination_chain}.`,
    facts: [
      ['Amount', amount],
      ['From', parameters.sender_address],
      ['Bridge', parameters.solver_address],
      ['To', `${destination.destination_address} on ${destination.destination_chain}`],
      ['Arrives, in the smallest units there', parameters.to_amount],
      ['Chain', `${funds.chain} (${parameters.chain_id})`],
      ['Good until', `${until(parameters.forward_request.deadline)} UTC`],
    ],
    reviewed,
    wallet: trust.wallet,
    chainId: trust.chainId,
    signAndSend: async (signer) =>
      api.orders.authorizeBridge(order.order_id, await signBridge(request, signer)),
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
