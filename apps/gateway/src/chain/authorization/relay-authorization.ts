import {
  AUTHORIZATION_LIVE,
  type AuthorizationEnd,
  authorizationMachine,
  onlyMove,
} from '@causeway/protocol';
import { type Intent, MAX_TRANSACTIONS, transactionKey } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-handler.ts';
import type { UnitDeps, UnitOfWork } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Chains, ConnectedChain } from '../chains.ts';
import { answered, ChainUnavailableError } from '../transactions/transaction-rpc.ts';
import type { ChainEffect, Transactor } from '../transactions/transactor.ts';
import type { ChainFactHandler } from '../watcher/chain-facts.ts';
import { earlierUnderWay, findSigned, lockSignedAt, settle } from './authorization.store.ts';
import { type Authorization, type AuthorizationPurpose, contextOf, requestOf } from './authorization.ts';
import { forwardCall } from './forward-request.ts';
import { noteSpent } from './forwarder-nonces.store.ts';
import { forwarderNonce } from './issue-authorization.ts';

const LAPSED = onlyMove(authorizationMachine, 'deadline_passed').to;

/**
 * Told what became of a signed request for good. `spent` says only that its nonce is used: whether its tokens moved is told by
 * the deposit itself, which the watcher reports before this.
 */
export type AuthorizationSettled = (
  authorization: Authorization,
  end: AuthorizationEnd,
  unit: UnitOfWork,
) => Promise<void>;

export interface RelayDeps extends UnitDeps {
  readonly chains: Chains;
  readonly transactor: Transactor;
  readonly logger: Logger;
  readonly onSettled: AuthorizationSettled;
}

type RelayKind = 'transfer.relay' | 'bridge.relay';

const POLL_MS = 400;

/**
 * Submits the signed request of an order and waits until it is settled, one way or the other. Anyone else may submit it
 * too, so its end is read from the chain and never from our own transaction; and a request that reverts stays good
 * until its deadline, so the intent ends only when the request can no longer happen.
 */
export function authorizationRelayHandler(
  deps: RelayDeps,
  purpose: AuthorizationPurpose,
): IntentHandler<RelayKind> {
  async function relay({ payload }: Intent<RelayKind>): Promise<Outcome> {
    const signed = await findSigned(deps.db, payload.order_id, purpose);
    if (signed === undefined) return { kind: 'failed', error: 'nothing was signed' };
    try {
      const isCleared = await clearEarlier(signed);
      const outcome = await advance(signed);
      return isCleared || outcome.kind === 'waiting' ? outcome : { kind: 'waiting', afterMs: POLL_MS };
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error;
      deps.logger.warn({ order_id: signed.orderId, reason: error.message }, 'relaying waits');
      return { kind: 'waiting', afterMs: POLL_MS, reason: error.message };
    }
  }

  /**
   * What was sent for a request before this one is carried through, until none of it is open: it has a nonce of the wallet,
   * and everything behind that waits for it.
   */
  async function clearEarlier(signed: Authorization): Promise<boolean> {
    const earlier = await earlierUnderWay(deps.db, signed);
    let isCleared = true;
    for (const one of earlier) {
      const { isOver } = await advanceTransaction(chainOf(deps.chains, one.chainId), one, false);
      isCleared &&= isOver;
    }
    return isCleared;
  }

  async function advance(signed: Authorization): Promise<Outcome> {
    const chain = chainOf(deps.chains, signed.chainId);
    const isOpen = signed.status === AUTHORIZATION_LIVE;
    const hasLapsed = isOpen && (await isLapsed(chain, signed));
    const { isOver, reason } = await advanceTransaction(chain, signed, isOpen && !hasLapsed);
    if (!isOver || (isOpen && !hasLapsed)) {
      return { kind: 'waiting', afterMs: POLL_MS, ...(reason === undefined ? {} : { reason }) };
    }
    if (!isOpen) return { kind: 'confirmed', result: { end: signed.status } };
    return {
      kind: 'confirmed',
      result: { end: LAPSED },
      followUp: async (unit) => {
        const end = await settle(unit, signed.authorizationId, { on: 'deadline_passed' });
        if (end !== undefined) await deps.onSettled(signed, end, unit);
      },
    };
  }

  /**
   * Sends it when it is the wallet's next. What was once signed is carried through even where it has become pointless
   * and will revert: left alone, it would leave a gap in our own nonces. Where something else has used the nonce of our
   * transaction, another one follows: the forwarder executes a request once, whichever transaction brings it. Over
   * when nothing of ours is on its way.
   */
  async function advanceTransaction(
    chain: ConnectedChain,
    signed: Authorization,
    mayStart: boolean,
  ): Promise<{ readonly isOver: boolean; readonly reason?: string | undefined }> {
    const { orderId, authorizationId } = signed;
    for (let attempt = 1; attempt <= MAX_TRANSACTIONS; attempt++) {
      const key = transactionKey(`forward:${authorizationId}`, attempt);
      const progress = await deps.transactor.advance(key, async () => {
        // A bridge that was paid in another way would be paid again.
        if (!mayStart || signed.depositTxHash !== null) return undefined;
        const next = await answered(forwarderNonce(chain.client, signed.forwarder, signed.sender));
        return next === signed.nonce ? describeRelay(chain, signed) : undefined;
      });
      if (progress.state === 'refused') {
        deps.logger.warn({ order_id: orderId, reason: progress.reason }, 'forward request would revert');
      }
      if (progress.state !== 'displaced') {
        const reason = 'reason' in progress ? progress.reason : undefined;
        return { isOver: progress.state !== 'pending', reason };
      }
      if (progress.isNews) {
        deps.logger.error(
          { order_id: orderId, nonce: progress.nonce },
          'nonce used by a transaction that is not ours',
        );
      }
    }
    return { isOver: true };
  }

  return {
    schedule: schedule([5], { maxAttempts: 1_000 }),
    perform: relay,
    reconcile: relay,
  };
}

