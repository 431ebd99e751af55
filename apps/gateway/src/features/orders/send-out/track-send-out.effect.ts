import { AUTHORIZATION_LIVE } from '@causeway/protocol';
import { findByQuote, recordOverdue } from '../../../chain/authorization/authorization.store.ts';
import type { Authorization } from '../../../chain/authorization/authorization.ts';
import {
  type BridgePort,
  type BridgeProgress,
  BridgeRefusedError,
  BridgeUnavailableError,
} from '../../../chain/bridge/bridge.ts';
import { claimPayout } from '../../../chain/bridge/bridge-payout.store.ts';
import { seePayout } from '../../../chain/bridge/bridge-payout.ts';
import type { Hex } from '../../../chain/chain-settings.ts';
import type { Chains } from '../../../chain/chains.ts';
import { ChainUnavailableError } from '../../../chain/transactions/transaction-rpc.ts';
import { SYSTEM } from '../../../db/database.ts';
import { type Intent, prepareIntent } from '../../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../../engine/intent-handler.ts';
import { type UnitDeps, type UnitOfWork, unitOfWork } from '../../../engine/unit-of-work.ts';
import { schedule } from '../../../lib/backoff.ts';
import type { Logger } from '../../../lib/logger.ts';
import { reportFacts } from '../lifecycle/act-on-order.ts';
import type { OrderAdapters } from '../lifecycle/order.adapter.ts';
import { setSendOutHash } from '../lifecycle/order.store.ts';

export interface TrackingDeps extends UnitDeps {
  readonly chains: Chains;
  readonly logger: Logger;
  readonly orderAdapters: OrderAdapters;
  readonly bridge: BridgePort | undefined;
  readonly config: { readonly bridgeReviewAfterSeconds: number };
}

/** What the bridge says, once it is known to be true. */
type Finding = Exclude<BridgeProgress, { state: 'pending' }> | { state: 'open'; reason: string };

const POLL_MS = 400;
/** An operator is looking by then; the bridge may still answer. */
const OVERDUE_POLL_MS = 5_000;

/** The bridge was paid: from here on it is asked what became of it. */
export function followSendOut(unit: UnitOfWork, { orderId, partnerId, bridge }: Authorization): void {
  if (bridge === null) return;
  prepareIntent(unit, {
    kind: 'bridge.track',
    dedupeKey: bridge.quoteId,
    partnerId,
    payload: { order_id: orderId, quote_id: bridge.quoteId },
  });
}

/**
 * Asks the bridge until it has paid out, or has given the deposit back. A bridge that was paid and says neither in time
 * has the money, so the order does not fail: it is held for an operator, and the bridge is asked on.
 */
export function trackSendOutHandler(deps: TrackingDeps): IntentHandler<'bridge.track'> {
  async function look({ payload }: Intent<'bridge.track'>): Promise<Outcome> {
    const paid = await findByQuote(deps.db, payload.quote_id);
    if (paid === undefined) return { kind: 'failed', error: 'nothing was signed for this quote' };
    const found = await askBridge(deps, paid, payload.quote_id as Hex);
    switch (found.state) {
      case 'open':
        return waitOrEscalate(deps, paid, found.reason);
      case 'settled':
        return {
          kind: 'confirmed',
          result: { tx_hash: found.txHash },
          followUp: async (unit) => {
            await reportFacts(deps, unit, paid.orderId, ['bridge_settled'], 'provider');
            unit.tx.defer(setSendOutHash, [paid.orderId, found.txHash]);
          },
        };
      case 'failed':
        return {
          kind: 'failed',
          error: found.reason,
          followUp: (unit) => reportReturned(deps, unit, paid),
        };
    }
  }
  return { schedule: schedule([5], { maxAttempts: 1_000 }), perform: look };
}

/** The order can be sent out again, once the request that paid cannot execute any more. */
async function reportReturned(deps: TrackingDeps, unit: UnitOfWork, paid: Authorization): Promise<void> {
  await reportFacts(deps, unit, paid.orderId, ['bridge_failed'], 'provider');
  if (paid.status !== AUTHORIZATION_LIVE) {
    await reportFacts(deps, unit, paid.orderId, ['bridge_authorization_lapsed'], 'chain');
  }
}

async function askBridge(deps: TrackingDeps, paid: Authorization, quoteId: Hex): Promise<Finding> {
  if (deps.bridge === undefined) return { state: 'open', reason: 'no bridge is configured' };
  try {
    const progress = await deps.bridge.track(quoteId);
    if (progress.state === 'pending') return { state: 'open', reason: 'the bridge has not paid out yet' };
    return progress.state === 'settled' ? await verified(deps, paid, progress) : progress;
  } catch (error) {
    const isSilence =
      error instanceof BridgeUnavailableError ||
      error instanceof BridgeRefusedError ||
      error instanceof ChainUnavailableError;
    if (!isSilence) throw error;
    return { state: 'open', reason: error.message };
  }
}

/** The payout is there, and is not what another send-out was completed with. */
async function verified(
  deps: TrackingDeps,
  paid: Authorization,
  settled: Extract<BridgeProgress, { state: 'settled' }>,
): Promise<Finding> {
  const { txHash } = settled;
  const seen = await seePayout(deps.chains, paid, txHash);
  if (seen.sight !== 'arrived') {
    return { state: 'open', reason: `the chain does not show the payout ${txHash}` };
  }
  const isOurs = await unitOfWork(deps, SYSTEM, (unit) => claimPayout(unit, paid, txHash, seen));
  if (isOurs) return settled;
  return { state: 'open', reason: `the payout ${txHash} is counted for another send-out` };
}

async function waitOrEscalate(deps: TrackingDeps, paid: Authorization, reason: string): Promise<Outcome> {
  if (deps.clock.now() < reviewTimeOf(paid, deps.config.bridgeReviewAfterSeconds)) {
    return { kind: 'waiting', afterMs: POLL_MS };
  }
  const isNews = await unitOfWork(deps, SYSTEM, async (unit) => {
    if (!(await recordOverdue(unit, paid.authorizationId))) return false;
    await reportFacts(deps, unit, paid.orderId, ['hold_placed'], 'system');
    return true;
  });
  const deposit = paid.depositTxHash;
  if (isNews) {
    deps.logger.error(
      { order_id: paid.orderId, quote_id: paid.bridge?.quoteId, deposit_tx_hash: deposit, reason },
      'a bridge was paid and is overdue; the order is held',
    );
  }
  return {
    kind: 'unknown',
    error: `the bridge was paid by ${deposit} and is overdue: ${reason}`,
    afterMs: OVERDUE_POLL_MS,
  };
}

/** A deposit that took its time is given the same grace as one that was made at once. */
function reviewTimeOf(paid: Authorization, graceSeconds: number): number {
  const known = [paid.issuedAt.getTime(), paid.depositedAt?.getTime() ?? 0];
  if (paid.bridge?.expiresAt !== undefined) known.push(Date.parse(paid.bridge.expiresAt));
  return Math.max(...known) + graceSeconds * 1_000;
}
