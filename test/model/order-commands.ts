import { ACTORS, ORDER_TRIGGERS, type OrderDirection } from '@causeway/protocol';
import fc from 'fast-check';
import { expect } from 'vitest';
import { legalMoves, type Model, type ModelOrder, type Move, newOrder, report } from './order-model.ts';
import type { RealOrders } from './real-orders.ts';

/** What partner, vendor, operator, chain, clock and the rest do to orders, whether they may or not. */
type Command = fc.AsyncCommand<Model, RealOrders>;

const MOST_ORDERS = 6;

abstract class Step implements Command {
  check(_model: Readonly<Model>): boolean {
    return true;
  }
  abstract act(model: Model, real: RealOrders): Promise<void>;
  abstract toString(): string;

  /** After each step every order of this life is looked at, not only the one that was touched. */
  async run(model: Model, real: RealOrders): Promise<void> {
    await this.act(model, real);
    await real.check(model);
  }
}

/** A step of one of the orders that are open. */
abstract class OrderStep extends Step {
  protected readonly pick: number;
  constructor(pick: number) {
    super();
    this.pick = pick;
  }
  override check(model: Readonly<Model>): boolean {
    return model.orders.length > 0;
  }
  protected choose(model: Model, real: RealOrders): { order: ModelOrder; orderId: string } {
    const index = this.pick % model.orders.length;
    return { order: model.orders[index]!, orderId: real.orderIds[index]! };
  }
}

class Open extends Step {
  private readonly direction: OrderDirection;
  constructor(direction: OrderDirection) {
    super();
    this.direction = direction;
  }
  override check(model: Readonly<Model>): boolean {
    return model.orders.length < MOST_ORDERS;
  }
  async act(model: Model, real: RealOrders): Promise<void> {
    const refused = await real.open(this.direction);
    expect(refused).toBe(model.kycCleared ? undefined : 'KYC_NOT_CLEARED');
    if (!model.kycCleared) return;
    const order = newOrder(this.direction, true);
    expect(report(order, ['order_initiated', 'partner'])).toBeUndefined();
    model.orders.push(order);
  }
  toString = () => `partner opens an ${this.direction} order`;
}

/** The partner and the operator at their endpoints. */
const REQUESTS = [
  ['partner', 'cancel', 'cancelled_by_partner'],
  ['partner', 'confirm-payment-sent', 'payment_sent_confirmed'],
  ['partner', 'confirm-fiat-received', 'fiat_received_confirmed_by_partner'],
  ['operator', 'hold place', 'hold_placed'],
  ['operator', 'hold release', 'hold_released'],
  ['operator', 'dispute open', 'dispute_opened'],
  ['operator', 'dispute for_buyer', 'dispute_resolved_to_buyer'],
  ['operator', 'dispute for_seller', 'dispute_resolved_to_seller'],
  ['operator', 'proof-review start', 'proof_review_started'],
  ['operator', 'proof-review accepted', 'proof_accepted'],
  ['operator', 'proof-review rejected', 'proof_rejected'],
] as const;

class Request extends OrderStep {
  private readonly request: (typeof REQUESTS)[number];
  constructor(pick: number, request: (typeof REQUESTS)[number]) {
    super(pick);
    this.request = request;
  }
  async act(model: Model, real: RealOrders): Promise<void> {
    const [actor, what, trigger] = this.request;
    const { order, orderId } = this.choose(model, real);
    expect([what, await real.request(actor, orderId, what)]).toEqual([what, report(order, [trigger, actor])]);
  }
  toString = () => `${this.request[0]} asks for ${this.request[1]} on order ${this.pick}`;
}

/** A fact as its reporter would report it: mostly out of place, often by somebody who has no say in it. */
class Report extends OrderStep {
  private readonly move: Move;
  constructor(pick: number, move: Move) {
    super(pick);
    this.move = move;
  }
  async act(model: Model, real: RealOrders): Promise<void> {
    const { order, orderId } = this.choose(model, real);
    expect([...this.move, await real.report(orderId, this.move)]).toEqual([
      ...this.move,
      report(order, this.move),
    ]);
  }
  toString = () => `${this.move[1]} reports ${this.move[0]} on order ${this.pick}`;
}

