import { CausewayError } from '@causeway/protocol';
import { SYSTEM } from '../../db/database.ts';
import { type Intent, type IntentDraft, prepareIntent, preparingIntent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-handler.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { Sealer } from '../../lib/crypto.ts';
import { readOrder } from '../orders/lifecycle/act-on-order.ts';
import type { OrderRow } from '../orders/lifecycle/order.ts';
import { findSimulatedVendor } from '../vendors/simulated-vendor.ts';
import { autoAdvances } from './seed.ts';
import { ACTS, SILENT_ACTS, type SimulatedActorDeps } from './simulated-actors.ts';
import { ownActOn } from './test-conduct.ts';

/**
 * The simulated actors of a sandbox. They do what a person would do through the same use cases; where crypto moves, it
 * moves on the local chain.
 */
export interface SimulatorDeps extends SimulatedActorDeps {
  readonly sealer: Sealer;
}

const THINKING_MS = 1_000;
/** What the result of an act that was not possible begins with. */
export const REFUSED = 'refused: ';
const NOTHING_TO_DO: Outcome = { kind: 'confirmed', result: 'nothing to do' };

/** An actor that may not act is not woken: finding that out would cost as much as a request. */
const prepareActOfItsOwn = preparingIntent('sandbox.wake_actor', 'actors_may_act($2)');

/** Called in the transaction that changed an order: a simulated actor may have to act next. */
export function wakeSimulator(unit: UnitOfWork, order: OrderRow): void {
  if (SILENT_ACTS[order.direction][order.status] !== undefined) {
    prepareIntent(unit, act(order, false, unit.at));
  } else if (ownActOn(order) !== undefined) {
    prepareActOfItsOwn(unit, act(order, false, new Date(unit.at.getTime() + THINKING_MS)));
  }
}

/**
 * Called when a sandbox user asks for it: the actor acts whatever the settings and test values say. Asked again, it tries
 * again. Answers the key by which the outcome is found.
 */
export function askSimulator(unit: UnitOfWork, order: OrderRow): string {
  const dedupeKey = `${order.order_id}:${order.revision}:asked:${unit.ids.uuid()}`;
  prepareIntent(unit, { ...act(order, true, unit.at), dedupeKey });
  return dedupeKey;
}

function act(order: OrderRow, asked: boolean, runAt: Date): IntentDraft {
  return {
    kind: 'sandbox.act',
    dedupeKey: `${order.order_id}:${order.revision}:self`,
    partnerId: order.partner_id,
    payload: { order_id: order.order_id, status: order.status, asked },
    runAt,
  };
}

export function simulatorHandler(deps: SimulatorDeps): IntentHandler<'sandbox.act'> {
  async function carryOut(intent: Intent<'sandbox.act'>): Promise<Outcome> {
    const order = await readOrder(deps.db, SYSTEM, intent.payload.order_id);
    if (order === undefined || order.vendor_id === null) return NOTHING_TO_DO;
    // What is done silently is still wanted when the order has moved on meanwhile.
    const silent = SILENT_ACTS[order.direction][intent.payload.status];
    const isTimely = order.status === intent.payload.status;
    const usual = intent.payload.asked ? ACTS[order.direction][order.status] : ownActOn(order);
    const perform = silent ?? (isTimely ? usual : undefined);
    if (perform === undefined) return NOTHING_TO_DO;
    const mayAct =
      silent !== undefined || intent.payload.asked || (await autoAdvances(deps.db, order.partner_id));
    if (!mayAct) return { kind: 'confirmed', result: 'auto_advance is off' };
    const vendor = await findSimulatedVendor(deps.db, deps.sealer, order.vendor_id);
    if (vendor === undefined) return { kind: 'confirmed', result: 'the vendor is real' };
    try {
      const outcome = await perform(deps, order, vendor);
      // The one who asked is told at once why it cannot be.
      return intent.payload.asked && outcome.kind === 'retry'
        ? { kind: 'confirmed', result: `${REFUSED}${outcome.error}` }
        : outcome;
    } catch (error) {
      // The order has moved on, or is held: whatever happens next wakes the actor again.
      if (!(error instanceof CausewayError)) throw error;
      return { kind: 'confirmed', result: `${REFUSED}${error.code}` };
    }
  }

  return {
    schedule: schedule([1, 2, 5, 10], { maxAttempts: 6 }),
    perform: carryOut,
  };
}
