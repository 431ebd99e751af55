import type { Actor, OrderTrigger } from '@causeway/protocol';
import type { Authorization } from '../../chain/authorization.ts';
import { type BridgePort, type BridgeProgress, BridgeUnavailableError } from '../../chain/bridge.ts';
import type { ChainFactHandler } from '../../chain/chain-facts.ts';
import type { Chains } from '../../chain/chains.ts';
import { authorizationRelayHandler, settleAuthorizations } from '../../chain/relay-authorization.ts';
import type { Transactor } from '../../chain/transactor.ts';
import { execute } from '../../engine/execute.ts';
import { type Intent, prepareIntent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import type { UnitOfWork, UnitTools } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { Logger } from '../../lib/logger.ts';
import type { OrderHosts } from './order.host.ts';
import { lockOrder, setSendOutHash } from './order.store.ts';

/** What orders learn of the requests their partners signed, and of the bridge that was paid by one. */
export interface AuthorizationTools extends UnitTools {
  readonly chains: Chains;
  readonly transactor: Transactor;
  readonly logger: Logger;
  readonly orderHosts: OrderHosts;
  readonly bridge: BridgePort | undefined;
}

type TrackPayload = { readonly order_id: string; readonly quote_id: string };

const TRACK = 'bridge.track';
const POLL_MS = 400;

/** Reports facts in turn. One that the order has no use for any more is refused by the table and changes nothing. */
async function report(
  tools: { readonly orderHosts: OrderHosts },
  unit: UnitOfWork,
  orderId: string,
  triggers: readonly OrderTrigger[],
  actor: Actor,
): Promise<void> {
  let [order] = await unit.tx.query(lockOrder, [orderId]);
  for (const trigger of triggers) {
    if (order === undefined) return;
    order = execute(unit, tools.orderHosts[order.direction], order, trigger, actor).row;
  }
}

/** The request can no longer execute, and its tokens did not move. */
const DEAD: Readonly<Record<Authorization['purpose'], readonly OrderTrigger[]>> = {
  funding: ['transfer_authorization_lapsed'],
  bridge: ['bridge_failed', 'bridge_authorization_lapsed'],
};

export function authorizationHandlers(tools: AuthorizationTools): IntentHandler<never>[] {
  const onSettled = (authorization: Authorization, _end: string, unit: UnitOfWork) =>
    report(tools, unit, authorization.orderId, DEAD[authorization.purpose], 'chain');
  const deps = { ...tools, onSettled };
  return [
    authorizationRelayHandler(deps, { kind: 'transfer.relay', purpose: 'funding' }),
    authorizationRelayHandler(deps, { kind: 'bridge.relay', purpose: 'bridge' }),
    trackHandler(tools),
  ];
}

/**
 * A request that was executed. A funding's deposit has reported itself by then, from the same transaction, so only a
 * request without effect is news; a send-out goes on at the bridge.
 */
export function followAuthorizations(tools: AuthorizationTools): ChainFactHandler {
  return async (fact, unit) => {
    if (fact.type !== 'forward_executed') return;
    const settle = settleAuthorizations({
      chains: tools.chains,
      onSettled: async (authorization) => {
        const { orderId, partnerId, purpose, bridge } = authorization;
        if (!fact.succeeded) return report(tools, unit, orderId, DEAD[purpose], 'chain');
        if (bridge === null) return;
        prepareIntent(unit, {
          kind: TRACK,
          dedupeKey: bridge.quoteId,
          partnerId,
          payload: { order_id: orderId, quote_id: bridge.quoteId },
        });
      },
    });
    await settle(fact, unit);
  };
}

/** Asks the bridge until it has paid out, or will not. */
function trackHandler(tools: AuthorizationTools): IntentHandler<TrackPayload> {
  async function look({ payload }: Intent<TrackPayload>): Promise<Outcome> {
    if (tools.bridge === undefined) return { kind: 'waiting', afterMs: POLL_MS };
    let progress: BridgeProgress;
    try {
      progress = await tools.bridge.track(payload.quote_id as `0x${string}`);
    } catch (error) {
      if (!(error instanceof BridgeUnavailableError)) throw error;
      return { kind: 'waiting', afterMs: POLL_MS };
    }
    return outcomeOf(payload.order_id, progress);
  }

  function outcomeOf(orderId: string, progress: BridgeProgress): Outcome {
    switch (progress.state) {
      case 'pending':
        return { kind: 'waiting', afterMs: POLL_MS };
      case 'settled':
        return {
          kind: 'confirmed',
          result: { tx_hash: progress.txHash },
          followUp: async (unit) => {
            await report(tools, unit, orderId, ['bridge_settled'], 'provider');
            unit.tx.defer(setSendOutHash, [orderId, progress.txHash]);
          },
        };
      case 'failed':
        return {
          kind: 'failed',
          error: progress.reason,
          // Its nonce is spent, so another send-out cannot be paid twice.
          followUp: async (unit) => {
            await report(tools, unit, orderId, ['bridge_failed'], 'provider');
            await report(tools, unit, orderId, ['bridge_authorization_lapsed'], 'chain');
          },
        };
    }
  }

  return { kind: TRACK, schedule: schedule([5], { maxAttempts: 1_000 }), perform: look, reconcile: look };
}