/** One of the facts that the order's table would take now. */
class LegalReport extends OrderStep {
  private readonly choice: number;
  private readonly onward: boolean;
  constructor(pick: number, choice: number, onward: boolean) {
    super(pick);
    this.choice = choice;
    this.onward = onward;
  }
  async act(model: Model, real: RealOrders): Promise<void> {
    const { order, orderId } = this.choose(model, real);
    const moves = legalMoves(order, this.onward);
    const move = moves[this.choice % Math.max(1, moves.length)];
    if (move === undefined) return;
    expect([...move, await real.report(orderId, move)]).toEqual([...move, report(order, move)]);
  }
  toString = () => `${this.onward ? 'onward' : 'legal'} report ${this.choice} on order ${this.pick}`;
}

class Kyc extends Step {
  private readonly cleared: boolean;
  constructor(cleared: boolean) {
    super();
    this.cleared = cleared;
  }
  async act(model: Model, real: RealOrders): Promise<void> {
    await real.setKyc(this.cleared);
    model.kycCleared = this.cleared;
    for (const order of model.orders) order.facts = { ...order.facts, kycCleared: this.cleared };
  }
  toString = () => `KYC is ${this.cleared ? 'cleared' : 'lost'}`;
}

class Clock extends Step {
  private readonly seconds: number;
  constructor(seconds: number) {
    super();
    this.seconds = seconds;
  }
  async act(model: Model, real: RealOrders): Promise<void> {
    const now = await real.passTime(this.seconds);
    for (const order of model.orders) {
      const isOverdue = order.deadlineAt !== null && order.deadlineAt <= now;
      // Decision 0007: time-outs pause while a proof waits or a hold stands.
      if (isOverdue && !order.facts.held && !order.facts.proofPending) {
        expect(report(order, ['order_expired', 'clock'])).toBeUndefined();
      }
    }
  }
  toString = () => `${this.seconds} seconds pass`;
}

const pick = fc.nat({ max: 1_000 });
const legalReport = (onward: boolean) =>
  fc.tuple(pick, fc.nat()).map(([order, choice]) => new LegalReport(order, choice, onward));
const onward = legalReport(true);
const legal = legalReport(false);
const request = fc.tuple(pick, fc.constantFrom(...REQUESTS)).map(([order, what]) => new Request(order, what));
const anyReport = fc
  .tuple(pick, fc.constantFrom(...ORDER_TRIGGERS), fc.constantFrom(...ACTORS))
  .filter(([, trigger]) => trigger !== 'order_initiated')
  .map(([order, trigger, actor]) => new Report(order, [trigger, actor]));

/** Named several times where it should come more often: many steps lead on, so that courses go far before they stop. */
export const courses = fc.commands(
  [
    ...[onward, onward, onward, onward, legal, legal, legal],
    ...[request, request, anyReport, anyReport],
    fc.constantFrom<OrderDirection>('onramp', 'offramp').map((direction) => new Open(direction)),
    fc.boolean().map((cleared) => new Kyc(cleared)),
    fc.constantFrom(61, 61, 901, 1_801, 3_601, 86_401).map((seconds) => new Clock(seconds)),
  ],
  { maxCommands: 24, size: 'max' },
);

/** How far each of the first two orders has come when a life begins, so that steps meet orders of every age. */
export interface Beginning {
  readonly onramp: readonly number[];
  readonly offramp: readonly number[];
}

const stepsBefore = fc.array(fc.nat(), { maxLength: 10, size: 'max' });
export const beginnings: fc.Arbitrary<Beginning> = fc.record({ onramp: stepsBefore, offramp: stepsBefore });

export async function begin(beginning: Beginning, model: Model, real: RealOrders): Promise<void> {
  for (const [index, direction] of (['onramp', 'offramp'] as const).entries()) {
    await new Open(direction).run(model, real);
    for (const choice of beginning[direction]) await new LegalReport(index, choice, true).run(model, real);
  }
}
