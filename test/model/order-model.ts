import {
  ACTORS,
  type Actor,
  decide,
  factsAfter,
  INITIAL_ORDER_FACTS,
  NEW,
  NO_REASONS,
  ORDER_MACHINES,
  ORDER_TRIGGERS,
  type OrderDirection,
  type OrderFacts,
  type OrderReasons,
  type OrderStatus,
  type OrderTransition,
  type OrderTrigger,
  reasonsAfter,
} from '@causeway/protocol';

/** An order as the tables say it should be, kept apart from the database. */
export interface ModelOrder {
  readonly direction: OrderDirection;
  status: OrderStatus | typeof NEW;
  facts: OrderFacts;
  reasons: OrderReasons;
  readonly timeline: string[];
  readonly published: string[];
  /** Epoch milliseconds of business time; null where nothing is waited for, or a hold has stopped the clock. */
  deadlineAt: number | null;
  /** As it was at the last look. */
  seen: { readonly changes: number; readonly heldAt: number | null; readonly pausedMs: number };
  /** Kept without the facts: crypto is in escrow from the moment it was paid in until it was paid out. */
  money: 'not paid in' | 'in escrow' | 'released' | 'returned' | 'taken by the owners';
}

export interface Model {
  readonly orders: ModelOrder[];
  kycCleared: boolean;
}

export type Move = readonly [trigger: OrderTrigger, actor: Actor];

export function newOrder(direction: OrderDirection, kycCleared: boolean): ModelOrder {
  return {
    direction,
    status: NEW,
    facts: { ...INITIAL_ORDER_FACTS, kycCleared },
    reasons: NO_REASONS,
    timeline: [],
    published: [],
    deadlineAt: null,
    seen: { changes: 0, heldAt: null, pausedMs: 0 },
    money: 'not paid in',
  };
}

/** D6: how long an order waits. */
const TIMEOUT_SECONDS: Readonly<Record<OrderDirection, Readonly<Record<string, number>>>> = {
  onramp: {
    awaiting_liquidity_provider: 15 * 60,
    awaiting_vendor_escrow_funding: 30 * 60,
    awaiting_fiat_transfer: 60 * 60,
  },
  offramp: {
    awaiting_liquidity_provider: 15 * 60,
    awaiting_crypto_transfer_authorization: 30 * 60,
    crypto_received: 24 * 60 * 60,
    fiat_payment_started: 24 * 60 * 60,
  },
};

/** When the order changed its status last, since when it is held, and when it was written last. */
export interface Times {
  readonly changes: number;
  readonly changedAt: number;
  readonly heldAt: number | null;
  readonly updatedAt: number;
}

/**
 * When the order times out, counted from its last change of status; while it is held, what is left of the wait. Decision
 * 0007: a hold stops the clock, so what each has lasted in this status is added.
 */
export function waitOf(
  order: ModelOrder,
  times: Times,
): { deadlineAt: number | null; leftMs: number | null } {
  const { changes, changedAt, heldAt } = times;
  const last = order.seen.changes === changes ? order.seen : { heldAt: null, pausedMs: 0 };
  // The hold of the last look has ended; another may stand already.
  const hasEnded = last.heldAt !== null && last.heldAt !== heldAt;
  const lastedMs = hasEnded ? (heldAt ?? times.updatedAt) - Math.max(last.heldAt ?? 0, changedAt) : 0;
  const pausedMs = last.pausedMs + lastedMs;
  order.seen = { changes, heldAt, pausedMs };
  const timeoutSeconds = TIMEOUT_SECONDS[order.direction][order.status];
  if (timeoutSeconds === undefined) return { deadlineAt: null, leftMs: null };
  const endsAt = changedAt + timeoutSeconds * 1_000 + pausedMs;
  return heldAt === null
    ? { deadlineAt: endsAt, leftMs: null }
    : { deadlineAt: null, leftMs: endsAt - Math.max(heldAt, changedAt) };
}