/** Settles the request whose nonce the chain shows as used, whichever account used it. */
export function settleAuthorizations(deps: {
  readonly chains: Chains;
  readonly onSettled: AuthorizationSettled;
}): ChainFactHandler {
  return async (fact, unit) => {
    if (fact.type !== 'forward_executed') return;
    const { forwarder } = chainOf(deps.chains, fact.chainId).settings.contracts;
    const owner = { chainId: fact.chainId, forwarder, sender: fact.signer };
    noteSpent(unit, owner, fact.nonce);
    const signed = await lockSignedAt(unit, owner, fact.nonce);
    if (signed === undefined) return;
    const { txHash, succeeded } = fact;
    const end = await settle(unit, signed.authorizationId, { on: 'nonce_spent', txHash, succeeded });
    if (end !== undefined) await deps.onSettled(signed, end, unit);
  };
}

/** Final blocks are past its deadline and none of them has used its nonce: it can never happen any more. */
async function isLapsed({ client, settings }: ConnectedChain, signed: Authorization): Promise<boolean> {
  const head = await answered(client.getBlockNumber({ cacheTime: 0 }));
  const blockNumber = head - BigInt(settings.confirmations) + 1n;
  if (blockNumber < 0n) return false;
  const block = await answered(client.getBlock({ blockNumber }));
  if (Number(block.timestamp) <= signed.deadline) return false;
  if ((await answered(client.agreedBlockHash(blockNumber))) !== block.hash) return false;
  return (
    (await answered(forwarderNonce(client, signed.forwarder, signed.sender, blockNumber))) <= signed.nonce
  );
}

function describeRelay({ settings }: ConnectedChain, signed: Authorization): ChainEffect {
  if (signed.signature === null) throw new Error('a request is relayed once it is signed');
  const call = forwardCall(contextOf(settings, signed), requestOf(signed), signed.signature);
  return { chainId: signed.chainId, sender: 'hot-wallet', call };
}

function chainOf(chains: Chains, chainId: number): ConnectedChain {
  const chain = chains.all.find(({ settings }) => settings.chainId === chainId);
  if (chain === undefined) throw new Error(`chain ${chainId} is not connected`);
  return chain;
}
