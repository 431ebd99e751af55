import {
  ACTORS,
  type Actor,
  decide,
  factsAfter,
  ORDER_MACHINES,
  ORDER_TRIGGERS,
  type OrderDirection,
  type OrderFacts,
  type OrderStatus,
  type OrderTrigger,
} from '@causeway/protocol';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../apps/gateway/src/db/database.ts';
import { unitOfWork } from '../../apps/gateway/src/engine/unit-of-work.ts';
import { actOnOrder } from '../../apps/gateway/src/features/orders/act-on-order.ts';
import { depositOf } from '../../apps/gateway/src/features/orders/order.escrow.ts';
import { factsOf } from '../../apps/gateway/src/features/orders/order.host.ts';
import { readOrder } from '../../apps/gateway/src/features/orders/read-order.ts';
import { startGateway, type TestGateway } from '../harness/gateway.ts';
import { type OrdersDesk, ordersDesk } from '../scenarios/orders-desk.ts';

/** `MODEL_RUNS=10000 npx vitest run --project whole test/model` is the long run. */
const RUNS = Number(process.env.MODEL_RUNS ?? 200);

/** An order as the tables say it should be, kept apart from the database. */
interface Model {
  readonly direction: OrderDirection;
  status: OrderStatus;
  facts: OrderFacts;
  readonly published: string[];
}

type Move = readonly [trigger: OrderTrigger, actor: Actor];
type Step = { readonly order: number } & (
  | { readonly kind: 'legal'; readonly pick: number }
  | { readonly kind: 'any'; readonly move: Move }
  | { readonly kind: 'kyc'; readonly cleared: boolean }
);

const order = fc.nat({ max: 1 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('legal' as const), order, pick: fc.nat() }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('any' as const),
        order,
        move: fc.tuple(fc.constantFrom(...ORDER_TRIGGERS), fc.constantFrom(...ACTORS)),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('kyc' as const), order, cleared: fc.boolean() }) },
  ),
  { minLength: 5, maxLength: 30 },
);

const ALL_MOVES: readonly Move[] = ORDER_TRIGGERS.flatMap((trigger) =>
  ACTORS.map((actor): Move => [trigger, actor]),
);
const HOLDING: readonly OrderFacts['escrow'][] = ['funded', 'releasing', 'refunding'];

/** What the table says; false where it refuses. A refusal further on leaves the order where it came to. */
function apply(model: Model, [trigger, actor]: Move): boolean {
  const decision = decide(ORDER_MACHINES[model.direction], model.status, trigger, model.facts, actor);
  if (decision.kind === 'refused') return false;
  const { transition } = decision;
  if (transition.noop) return true;
  model.facts = factsAfter(transition, model.facts);
  model.status = transition.to;
  for (const type of transition.emits) {
    model.published.push(type === 'order.status.changed' ? model.status : type);
  }
  if (transition.follow !== undefined) follow(model, transition.follow);
  return true;
}

function follow(model: Model, trigger: OrderTrigger): void {
  const decision = decide(ORDER_MACHINES[model.direction], model.status, trigger, model.facts, 'system');
  if (decision.kind === 'moved') apply(model, [trigger, 'system']);
  else if (decision.follow !== undefined) follow(model, decision.follow);
}

describe('orders against their model', () => {
  let gateway: TestGateway;
  let desk: OrdersDesk;

  beforeAll(async () => {
    gateway = await startGateway({
      worker: false,
      env: { RATE_LIMIT_PARTNER_PER_MINUTE: '10000000' },
    });
    desk = ordersDesk(gateway);
  });
  afterAll(() => gateway?.stop());

  async function modelOf(orderId: string): Promise<Model> {
    const row = (await readOrder(gateway.deps.db, SYSTEM, orderId))!;
    const published = await desk.published(orderId);
    return { direction: row.direction, status: row.status, facts: factsOf(row), published };
  }

  /** Does to the real order what the step says; answers whether it was taken. */
  async function perform(orderId: string, [trigger, actor]: Move): Promise<boolean> {
    const { deps } = gateway;
    return unitOfWork(deps, SYSTEM, (unit) =>
      actOnOrder(unit, deps.orderHosts, orderId, trigger, actor),
    ).then(
      () => true,
      (error: { code?: string }) => {
        if (error.code === undefined) throw error;
        return false;
      },
    );
  }

  async function checkMoney(orderId: string, model: Model): Promise<void> {
    const row = (await readOrder(gateway.deps.db, SYSTEM, orderId))!;
    const expected = HOLDING.includes(model.facts.escrow) ? depositOf(row) : 0n;
    expect(await desk.escrowBooks(orderId)).toBe(expected);
    expect(await desk.published(orderId)).toEqual(model.published);
    const refunds = model.published.filter((type) => type === 'order.refund.required');
    expect(refunds.length).toBeLessThanOrEqual(1);
  }

  it(`${RUNS} random lives keep to the tables and conserve money`, {
    timeout: 60_000 + RUNS * 3_000,
  }, async () => {
    const userId = await desk.user();
    const detailsId = await desk.ownDetails(userId);
    const setKyc = (status: string) =>
      gateway.call('POST', `/api/v1/sandbox/users/${userId}/kyc-status`, { body: { status } });
    await fc.assert(
      fc.asyncProperty(steps, async (life) => {
        await setKyc('VERIFIED');
        const ids = [
          await desk.offrampOrder({ user_uuid: userId, payment_details_id: detailsId, fiat_amount: '20.00' }),
          await desk.onrampOrder({ user_uuid: userId, fiat_amount: '20.00' }),
        ];
        const models = await Promise.all(ids.map(modelOf));
        for (const step of life) {
          if (step.kind === 'kyc') {
            await setKyc(step.cleared ? 'VERIFIED' : 'UNDER_REVIEW');
            for (const model of models) model.facts = { ...model.facts, kycCleared: step.cleared };
            continue;
          }
          const [orderId, model] = [ids[step.order]!, models[step.order]!];
          const move = step.kind === 'any' ? step.move : pickLegal(model, step.pick);
          if (move === undefined) continue;
          expect([...move, await perform(orderId, move)]).toEqual([...move, apply(model, move)]);
          const row = (await readOrder(gateway.deps.db, SYSTEM, orderId))!;
          expect({ status: row.status, facts: factsOf(row) }).toEqual({
            status: model.status,
            facts: model.facts,
          });
          await checkMoney(orderId, model);
        }
        await desk.booksBalance();
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
  });
});

function pickLegal(model: Model, pick: number): Move | undefined {
  const legal = ALL_MOVES.filter(
    ([trigger, actor]) =>
      decide(ORDER_MACHINES[model.direction], model.status, trigger, model.facts, actor).kind === 'moved',
  );
  return legal[pick % Math.max(1, legal.length)];
}
