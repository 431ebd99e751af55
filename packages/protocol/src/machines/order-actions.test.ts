import { describe, expect, test } from 'vitest';
import {
  ACTION_ENDPOINTS,
  actionRequired,
  allowedActions,
  decide,
  endpointOf,
  INITIAL_ORDER_FACTS,
  isTerminal,
  nextAction,
  ORDER_MACHINES,
  PARTNER_ACTIONS,
  SANDBOX_EVENT_RULES,
  SANDBOX_ORDER_EVENTS,
  sourcesOf,
} from './index.ts';
import { allFacts, ORDER_DOMAINS } from './testing/fact-space.ts';
import { ORDER_ID } from './testing/order-walk.ts';

describe.each(Object.entries(ORDER_MACHINES))('%s: what a partner is offered', (_name, machine) => {
  const space = allFacts(INITIAL_ORDER_FACTS, {
    origin: ORDER_DOMAINS.origin,
    held: ORDER_DOMAINS.held,
    kycCleared: ORDER_DOMAINS.kycCleared,
    fundingSource: ORDER_DOMAINS.fundingSource,
    paymentRequest: ORDER_DOMAINS.paymentRequest,
    payerDetailsSubmitted: ORDER_DOMAINS.payerDetailsSubmitted,
    settlementNotification: ORDER_DOMAINS.settlementNotification,
    transferAuthorization: ORDER_DOMAINS.transferAuthorization,
    sendOut: ORDER_DOMAINS.sendOut,
    escrow: ORDER_DOMAINS.escrow,
  });

  // Proves D6.10.
  test('allowed_actions is exactly what decide lets the partner do, over all facts that matter', () => {
    const wrong: string[] = [];
    for (const status of machine.statusNames) {
      for (const facts of space) {
        const offered = allowedActions(machine, status, facts);
        for (const action of PARTNER_ACTIONS) {
          const decision = decide(machine, status, ACTION_ENDPOINTS[action].trigger, facts, 'partner');
          const changes = decision.kind === 'moved' && decision.transition.noop !== true;
          if (changes !== offered.includes(action))
            wrong.push(`${status} ${action} ${JSON.stringify(facts)}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });

  // Proves C4.6 rule 5, trap 8.
  test('a widget order offers nothing and answers every action with ORDER_NOT_FOUND, at every status', () => {
    for (const status of machine.statusNames) {
      for (const facts of space.filter(({ origin }) => origin === 'widget')) {
        if (allowedActions(machine, status, facts).length > 0) throw new Error(`${status} offers an action`);
        if (actionRequired(ORDER_ID, machine, status, facts) !== null) throw new Error(`${status} asks`);
        for (const { trigger } of Object.values(ACTION_ENDPOINTS)) {
          const decision = decide(machine, status, trigger, facts, 'partner');
          if (decision.kind !== 'refused' || decision.code !== 'ORDER_NOT_FOUND') {
            throw new Error(`${status} ${trigger} is ${JSON.stringify(decision)}`);
          }
        }
      }
    }
  });

  // Proves D6.10.
  test('next_action and action_required name an allowed action, or none is asked', () => {
    for (const status of machine.statusNames) {
      for (const facts of space) {
        const next = nextAction(machine, status, facts);
        const required = actionRequired(ORDER_ID, machine, status, facts);
        const action = allowedActions(machine, status, facts).find(
          (name) => name.replaceAll('-', '_') === next,
        );
        const passive = ['wait', 'none', 'deposit_to_user_account'].includes(next);
        if (passive !== (action === undefined)) throw new Error(`${status} ${next} ${JSON.stringify(facts)}`);
        if (action === undefined ? required !== null : !required?.endpoint.endsWith(`/${action}`)) {
          throw new Error(`${status} ${next} ${JSON.stringify(required)}`);
        }
        if (next === 'none' && !isTerminal(machine, status)) throw new Error(`${status} has not ended`);
      }
    }
  });

  test('every row with an action is reported by that action’s trigger and by the partner', () => {
    for (const row of machine.transitions) {
      if (row.action === undefined) continue;
      expect(row.on).toBe(ACTION_ENDPOINTS[row.action].trigger);
      expect(row.by).toContain('partner');
    }
  });
});

describe('D11 sandbox events', () => {
  // Proves D11.3.
  test('every event reports a trigger that its machines know, by an actor who may report it', () => {
    for (const event of SANDBOX_ORDER_EVENTS) {
      const rule = SANDBOX_EVENT_RULES[event];
      for (const direction of rule.directions) {
        for (const trigger of [rule.trigger, rule.withinBound ?? rule.trigger]) {
          const rows = ORDER_MACHINES[direction].transitions.filter((row) => row.on === trigger);
          expect(rows.length, `${event} ${direction}`).toBeGreaterThan(0);
          for (const from of rows.flatMap(sourcesOf)) {
            const here = rows.filter((row) => sourcesOf(row).includes(from));
            expect(
              here.some((row) => row.by.includes(rule.by)),
              `${event} ${from}`,
            ).toBe(true);
          }
        }
      }
    }
  });
});

test('an action is a POST, and what has to be signed is read beside it', () => {
  const asked = PARTNER_ACTIONS.map((action) => endpointOf('7', action));
  const at = (path: string, parameters?: string) => ({
    method: 'POST',
    endpoint: `/api/v1/partner/orders/7/${path}`,
    ...(parameters && { parameters_endpoint: `/api/v1/partner/orders/7/${parameters}` }),
  });
  expect(asked).toEqual([
    at('submit-payer-details'),
    at('confirm-payment-sent'),
    at('authorize-crypto-transfer', 'transfer-authorization-parameters'),
    at('confirm-fiat-received'),
    at('authorize-bridge', 'bridge-authorization-parameters'),
    at('authorize-refund', 'refund-authorization-parameters'),
    at('authorize-release', 'release-authorization-parameters'),
    at('cancel'),
  ]);
});
