import {
  AUTHORIZATION_LIVE,
  type BridgeAuthorizationParametersSchema,
  CausewayError,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { acceptAuthorization } from '../../../chain/authorization/accept-authorization.ts';
import { currentSendOut } from '../../../chain/authorization/authorization.store.ts';
import { type Authorization, bridgeParameters } from '../../../chain/authorization/authorization.ts';
import { issueAuthorization } from '../../../chain/authorization/issue-authorization.ts';
import {
  type BridgePort,
  type BridgeQuote,
  BridgeRefusedError,
  type BridgeRequest,
  BridgeUnavailableError,
} from '../../../chain/bridge/bridge.ts';
import { claimPayout } from '../../../chain/bridge/bridge-payout.store.ts';
import { type SeenPayout as PayoutOnChain, seePayout } from '../../../chain/bridge/bridge-payout.ts';
import { type Address, type Hex, toChecksumAddress, tokenByCode } from '../../../chain/chain-settings.ts';
import type { Chains } from '../../../chain/chains.ts';
import { ChainUnavailableError } from '../../../chain/transactions/transaction-rpc.ts';
import { partnerScope, SYSTEM } from '../../../db/database.ts';
import { answerIntent } from '../../../engine/stuck-intents.store.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../../engine/unit-of-work.ts';
import { refuseLostWallets, requireClearWallet, type WalletDeps } from '../../screening/screen-wallet.ts';
import { escrowOfOrder, orderToSign, type SignedTransfer } from '../escrow/authorize.ts';
import { receiptOf } from '../escrow/escrow.ts';
import { loadOrderForAction, moveOrder } from '../lifecycle/act-on-order.ts';
import type { OrderAdapters } from '../lifecycle/order.adapter.ts';
import { setSendOutHash } from '../lifecycle/order.store.ts';
import type { OrderRow } from '../lifecycle/order.ts';

export interface SendOutDeps extends UnitDeps, WalletDeps {
  readonly chains: Chains;
  readonly bridge: BridgePort | undefined;
}

export interface Destination {
  readonly destination_chain: string;
  readonly destination_address: string;
}

/** What the partner signs to send the end user's crypto from its wallet to another network. */
export async function bridgeAuthorizationParameters(
  deps: SendOutDeps,
  partnerId: string,
  orderId: string,
  destination: Destination,
): Promise<Static<typeof BridgeAuthorizationParametersSchema>> {
  const caller = { actor: 'partner', scope: partnerScope(partnerId) } as const;
  const order = await orderToSign(deps, caller, orderId, 'bridge_authorized');
  const chain = deps.chains.get(order.chain);
  const target = targetOf(deps.chains, order, destination);
  await requireClearWallet(deps, target.address);
  const token = tokenByCode(chain.settings, order.crypto_currency);
  const sender = escrowOfOrder(order).buyer;
  const quote = await askBridge(deps.bridge, {
    fromChainId: chain.settings.chainId,
    toChainId: target.chainId,
    token: token.address,
    amount: receiptOf(order),
    sender,
    recipient: target.address,
  });
  const authorization = await issueAuthorization(deps, chain, {
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
  deps: { readonly chains: Chains; readonly orderAdapters: OrderAdapters },
  unit: UnitOfWork,
  orderId: string,
  signed: SignedTransfer & Destination,
): Promise<OrderRow> {
  const order = await loadOrderForAction(unit, orderId);
  const authorized = moveOrder(unit, deps.orderAdapters, order, 'bridge_authorized', 'partner');
  await refuseLostWallets(unit, [signed.destination_address]);
  await acceptAuthorization(unit, deps.chains.get(order.chain).settings, {
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
  const { destination_chain: slug, destination_address: text } = destination;
  const others = chains.all.map(({ settings }) => settings).filter((one) => one.slug !== order.chain);
  const target = others.find((one) => one.slug === slug);
  // The listings name more chains than a deployment is connected to.
  if (target === undefined) throw invalid('destination_chain', { supported: others.map((one) => one.slug) });
  // What is sent to a mistyped address is lost.
  const address = toChecksumAddress(text);
  if (address === undefined) throw invalid('destination_address');
  return { chainId: target.chainId, address };
}

async function askBridge(bridge: BridgePort | undefined, requested: BridgeRequest): Promise<BridgeQuote> {
  if (bridge === undefined) throw invalid('destination_chain', { supported: [] });
  try {
    return await bridge.quote(requested);
  } catch (error) {
    if (error instanceof BridgeRefusedError) throw invalid('destination_chain', { cause: error });
    if (error instanceof BridgeUnavailableError) {
      throw new CausewayError('TRANSACTOR_UNAVAILABLE', { cause: error });
    }
    throw error;
  }
}

function invalid(
  field: keyof Destination,
  { supported, cause }: { readonly supported?: readonly string[]; readonly cause?: unknown } = {},
): CausewayError {
  const slugs = supported?.join(', ') ?? '';
  return new CausewayError('INVALID_DESTINATION', {
    ...(slugs === '' ? {} : { message: `The destination is not valid: ${field} must be one of ${slugs}.` }),
    details: { field, ...(supported === undefined ? {} : { destination_chains: [...supported] }) },
    cause,
  });
}

/** What an operator has found out about a send-out whose bridge was paid and does not answer. */
export type SendOutEnd =
  | { readonly outcome: 'settled'; readonly txHash: Hex }
  | { readonly outcome: 'failed' };

/** What the other chain shows of the payout that the operator names, and of which send-out that was asked. */
export interface SeenPayout {
  readonly authorizationId: string | null;
  readonly sight: PayoutOnChain['sight'] | 'unreachable';
  readonly payout: PayoutOnChain | null;
}

export interface DecidedSendOut {
  readonly before: OrderRow;
  readonly after: OrderRow;
}

const NOTE = 'answered by an operator';

/** Asks the other chain, outside any transaction. Refuses nothing: the decision does. */
export async function lookForPayout(
  deps: UnitDeps & { readonly chains: Chains },
  orderId: string,
  txHash: Hex,
): Promise<SeenPayout> {
  const sendOut = await unitOfWork(deps, SYSTEM, (unit) => currentSendOut(unit, orderId));
  if (sendOut === undefined) return { authorizationId: null, sight: 'not_seen', payout: null };
  const { authorizationId } = sendOut.paid;
  try {
    const payout = await seePayout(deps.chains, sendOut.paid, txHash);
    return { authorizationId, sight: payout.sight, payout };
  } catch (error) {
    if (!(error instanceof ChainUnavailableError)) throw error;
    return { authorizationId, sight: 'unreachable', payout: null };
  }
}

/**
 * Ends a send-out in the operator's name. The bridge is asked no more: a late answer of its would otherwise be taken for
 * that of the next send-out.
 */
export async function decideSendOut(
  unit: UnitOfWork,
  adapters: OrderAdapters,
  orderId: string,
  end: SendOutEnd,
  seen: SeenPayout | null,
): Promise<DecidedSendOut> {
  const sendOut = await currentSendOut(unit, orderId);
  // The worker locks what it asks about before the order; so does this.
  if (sendOut?.paid.bridge) {
    const status = end.outcome === 'settled' ? 'confirmed' : 'failed';
    await unit.tx.query(answerIntent, ['bridge.track', sendOut.paid.bridge.quoteId, status, unit.at, NOTE]);
  }
  const before = await loadOrderForAction(unit, orderId);
  if (end.outcome === 'failed') {
    const failed = moveOrder(unit, adapters, before, 'bridge_failed', 'operator');
    const paid = requireSilence(sendOut);
    const isOver = paid.status !== AUTHORIZATION_LIVE;
    const after = isOver ? moveOrder(unit, adapters, failed, 'bridge_authorization_lapsed', 'chain') : failed;
    return { before, after };
  }
  const after = moveOrder(unit, adapters, before, 'bridge_settled', 'operator');
  await requirePayout(unit, requireSilence(sendOut), end.txHash, seen);
  unit.tx.defer(setSendOutHash, [orderId, end.txHash]);
  return { before, after };
}

/** Until it is overdue the bridge is believed, and a request that paid nothing ends by itself. */
function requireSilence(sendOut: Awaited<ReturnType<typeof currentSendOut>>): Authorization {
  if (sendOut === undefined || sendOut.paid.depositTxHash === null) {
    throw notAllowed('The bridge was not paid; the send-out ends by itself.');
  }
  if (sendOut.overdueAt === null) throw notAllowed('The bridge still has time to answer.');
  return sendOut.paid;
}

async function requirePayout(
  unit: UnitOfWork,
  paid: Authorization,
  txHash: Hex,
  seen: SeenPayout | null,
): Promise<void> {
  if (seen?.sight === 'unreachable') throw new CausewayError('TRANSACTOR_UNAVAILABLE');
  const isProven = seen?.sight === 'arrived' || seen?.sight === 'elsewhere';
  if (!isProven || seen.payout === null || seen.authorizationId !== paid.authorizationId) {
    throw notAllowed('The other chain does not show this payout.');
  }
  if (!(await claimPayout(unit, paid, txHash, seen.payout))) {
    throw notAllowed('This payout is counted for another send-out.');
  }
}

function notAllowed(message: string): CausewayError {
  return new CausewayError('OPERATION_NOT_ALLOWED', { message });
}