const MONEY: Partial<Record<OrderTrigger, ModelOrder['money']>> = {
  escrow_funded: 'in escrow',
  deposit_finalized: 'in escrow',
  release_confirmed: 'released',
  refund_confirmed: 'returned',
  escrow_settled_elsewhere: 'taken by the owners',
};

/** What the table says of a fact; the code of its refusal, or undefined where it was taken. */
export function report(order: ModelOrder, [trigger, actor]: Move): string | undefined {
  const decision = decide(ORDER_MACHINES[order.direction], order.status, trigger, order.facts, actor);
  if (decision.kind === 'refused') {
    // A refusal can be a fact of its own: a lost KYC holds the order.
    if (decision.follow !== undefined) report(order, [decision.follow, 'system']);
    return decision.code;
  }
  const { transition } = decision;
  if (transition.noop) return undefined;
  const before = order.facts;
  order.facts = factsAfter(transition, before);
  order.reasons = reasonsAfter(transition, actor, order.reasons, before, order.facts);
  if (transition.to !== order.status) order.timeline.push(transition.to);
  order.status = transition.to;
  order.money = MONEY[trigger] ?? order.money;
  for (const type of transition.emits) {
    order.published.push(type === 'order.status.changed' ? transition.to : type);
  }
  if (transition.follow !== undefined) report(order, [transition.follow, 'system']);
  return undefined;
}

const STOPPED: readonly string[] = ['cancelled', 'failed', 'dispute_started'];

/** What the table would take now, each row of it once; `onward` leaves out what stops the order or keeps it where it is. */
export function legalMoves(order: ModelOrder, onward: boolean): Move[] {
  const moves = new Map<object, Move>();
  for (const trigger of ORDER_TRIGGERS) {
    for (const actor of ACTORS) {
      const decision = decide(ORDER_MACHINES[order.direction], order.status, trigger, order.facts, actor);
      if (decision.kind === 'moved') moves.set(decision.transition, [trigger, actor]);
    }
  }
  const rows = [...moves] as [OrderTransition, Move][];
  const leadingOn = rows.filter(([{ to }]) => to !== order.status && !STOPPED.includes(to));
  return (onward && leadingOn.length > 0 ? leadingOn : rows).map(([, move]) => move);
}

interface Figures {
  readonly cryptoAmount: bigint;
  readonly platformFee: bigint;
  readonly partnerFee: bigint;
}

/** D1: who holds what of an order's crypto, seen from its books. */
export function expectedAccounts(order: ModelOrder, figures: Figures): Record<string, bigint> {
  const { cryptoAmount, platformFee, partnerFee } = figures;
  const isOnramp = order.direction === 'onramp';
  const deposit = isOnramp ? cryptoAmount : cryptoAmount + partnerFee;
  const [seller, buyer] = isOnramp ? ['vendor', 'partner'] : ['partner', 'vendor'];
  const parties = ['vendor', 'partner', 'treasury', 'escrow', 'escrow-owners', 'bridge'];
  const accounts: Record<string, bigint> = Object.fromEntries(parties.map((party) => [party, 0n]));
  const add = (party: string, amount: bigint) => {
    accounts[party] = (accounts[party] ?? 0n) + amount;
  };
  if (order.money === 'in escrow') {
    add(seller!, -deposit);
    add('escrow', deposit);
  }
  if (order.money === 'taken by the owners') {
    add(seller!, -deposit);
    add('escrow-owners', deposit);
  }
  if (order.money === 'released') {
    add(seller!, -deposit);
    add(buyer!, cryptoAmount - platformFee);
    add('treasury', platformFee);
    if (!isOnramp) add('partner', partnerFee);
  }
  if (order.facts.sendOut === 'completed') {
    add('partner', platformFee + partnerFee - cryptoAmount);
    add('bridge', cryptoAmount - platformFee - partnerFee);
  }
  return accounts;
}
