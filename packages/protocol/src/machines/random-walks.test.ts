import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ACTORS,
  type Actor,
  ORDER_TRIGGERS,
  type OrderDirection,
  type OrderFacts,
  type OrderStatus,
  type OrderTrigger,
} from './index.ts';
import { ORDER_DOMAINS } from './testing/fact-space.ts';
import { OrderWalk } from './testing/order-walk.ts';

/** What the table promises about money in each status, whatever path led there. */
const ESCROW_BY_STATUS: {
  readonly [D in OrderDirection]: { [S in OrderStatus]?: readonly OrderFacts['escrow'][] };
} = {
  onramp: {
    awaiting_liquidity_provider: ['none'],
    awaiting_vendor_escrow_funding: ['none'],
    awaiting_fiat_transfer: ['funded'],
    fiat_transfer_pending: ['funded'],
    fiat_received_confirmed: ['funded'],
    crypto_release_pending: ['releasing'],
    completed: ['emptied'],
    send_out_pending: ['emptied'],
    send_out_completed: ['emptied'],
    send_out_failed: ['emptied'],
    dispute_started: ['funded'],
    cancelled: ['none', 'funded', 'refunding', 'emptied'],
    failed: ['none', 'funded', 'refunding', 'emptied'],
  },
  offramp: {
    created: ['none'],
    awaiting_liquidity_provider: ['none'],
    awaiting_crypto_transfer_authorization: ['none'],
    crypto_transfer_authorization_pending: ['none'],
    crypto_received: ['funded'],
    fiat_payment_started: ['funded'],
    fiat_payment_review_started: ['funded'],
    awaiting_fiat_received_confirmation: ['funded'],
    fiat_received_confirmed: ['funded'],
    crypto_release_pending: ['releasing'],
    completed: ['emptied'],
    dispute_started: ['funded'],
    cancelled: ['none', 'funded', 'refunding', 'emptied'],
    failed: ['none', 'funded', 'refunding', 'emptied'],
  },
};

const born = fc.record({
  fundingSource: fc.constantFrom(...ORDER_DOMAINS.fundingSource),
  paymentRequest: fc.boolean(),
  anchor: fc.constantFrom(...ORDER_DOMAINS.anchor),
  vendorAvailable: fc.boolean(),
  settlementNotification: fc.boolean(),
});

type Step = { trigger: OrderTrigger; actor: Actor } | { kycCleared: boolean };
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 30,
    arbitrary: fc.record({ trigger: fc.constantFrom(...ORDER_TRIGGERS), actor: fc.constantFrom(...ACTORS) }),
  },
  { weight: 1, arbitrary: fc.record({ kycCleared: fc.boolean() }) },
);

/** A choice among the triggers that the current status knows, and their rows, so that walks get far. */
const guidedStep = fc.record({ pick: fc.nat(1000), by: fc.nat(1000) });

function guided(order: OrderWalk, { pick, by }: { pick: number; by: number }): Step | undefined {
  const triggers = [...(order.machine.index.get(order.status)?.values() ?? [])];
  const rows = triggers[pick % Math.max(triggers.length, 1)] ?? [];
  const row = rows[by % Math.max(rows.length, 1)];
  const actor = row?.by[by % row.by.length];
  return row === undefined || actor === undefined ? undefined : { trigger: row.on, actor };
}

type Report = Extract<Step, { trigger: OrderTrigger }>;

/** What the choices lead to, one after the other: each is chosen where the order is by then. */
function* reports(order: OrderWalk, choices: readonly { pick: number; by: number }[]): Generator<Report> {
  for (const choice of choices) {
    const step = guided(order, choice);
    if (step !== undefined && !('kycCleared' in step)) yield step;
  }
}

/** Tries it, and tells which effects it started. */
function attempt(order: OrderWalk, { trigger, actor }: Report) {
  const before = order.effects.length;
  const isRefused = order.attempt(trigger, actor) !== undefined;
  return { isRefused, started: order.effects.slice(before) };
}

