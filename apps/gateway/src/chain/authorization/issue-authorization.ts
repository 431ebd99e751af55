import { erc2771Forwarder } from '@causeway/contracts';
import { authorizationMachine, CausewayError, onlyMove } from '@causeway/protocol';
import { getAddress } from 'viem';
import { partnerScope } from '../../db/database.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../engine/unit-of-work.ts';
import { machineNow } from '../../lib/clock.ts';
import type { Address, Hex } from '../chain-settings.ts';
import type { ConnectedChain } from '../chains.ts';
import type { ChainClient } from '../rpc/chain-client.ts';
import { approvalCall, tokenAllowance, tokenBalance } from '../token-reads.ts';
import { answered, ChainUnavailableError } from '../transactions/transaction-rpc.ts';
import { sameAddress } from '../watcher/chain-facts.ts';
import { authorizationsOf, storeAuthorization } from './authorization.store.ts';
import {
  type Authorization,
  type AuthorizationPurpose,
  type BridgeLeg,
  RECOMMENDED_GAS,
  RECOMMENDED_TTL_SECONDS,
} from './authorization.ts';
import { depositToBridgeData, fundEscrowData } from './forward-request.ts';
import { nextNonce } from './forwarder-nonces.store.ts';

/** What shall move, before anyone signs anything. */
export interface AuthorizationRequest {
  readonly orderId: string;
  readonly partnerId: string;
  /** The wallet of the partner, or of the customer that opened the order. */
  readonly sender: Address;
  readonly token: Address;
  readonly amount: bigint;
  /** The escrow of a funding, the solver of a send-out. */
  readonly recipient: Address;
  /** Only for a send-out. */
  readonly bridge?: BridgeLeg;
}

interface ChainView {
  readonly nonce: bigint;
  readonly allowance: bigint;
  readonly balance: bigint;
  /** Unix seconds of the newest block. */
  readonly timestamp: number;
}

/**
 * Prepares a request for the partner's wallet and remembers it exactly. A wallet that could not pay is told so before
 * it signs. Asked again while the last one is still good, it answers the same.
 */
export async function issueAuthorization(
  deps: UnitDeps,
  chain: ConnectedChain,
  requested: AuthorizationRequest,
): Promise<Authorization> {
  const view = await viewChain(chain, requested).catch((error: unknown) => {
    throw error instanceof ChainUnavailableError
      ? new CausewayError('TRANSACTOR_UNAVAILABLE', { cause: error })
      : error;
  });
  requireFunds(chain, requested, view);
  return unitOfWork(deps, partnerScope(requested.partnerId), (unit) => issue(unit, chain, requested, view));
}

async function issue(
  unit: UnitOfWork,
  { settings }: ConnectedChain,
  requested: AuthorizationRequest,
  view: ChainView,
): Promise<Authorization> {
  const { chainId, contracts } = settings;
  const purpose: AuthorizationPurpose = requested.bridge === undefined ? 'funding' : 'bridge';
  const owner = { chainId, forwarder: contracts.forwarder, sender: getAddress(requested.sender) };
  const nonce = await nextNonce(unit, owner, requested.partnerId, view.nonce);
  const ttlSeconds = secondsToSign(requested, unit.at);
  const draft: Authorization = {
    authorizationId: unit.ids.uuid(),
    orderId: requested.orderId,
    partnerId: requested.partnerId,
    purpose,
    ...owner,
    nonce,
    router: contracts.router,
    gas: RECOMMENDED_GAS,
    // Judged by the chain's own clock, which on an idle local chain stands still.
    deadline: Math.max(view.timestamp, Math.floor(machineNow() / 1_000)) + ttlSeconds,
    data: calldataOf(requested),
    token: requested.token,
    amount: requested.amount,
    recipient: requested.recipient,
    bridge: requested.bridge ?? null,
    status: onlyMove(authorizationMachine, 'authorization_issued').to,
    signature: null,
    txHash: null,
    issuedAt: unit.at,
    expiresAt: new Date(unit.at.getTime() + ttlSeconds * 1_000),
    depositTxHash: null,
    depositedAt: null,
  };
  const earlier = (await authorizationsOf(unit, requested.orderId, purpose)).find(
    (issued) => issued.status === draft.status && isStillGood(issued, draft),
  );
  if (earlier !== undefined) return earlier;
  storeAuthorization(unit, draft);
  return draft;
}

/** A send-out must not reach a bridge whose offer has ended: it would keep the deposit and owe nothing for it. */
function secondsToSign({ bridge }: AuthorizationRequest, at: Date): number {
  if (bridge?.expiresAt === undefined) return RECOMMENDED_TTL_SECONDS;
  const offeredSeconds = Math.floor((Date.parse(bridge.expiresAt) - at.getTime()) / 1_000);
  return Math.max(1, Math.min(RECOMMENDED_TTL_SECONDS, offeredSeconds));
}

/** The same request with at least half of its time left. */
function isStillGood(issued: Authorization, draft: Authorization): boolean {
  const leftMs = issued.expiresAt.getTime() - draft.issuedAt.getTime();
  return (
    issued.nonce === draft.nonce &&
    issued.data === draft.data &&
    sameAddress(issued.sender, draft.sender) &&
    sameAddress(issued.forwarder, draft.forwarder) &&
    issued.bridge?.destinationChain === draft.bridge?.destinationChain &&
    issued.bridge?.destinationAddress === draft.bridge?.destinationAddress &&
    leftMs * 2 >= RECOMMENDED_TTL_SECONDS * 1_000
  );
}

function calldataOf({ orderId, token, amount, recipient, bridge }: AuthorizationRequest): Hex {
  return bridge === undefined
    ? fundEscrowData({ orderId, token, escrow: recipient, amount })
    : depositToBridgeData({ bridgeQuoteId: bridge.quoteId, token, solver: recipient, amount });
}

async function viewChain(
  { client, settings }: ConnectedChain,
  requested: AuthorizationRequest,
): Promise<ChainView> {
  const { sender, token } = requested;
  const { forwarder, router } = settings.contracts;
  const [nonce, allowance, balance, block] = await answered(
    Promise.all([
      forwarderNonce(client, forwarder, sender),
      tokenAllowance(client, token, sender, router),
      tokenBalance(client, token, sender),
      client.getBlock(),
    ]),
  );
  return { nonce, allowance, balance, timestamp: Number(block.timestamp) };
}

export function forwarderNonce(
  client: ChainClient,
  forwarder: Address,
  sender: Address,
  blockNumber?: bigint,
): Promise<bigint> {
  return client.readContract({
    abi: erc2771Forwarder.abi,
    address: forwarder,
    functionName: 'nonces',
    args: [sender],
    ...(blockNumber === undefined ? {} : { blockNumber }),
  });
}

function requireFunds({ settings }: ConnectedChain, requested: AuthorizationRequest, view: ChainView): void {
  const { router } = settings.contracts;
  const details = {
    token_address: requested.token,
    wallet_address: requested.sender,
    spender_address: router,
    required: `${requested.amount}`,
  };
  if (view.balance < requested.amount) {
    throw new CausewayError('BALANCE_TOO_LOW', { details: { ...details, actual: `${view.balance}` } });
  }
  if (view.allowance < requested.amount) {
    throw new CausewayError('ALLOWANCE_TOO_LOW', {
      details: {
        ...details,
        actual: `${view.allowance}`,
        approve_calldata: approvalCall(requested.token, router, requested.amount).data,
      },
    });
  }
}
