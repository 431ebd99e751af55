import type { OrderDirection, OrderStatus } from '@causeway/protocol';
import { expect } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { statement } from '../../apps/gateway/src/db/statement.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { actOnOrder, expireOrders } from '../../apps/gateway/src/features/orders/lifecycle/act-on-order.ts';
import { storedFacts } from '../../apps/gateway/src/features/orders/lifecycle/order.adapter.ts';
import type { Answer, TestGateway } from '../harness/gateway.ts';
import { expectedAccounts, type Model, type Move, waitOf } from './order-model.ts';

/** The customer of every life. */
export interface Customer {
  readonly userId: string;
  readonly detailsId: number;
}

/** The orders of one life in a running gateway. Each answers the code of a refusal, or undefined. */
export interface RealOrders {
  readonly orderIds: string[];
  open(direction: OrderDirection): Promise<string | undefined>;
  request(actor: 'partner' | 'operator', orderId: string, what: string): Promise<string | undefined>;
  report(orderId: string, move: Move): Promise<string | undefined>;
  setKyc(cleared: boolean): Promise<void>;
  /** Moves the business clock and lets overdue orders know; answers the time by which they are. */
  passTime(seconds: number): Promise<number>;
  check(model: Model): Promise<void>;
}

interface OrderState {
  status: OrderStatus;
  facts: object;
  timeline: { status: string; at: string }[];
  deadline_at: Date | null;
  reasons: { failure: string | null; cancelledBy: string | null; hold: string | null };
  held_at: Date | null;
  updated_at: Date;
  crypto_amount: string;
  platform_fee: string;
  partner_fee: string;
  events: { type: string; status: string }[];
  accounts: { party: string; amount: string }[];
  unbalanced: string;
}

/** Everything about some orders, in the order in which they are named. */
const statesOf = statement<[orderIds: readonly string[]], OrderState>(
  'test.states_of_orders',
  `SELECT o.status, o.facts, o.timeline, o.deadline_at, o.held_at, o.updated_at,
     json_build_object('failure', o.failure_code, 'cancelledBy', o.cancelled_by, 'hold', o.hold_reason) AS reasons, o.crypto_amount::text, o.platform_fee::text, o.partner_fee::text,
     (SELECT coalesce(json_agg(json_build_object('type', e.event_type, 'status', e.body::json->'data'->>'status')
                               ORDER BY e.position), '[]') FROM events e WHERE e.subject_id = o.order_id) AS events,
     (SELECT coalesce(json_agg(json_build_object('party', b.party, 'amount', b.amount)), '[]')
        FROM (SELECT split_part(replace(p.account, 'outside:', ''), ':', 1) AS party, sum(p.amount)::text AS amount
                FROM ledger_entries l JOIN ledger_postings p USING (entry_id)
               WHERE l.order_id = o.order_id GROUP BY 1) b) AS accounts,
     (SELECT count(*)::text FROM (SELECT 1 FROM ledger_entries l JOIN ledger_postings p USING (entry_id)
               WHERE l.order_id = o.order_id GROUP BY l.entry_id, p.asset HAVING sum(p.amount) <> 0) u) AS unbalanced
     FROM unnest($1::uuid[]) WITH ORDINALITY AS named (order_id, place) JOIN orders o USING (order_id)
    ORDER BY named.place`,
);

/** A hundred orders each: more than all courses of a long run leave behind between two looks at the clock. */
const MOST_TURNS = 100;

const codeOf = ({ status, body }: Answer): string | undefined =>
  status === 200 ? undefined : (body.error.code as string);