function take(order: OrderWalk, step: Step): void {
  if ('kycCleared' in step) order.know(step);
  else order.attempt(step.trigger, step.actor);
}

function checkInvariants(order: OrderWalk, direction: OrderDirection, step: Step): void {
  if (order.status === '(new)') return;
  expect(order.machine.statusNames).toContain(order.status);
  const trace = `${order.passed.join(' > ')} after ${JSON.stringify(step)}`;
  expect(ESCROW_BY_STATUS[direction][order.status], trace).toContain(order.facts.escrow);
  const refundsAnnounced = order.emitted.filter((event) => event === 'order.refund.required').length;
  expect(refundsAnnounced, trace).toBeLessThan(2);
  // A buyer who knew where to pay may have paid: nobody is asked before an operator has looked, whatever the order is held for.
  const { payeeShown, refundAsked, held, escrow } = order.facts;
  const isLookedAt = payeeShown && !refundAsked && (held || escrow === 'emptied');
  if (direction === 'offramp' && order.status === 'cancelled' && escrow !== 'none') {
    expect(refundsAnnounced, trace).toBe(isLookedAt ? 0 : 1);
  }
  // It need not be found out by reading: each party that may sign a refund has been asked to.
  if (direction === 'offramp' && order.allowed().includes('authorize-refund')) {
    expect(refundsAnnounced, trace).toBe(1);
  }
  if (order.facts.held && order.allowed().includes('authorize-refund')) throw new Error(trace);
  if (order.facts.proofRejections > 3) throw new Error(trace);
  const { failure, cancelledBy, hold } = order.reasons;
  expect([failure !== null, cancelledBy !== null, hold !== null], trace).toEqual([
    order.status === 'cancelled' || order.status === 'failed',
    order.status === 'cancelled',
    order.facts.held,
  ]);
}

/** Ways in which the crypto of an order returns to the side that gave it. */
const GOES_BACK = /^escrow\.(refund|auto-refund|return-to-vendor)$/;

/** The side that gave the crypto has the fiat for it, or may have it on its way. */
function mayHaveBeenPaid({ facts, passed }: OrderWalk, direction: OrderDirection): boolean {
  if (passed.includes('fiat_received_confirmed')) return true;
  if (direction === 'offramp') return facts.payeeShown;
  // The bank is asked once a deposit has paid the order, and never before.
  const isAsked = facts.vendorPayment === 'sending' || facts.vendorPayment === 'sent';
  return isAsked && passed.includes('fiat_transfer_pending');
}

