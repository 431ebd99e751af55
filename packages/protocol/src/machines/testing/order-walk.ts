import {
  type Actor,
  actionRequired,
  allowedActions,
  decide,
  type EffectKind,
  factsAfter,
  INITIAL_ORDER_FACTS,
  type MachineEventType,
  NEW,
  type New,
  NO_REASONS,
  nextAction,
  ORDER_MACHINES,
  type OrderDirection,
  type OrderFacts,
  type OrderMachine,
  type OrderReasons,
  type OrderStatus,
  type OrderTrigger,
  type RefusalCode,
  reasonsAfter,
} from '../index.ts';

export const ORDER_ID = '0198c0de-0000-7000-8000-000000000001';

/** An order in memory, driven as the executor drives a row: decide, apply, follow. */
export class OrderWalk {
  readonly machine: OrderMachine;
  status: OrderStatus | New = NEW;
  facts: OrderFacts;
  reasons: OrderReasons = NO_REASONS;
  readonly passed: OrderStatus[] = [];
  readonly emitted: MachineEventType[] = [];
  readonly effects: EffectKind[] = [];
  /** Events of the last report, those of what followed it included. */
  last: MachineEventType[] = [];

  constructor(direction: OrderDirection, facts: Partial<OrderFacts> = {}) {
    this.machine = ORDER_MACHINES[direction];
    this.facts = { ...INITIAL_ORDER_FACTS, ...facts };
  }

  /** Applies a trigger that must be accepted. */
  report(trigger: OrderTrigger, actor: Actor): this {
    const code = this.attempt(trigger, actor);
    if (code !== undefined) throw new Error(`${this.status} refuses ${trigger} by ${actor}: ${code}`);
    return this;
  }

  /** Applies a trigger if the table lets it; the code of the refusal otherwise. */
  attempt(trigger: OrderTrigger, actor: Actor): RefusalCode | undefined {
    const before = this.emitted.length;
    const code = this.#apply(trigger, actor);
    this.last = this.emitted.slice(before);
    return code;
  }

  #apply(trigger: OrderTrigger, actor: Actor): RefusalCode | undefined {
    const decision = decide(this.machine, this.status, trigger, this.facts, actor);
    if (decision.kind === 'refused') {
      if (decision.follow !== undefined) this.#apply(decision.follow, 'system');
      return decision.code;
    }
    const { transition } = decision;
    if (transition.to !== this.status) this.passed.push(transition.to);
    this.status = transition.to;
    const before = this.facts;
    this.facts = factsAfter(transition, before);
    this.reasons = reasonsAfter(transition, actor, this.reasons, before, this.facts);
    this.emitted.push(...transition.emits);
    this.effects.push(...(transition.effects ?? []));
    if (transition.follow !== undefined) this.#apply(transition.follow, 'system');
    return undefined;
  }

  /** The code with which a trigger is refused now; nothing is applied. */
  refusal(trigger: OrderTrigger, actor: Actor): RefusalCode | undefined {
    const decision = decide(this.machine, this.status, trigger, this.facts, actor);
    return decision.kind === 'refused' ? decision.code : undefined;
  }

  /** Changes what only the outside world changes (KYC, the vendor’s availability). */
  know(facts: Partial<OrderFacts>): this {
    this.facts = { ...this.facts, ...facts };
    return this;
  }

  allowed() {
    return this.status === NEW ? [] : allowedActions(this.machine, this.status, this.facts);
  }

  next() {
    return this.status === NEW ? undefined : nextAction(this.machine, this.status, this.facts);
  }

  required() {
    return this.status === NEW ? null : actionRequired(ORDER_ID, this.machine, this.status, this.facts);
  }
}