export function realOrders(gateway: TestGateway, customer: Customer): RealOrders {
  const { deps, call } = gateway;
  const orderIds: string[] = [];

  async function quote(direction: OrderDirection): Promise<Answer> {
    return call('POST', `/api/v1/partner/${direction}/quote`, {
      body: {
        user_uuid: customer.userId,
        crypto_currency: 'USDC',
        fiat_currency: 'EUR',
        fiat_amount: '20.00',
        partner_fee_pct: '1',
        provider_scope: 'p2p',
        ...(direction === 'offramp' ? { payment_details_id: customer.detailsId } : {}),
      },
    });
  }

  return {
    orderIds,

    async open(direction) {
      const quoted = await quote(direction);
      if (quoted.status !== 200) return codeOf(quoted);
      const initiated = await call('POST', `/api/v1/partner/${direction}/initiate`, {
        body: { quote_id: quoted.body.data.quote_id },
      });
      if (initiated.status === 200) orderIds.push(initiated.body.data.order_id);
      return codeOf(initiated);
    },

    async request(actor, orderId, what) {
      const [endpoint, decision] = what.split(' ');
      const path = `/api/v1/${actor}/orders/${orderId}/${endpoint}`;
      if (actor === 'partner') return codeOf(await call('POST', path));
      const key = gateway.sandbox.operatorKey;
      return codeOf(await call('POST', path, { key, body: { decision, reason: 'a random life' } }));
    },

    report: (orderId, [trigger, actor]) =>
      unitOfWork(deps, SYSTEM, (unit) => actOnOrder(unit, deps.orderAdapters, orderId, trigger, actor)).then(
        () => undefined,
        (error: { code?: string }) => {
          if (error.code === undefined) throw error;
          return error.code;
        },
      ),

    async setKyc(cleared) {
      const status = cleared ? 'VERIFIED' : 'UNDER_REVIEW';
      await call('POST', `/api/v1/sandbox/users/${customer.userId}/kyc-status`, { body: { status } });
    },

    async passTime(seconds) {
      await call('POST', '/api/v1/sandbox/clock/advance', { body: { seconds } });
      const now = deps.clock.now();
      // Courses before this one have left orders too; they come first, in batches.
      for (let turns = 0; (await expireOrders(deps)) > 0; turns++) {
        if (turns > MOST_TURNS) throw new Error('orders that are overdue do not expire');
      }
      return now;
    },

    async check(model) {
      if (orderIds.length === 0) return;
      const states = await deps.db.query(SYSTEM, statesOf, [orderIds]);
      for (const [index, order] of model.orders.entries()) {
        const state = states[index]!;
        const facts = storedFacts(order.facts);
        const wait = waitOf(order, {
          changes: state.timeline.length,
          changedAt: Date.parse(state.timeline.at(-1)?.at ?? ''),
          heldAt: state.held_at?.getTime() ?? null,
          updatedAt: state.updated_at.getTime(),
        });
        order.deadlineAt = wait.deadlineAt;
        expect({
          status: state.status,
          facts: state.facts,
          reasons: state.reasons,
          isHeldSince: state.held_at !== null,
          timeline: state.timeline.map(({ status }) => status),
          wait: waitShown(state),
          published: state.events.map(({ type, status }) =>
            type === 'order.status.changed' ? status : type,
          ),
        }).toEqual({
          status: order.status,
          facts,
          reasons: order.reasons,
          isHeldSince: order.facts.held,
          timeline: order.timeline,
          wait,
          published: order.published,
        });
        checkMoney(order, state);
      }
    },
  };
}

/** While an order is held, what is left of its wait is what lies between the hold and the deadline. */
function waitShown({ deadline_at, held_at }: OrderState): ReturnType<typeof waitOf> {
  const deadlineAt = deadline_at?.getTime() ?? null;
  if (deadlineAt === null || held_at === null) return { deadlineAt, leftMs: null };
  return { deadlineAt: null, leftMs: deadlineAt - held_at.getTime() };
}

function checkMoney(order: Model['orders'][number], state: OrderState): void {
  expect(state.unbalanced, 'entries that do not sum to zero').toBe('0');
  const expected = expectedAccounts(order, {
    cryptoAmount: BigInt(state.crypto_amount),
    platformFee: BigInt(state.platform_fee),
    partnerFee: BigInt(state.partner_fee),
  });
  const booked = Object.fromEntries(state.accounts.map(({ party, amount }) => [party, BigInt(amount)]));
  const nothing = Object.fromEntries(Object.keys(expected).map((party) => [party, 0n]));
  expect({ ...nothing, ...booked }).toEqual(expected);
  for (const asked of ['order.refund.required', 'order.release.required']) {
    expect(order.published.filter((type) => type === asked).length).toBeLessThanOrEqual(1);
  }
}