describe.each(['onramp', 'offramp'] as const)('%s: random walks', (direction) => {
  test('any steps by any actor keep the order in a known status, its money where the status says', () => {
    fc.assert(
      fc.property(born, fc.array(fc.oneof(anyStep, guidedStep), { maxLength: 120 }), (facts, steps) => {
        const order = new OrderWalk(direction, facts).report('order_initiated', 'partner');
        for (const step of steps) {
          const chosen = 'pick' in step ? guided(order, step) : step;
          if (chosen === undefined) continue;
          take(order, chosen);
          checkInvariants(order, direction, chosen);
        }
      }),
      { numRuns: 3000 },
    );
  });

  // Proves trap 9.
  test('a release and a refund are never both started, without a failure between them', () => {
    fc.assert(
      fc.property(born, fc.array(guidedStep, { maxLength: 60 }), (facts, steps) => {
        const order = new OrderWalk(direction, facts).report('order_initiated', 'partner');
        let open: string | undefined;
        for (const step of reports(order, steps)) {
          const { isRefused, started } = attempt(order, step);
          if (!isRefused && (step.trigger === 'release_failed' || step.trigger === 'refund_failed'))
            open = undefined;
          for (const effect of started) {
            if (!/^escrow\.(release|refund|auto-refund|return-to-vendor)$/.test(effect)) continue;
            expect(open, order.passed.join(' > ')).toBeUndefined();
            open = effect;
          }
        }
      }),
      { numRuns: 600 },
    );
  });

  // Decision 0080.
  test('who has the fiat, or may have been paid it, gets no crypto back unless an operator has decided or time has run out', () => {
    fc.assert(
      fc.property(born, fc.array(guidedStep, { minLength: 20, maxLength: 40 }), (facts, steps) => {
        const order = new OrderWalk(direction, facts).report('order_initiated', 'partner');
        let isDecided = false;
        for (const step of reports(order, steps)) {
          const paid = mayHaveBeenPaid(order, direction);
          const { isRefused, started } = attempt(order, step);
          if (!paid) isDecided = false;
          else if (!isRefused && (step.actor === 'operator' || step.trigger === 'order_expired'))
            isDecided = true;
          const goesBack = started.filter((effect) => GOES_BACK.test(effect));
          if (paid && !isDecided)
            expect(goesBack, `${order.passed.join(' > ')} on ${step.trigger}`).toEqual([]);
        }
      }),
      // The rarest of the three ways that it has found comes up once in some thousands of these.
      { numRuns: 60_000 },
    );
  });

  test('the buyer gets the crypto once its fiat is confirmed, or where an operator has decided a dispute for it', () => {
    fc.assert(
      fc.property(born, fc.array(guidedStep, { maxLength: 60 }), (facts, steps) => {
        const order = new OrderWalk(direction, facts).report('order_initiated', 'partner');
        let isDecided = false;
        for (const step of reports(order, steps)) {
          const { isRefused, started } = attempt(order, step);
          isDecided ||= !isRefused && step.trigger === 'dispute_resolved_to_buyer';
          if (!started.includes('escrow.release') || isDecided) continue;
          expect(order.passed, `${order.passed.join(' > ')} on ${step.trigger}`).toContain(
            'fiat_received_confirmed',
          );
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('while an order is held nothing that moves money is started', () => {
    const moving =
      /^(escrow\.(release|refund|auto-refund|return-to-vendor)|transfer\.relay|bridge\.relay|vendor\.request)/;
    fc.assert(
      fc.property(born, fc.array(guidedStep, { maxLength: 60 }), (facts, steps) => {
        const order = new OrderWalk(direction, facts).report('order_initiated', 'partner');
        for (const step of reports(order, steps)) {
          const held = order.facts.held;
          const { started } = attempt(order, step);
          if (!held || step.trigger === 'hold_released' || step.trigger === 'kyc_waived') continue;
          const moved = started.filter((effect) => moving.test(effect));
          expect(moved, `${order.passed.join(' > ')} on ${step.trigger}`).toEqual([]);
        }
      }),
      { numRuns: 1500 },
    );
  });

  test('a hold can be released wherever an order got to with it, ends included', () => {
    fc.assert(
      fc.property(born, fc.array(guidedStep, { maxLength: 60 }), (facts, steps) => {
        const order = new OrderWalk(direction, facts).report('order_initiated', 'partner');
        for (const choice of steps) {
          const step = guided(order, choice);
          if (step !== undefined) take(order, step);
          if (!order.facts.held) continue;
          // Where the vendor may be being paid, its crypto stays until the bank has answered.
          if (order.facts.vendorPayment === 'sending') order.report('vendor_payment_refused', 'bank');
          const refusal = order.refusal('hold_released', 'operator');
          expect(refusal, `${order.passed.join(' > ')}, held`).toBeUndefined();
        }
      }),
      { numRuns: 1500 },
    );
  });

  test('guided walks together visit every status', () => {
    const visited = new Set<string>();
    fc.assert(
      fc.property(born, fc.array(guidedStep, { minLength: 40, maxLength: 80 }), (facts, steps) => {
        const order = new OrderWalk(direction, facts).report('order_initiated', 'partner');
        for (const choice of steps) {
          const step = guided(order, choice);
          if (step !== undefined) take(order, step);
        }
        for (const status of order.passed) visited.add(status);
      }),
      { numRuns: 3000, seed: 20 },
    );
    expect([...visited].sort()).toEqual([...new OrderWalk(direction).machine.statusNames].sort());
  });
});
