import { type BridgeAuthorizationParametersSchema, CausewayError } from '@causeway/protocol';
import type { Static } from 'typebox';
import { acceptAuthorization } from '../../chain/accept-authorization.ts';
import { bridgeParameters } from '../../chain/authorization.ts';
import {
  type BridgePort,
  type BridgeQuote,
  BridgeRefusedError,
  BridgeUnavailableError,
  type BridgeWish,
} from '../../chain/bridge.ts';
import { type Address, tokenByCode } from '../../chain/chain-settings.ts';
import type { Chains } from '../../chain/chains.ts';
import { issueAuthorization } from '../../chain/issue-authorization.ts';
import type { UnitOfWork, UnitTools } from '../../engine/unit-of-work.ts';
import { refuseLostWallets, requireClearWallet, type WalletTools } from '../screening/screen-wallet.ts';
import { loadOrderForAction, moveOrder } from './act-on-order.ts';
import { escrowOfOrder, orderToSign, type SignedTransfer } from './authorize-transfer.ts';
import { receiptOf } from './order.escrow.ts';
import type { OrderHosts } from './order.host.ts';
import type { OrderRow } from './order.types.ts';

export interface SendOutTools extends UnitTools, WalletTools {
  readonly chains: Chains;
  readonly bridge: BridgePort | undefined;
}

export interface Destination {
  readonly destination_chain: string;
  readonly destination_address: string;
}

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const ZERO_ADDRESS = /^0x0{40}$/;

/** What the partner signs to send the end user's crypto from its wallet to another network. */
export async function bridgeAuthorizationParameters(
  tools: SendOutTools,
  partnerId: string,
  orderId: string,
  destination: Destination,
): Promise<Static<typeof BridgeAuthorizationParametersSchema>> {
  const order = await orderToSign(tools, partnerId, orderId, 'bridge_authorized');
  const chain = tools.chains.get(order.chain);
  const target = targetOf(tools.chains, order, destination);
  await requireClearWallet(tools, target.address);
  const token = tokenByCode(chain.settings, order.crypto_currency);
  const sender = escrowOfOrder(order).buyer;
  const quote = await askBridge(tools.bridge, {
    fromChainId: chain.settings.chainId,
    toChainId: target.chainId,
    token: token.address,
    amount: receiptOf(order),
    sender,
    recipient: target.address,
  });
  const authorization = await issueAuthorization(tools, chain, {
    orderId,
    partnerId,
    sender,
    token: token.address,
    amount: receiptOf(order),
    recipient: quote.solver,
    bridge: {
      quoteId: quote.quoteId,
      toAmount: `${quote.toAmount}`,
      destinationChain: destination.destination_chain,
      destinationAddress: target.address,
      expiresAt: quote.expiresAt.toISOString(),
    },
  });
  return bridgeParameters(chain.settings, token, authorization);
}

export async function authorizeBridge(
  tools: { readonly chains: Chains; readonly orderHosts: OrderHosts },
  unit: UnitOfWork,
  orderId: string,
  signed: SignedTransfer & Destination,
): Promise<OrderRow> {
  const order = await loadOrderForAction(unit, orderId);
  const authorized = moveOrder(unit, tools.orderHosts, order, 'bridge_authorized', 'partner');
  await refuseLostWallets(unit, [signed.destination_address]);
  await acceptAuthorization(unit, tools.chains.get(order.chain).settings, {
    orderId,
    purpose: 'bridge',
    forwardRequest: signed.forward_request,
    signature: signed.signature,
    destination: { chain: signed.destination_chain, address: signed.destination_address },
  });
  return authorized;
}

function targetOf(
  chains: Chains,
  order: OrderRow,
  destination: Destination,
): { chainId: number; address: Address } {
  const { destination_chain: slug, destination_address: address } = destination;
  const target = chains.all.find(({ settings }) => settings.slug === slug);
  if (target === undefined || slug === order.chain) throw invalid('destination_chain');
  if (!EVM_ADDRESS.test(address) || ZERO_ADDRESS.test(address)) throw invalid('destination_address');
  return { chainId: target.settings.chainId, address: address as Address };
}

async function askBridge(bridge: BridgePort | undefined, wish: BridgeWish): Promise<BridgeQuote> {
  if (bridge === undefined) throw invalid('destination_chain');
  try {
    return await bridge.quote(wish);
  } catch (error) {
    if (error instanceof BridgeRefusedError) throw invalid('destination_chain', error);
    if (error instanceof BridgeUnavailableError) {
      throw new CausewayError('TRANSACTOR_UNAVAILABLE', { cause: error });
    }
    throw error;
  }
}

function invalid(field: keyof Destination, cause?: unknown): CausewayError {
  return new CausewayError('INVALID_DESTINATION', { details: { field }, cause });
}
