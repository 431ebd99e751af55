import type { OrderTrigger } from '@causeway/protocol';
import { recordBridgeDeposit } from '../../chain/authorization.store.ts';
import type { Authorization } from '../../chain/authorization.ts';
import type { ChainFactHandler } from '../../chain/chain-facts.ts';
import type { Chains } from '../../chain/chains.ts';
import { authorizationRelayHandler, settleAuthorizations } from '../../chain/relay-authorization.ts';
import type { Transactor } from '../../chain/transactor.ts';
import { hasDepositIn } from '../../chain/watch.store.ts';
import type { IntentHandler } from '../../engine/intent-worker.ts';
import type { UnitOfWork, UnitTools } from '../../engine/unit-of-work.ts';
import type { Logger } from '../../lib/logger.ts';
import type { OrderHosts } from './order.host.ts';
import { reportFacts } from './report-facts.ts';
import { followSendOut } from './track-send-out.effect.ts';

/** What orders learn of the requests their partners signed. */
export interface AuthorizationTools extends UnitTools {
  readonly chains: Chains;
  readonly transactor: Transactor;
  readonly logger: Logger;
  readonly orderHosts: OrderHosts;
}

/** The request can no longer execute, and its tokens did not move. */
const DEAD: Readonly<Record<Authorization['purpose'], readonly OrderTrigger[]>> = {
  funding: ['transfer_authorization_lapsed'],
  bridge: ['bridge_failed', 'bridge_authorization_lapsed'],
};

function reportDead(
  tools: { readonly orderHosts: OrderHosts },
  unit: UnitOfWork,
  { orderId, purpose, depositTxHash }: Authorization,
): Promise<void> {
  // A bridge that was paid decides how the send-out ends; that the request is over matters only once it has failed.
  const triggers: readonly OrderTrigger[] =
    depositTxHash === null ? DEAD[purpose] : ['bridge_authorization_lapsed'];
  return reportFacts(tools, unit, orderId, triggers, 'chain');
}

export function authorizationHandlers(tools: AuthorizationTools): IntentHandler<never>[] {
  const onSettled = (authorization: Authorization, _end: string, unit: UnitOfWork) =>
    reportDead(tools, unit, authorization);
  const deps = { ...tools, onSettled };
  return [
    authorizationRelayHandler(deps, { kind: 'transfer.relay', purpose: 'funding' }),
    authorizationRelayHandler(deps, { kind: 'bridge.relay', purpose: 'bridge' }),
  ];
}

/**
 * A request that was executed, by whomever. Its deposit has reported itself by then, from the same transaction; where
 * there was none, the nonce was used by something else, or by the request without effect, and it can never pay.
 */
export function followAuthorizations(tools: AuthorizationTools): ChainFactHandler {
  return async (fact, unit) => {
    if (fact.type === 'bridge_deposited') {
      const paid = await recordBridgeDeposit(unit, fact);
      if (paid !== undefined) followSendOut(unit, paid);
      return;
    }
    if (fact.type !== 'forward_executed') return;
    const settle = settleAuthorizations({
      chains: tools.chains,
      onSettled: async (authorization) => {
        const isFunded =
          authorization.purpose === 'funding' &&
          (await hasDepositIn(unit, authorization.orderId, fact.txHash));
        if (!isFunded) await reportDead(tools, unit, authorization);
      },
    });
    await settle(fact, unit);
  };
}
