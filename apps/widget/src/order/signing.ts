import {
  type Address,
  eip1193Signer,
  reviewRefund,
  reviewRelease,
  reviewTransfer,
  type Signer,
  SigningRefusedError,
  signRefund,
  signRelease,
  signTransfer,
  type Trust,
} from '@causeway/sdk/signing';
import { askWallet, type Connection } from '../host/wallet.ts';
import type { Api, Funding, Order, PayoutParameters, Session, TransferParameters } from '../session/api.ts';
import { serverNow } from '../session/clock.ts';

/** What the wallet is asked to sign, after it has been held against the order. Nothing reaches a wallet any other way. */

export type Purpose = 'transfer' | 'refund' | 'release';

export interface ToSign {
  readonly purpose: Purpose;
  readonly amount: string;
  readonly currency: string;
  readonly escrow: string;
  readonly wallet: string;
  /** Milliseconds; null where the signature has no end of its own. */
  readonly deadline: number | null;
  /** Asks the wallet and sends its signature; throws what refused it. */
  readonly sign: (signer: Signer) => Promise<string>;
  readonly send: (signature: string) => Promise<Order>;
}

const CONTRACTS = [
  'forwarder',
  'router',
  'safeSingleton',
  'safeProxyFactory',
  'fallbackHandler',
  'multiSendCallOnly',
] as const satisfies readonly (keyof Trust['contracts'])[];

/** What everything is held against: the order’s own wallet, the chain and tokens of the session, the deployment’s contracts. */
export function trustOf(
  { wallet_address, chain }: Pick<Order, 'wallet_address' | 'chain'>,
  session: Pick<Session, 'chain'>,
  { trust }: Pick<Funding, 'trust'>,
): Trust {
  if (chain !== session.chain.slug) {
    throw new SigningRefusedError('CHAIN_MISMATCH', 'chain', session.chain.slug, chain);
  }
  const { contracts, forwarder, router, service, treasury, partner } = trust;
  const all: Readonly<Record<string, string>> = { ...contracts, forwarder, router };
  return {
    chainId: session.chain.chain_id,
    contracts: Object.fromEntries(
      CONTRACTS.map((name) => [name, all[name] as Address]),
    ) as unknown as Trust['contracts'],
    wallet: wallet_address,
    service,
    treasury,
    ...(partner === null ? {} : { partner }),
    tokens: Object.fromEntries(
      session.chain.tokens.map(({ code, address, decimals }) => [code, { address, decimals }]),
    ),
  };
}

interface Preparation {
  readonly order: Order;
  readonly session: Session;
  readonly funding: Funding;
  readonly api: Api;
}

/** Reads what is to be signed and refuses it unless everything fits. */
export async function prepare(purpose: Purpose, preparation: Preparation): Promise<ToSign> {
  const { order, api } = preparation;
  if (purpose === 'transfer')
    return transferToSign(preparation, await api.transferParameters(order.order_id));
  return payoutToSign(purpose, preparation, await api.payoutParameters(order.order_id, purpose));
}

function commonRequest({ order, session, funding }: Preparation) {
  const { service, seller, buyer } = funding.trust;
  return { order, trust: trustOf(order, session, funding), owners: { service, seller, buyer } };
}

export function transferToSign(preparation: Preparation, parameters: TransferParameters): ToSign {
  const { order, api } = preparation;
  const request = () => ({ ...commonRequest(preparation), parameters, now: serverNow() / 1_000 });
  reviewTransfer(request());
  return {
    purpose: 'transfer',
    amount: parameters.amount_human,
    currency: parameters.crypto_currency,
    escrow: parameters.escrow_address,
    wallet: parameters.sender_address,
    deadline: Number(parameters.forward_request.deadline) * 1_000,
    sign: async (signer) => (await signTransfer(request(), signer)).signature,
    send: (signature) => api.authorizeTransfer(order.order_id, parameters.forward_request, signature),
  };
}

export function payoutToSign(
  purpose: 'refund' | 'release',
  preparation: Preparation,
  parameters: PayoutParameters,
): ToSign {
  const { order, api } = preparation;
  const request = { ...commonRequest(preparation), parameters, shortfall: preparation.funding.shortfall };
  const [review, sign] = purpose === 'refund' ? [reviewRefund, signRefund] : [reviewRelease, signRelease];
  review(request);
  return {
    purpose,
    amount: parameters.amount_human,
    currency: parameters.crypto_currency,
    escrow: parameters.escrow_address,
    wallet: parameters.recipient_address,
    deadline: null,
    sign: async (signer) => (await sign(request, signer)).signature,
    send: (signature) => api.authorizePayout(order.order_id, purpose, signature),
  };
}

/** The connected wallet as what signs; whatever it answers is checked against the order’s own address. */
export function walletSigner({ wallet }: Connection, address: string): Signer {
  const provider = {
    request: ({ params }: { readonly params: readonly unknown[] }) =>
      askWallet(wallet, 'eth_signTypedData_v4', params),
  };
  return eip1193Signer(provider, address);
}
