import {
  type Actor,
  CausewayError,
  guardsHold,
  ORDER_MACHINES,
  type OrderTrigger,
  orderActionsOf,
} from '@causeway/protocol';
import type { FastifyRequest } from 'fastify';
import { type Database, type Scope, SYSTEM } from '../../../db/database.ts';
import { type Execution, execute } from '../../../engine/execute.ts';
import { RecordedRefusal, type UnitDeps, type UnitOfWork, unitOfWork } from '../../../engine/unit-of-work.ts';
import type { Principal } from '../../../http/principals.ts';
import { scopeOf } from '../../../http/route-runs.ts';
import type { Sealer } from '../../../lib/crypto.ts';
import { kycNotCleared } from '../../quotes/claim-quote.ts';
import { factsOf, type OrderAdapters } from './order.adapter.ts';
import { findOrder, findProof, insertProof, judgeProof, lockOrder, overdueOrders } from './order.store.ts';
import { expiresAt, type OrderRow } from './order.ts';

export async function readOrder(db: Database, scope: Scope, orderId: string): Promise<OrderRow | undefined> {
  const [order] = await db.query(scope, findOrder, [orderId]);
  return order;
}

type Refusal = Extract<Execution<OrderRow>, { kind: 'refused' }>;

/** What the caller of a refused action is told: where the order stands, and what this caller can do instead. */
export function refusedTransition({ code, row }: Refusal, caller: Actor): CausewayError {
  switch (code) {
    case 'INVALID_STATUS':
      return new CausewayError('INVALID_STATUS', {
        details: {
          status: row.status,
          allowed_actions: orderActionsOf(caller, orderState(row)),
        },
      });
    case 'KYC_NOT_CLEARED':
      return kycNotCleared(row.kyc_status);
    default:
      return new CausewayError(code);
  }
}

/** As the tables are asked about it. */
export function orderState(row: OrderRow) {
  return { direction: row.direction, status: row.status, facts: factsOf(row) };
}

/** Who acts on the partner's side of an order: the partner itself, or the customer that opened it in the widget. */
export interface OrderCaller {
  readonly actor: 'partner' | 'customer';
  readonly scope: Scope;
}

export function callerOf(principal: Principal | null): OrderCaller {
  // A session that does not know its customer yet has none in whose name it could act.
  const isStranger = principal?.kind === 'session' && principal.userId === null;
  if (isStranger) throw new CausewayError('ORDER_NOT_FOUND');
  return { actor: principal?.kind === 'session' ? 'customer' : 'partner', scope: scopeOf(principal) };
}

/**
 * For action endpoints: the order is the caller's own and one it may act on at all. A widget's is none for its partner, and
 * the partner's none for its customer.
 */
export function requireOrder(deps: { readonly db: Database }) {
  return async ({ principal, params }: FastifyRequest): Promise<void> => {
    const { actor, scope } = callerOf(principal);
    const order = await readOrder(deps.db, scope, (params as OrderPath).order_id);
    const machine = order && ORDER_MACHINES[order.direction];
    if (!machine || !guardsHold(machine, machine.before.actor?.[actor], factsOf(order))) {
      throw new CausewayError('ORDER_NOT_FOUND');
    }
  };
}

interface OrderPath {
  readonly order_id: string;
}

/** Locks an order of the unit's scope, or says that there is none. */
export async function loadOrderForAction(unit: UnitOfWork, orderId: string): Promise<OrderRow> {
  const [order] = await unit.tx.query(lockOrder, [orderId]);
  if (order === undefined) throw new CausewayError('ORDER_NOT_FOUND');
  return order;
}

/**
 * Reports a fact about a locked order; a refusal is thrown as the answer its reporter gets. Where the refusal sends the
 * order to review, the hold stays although the rest of the unit is not done.
 */
export function moveOrder(
  unit: UnitOfWork,
  adapters: OrderAdapters,
  order: OrderRow,
  trigger: OrderTrigger,
  actor: Actor,
): OrderRow {
  const execution = execute(unit, adapters[order.direction], order, trigger, actor);
  if (execution.kind !== 'refused') return execution.row;
  const refusal = refusedTransition(execution, actor);
  throw execution.recorded ? new RecordedRefusal(refusal) : refusal;
}

export async function actOnOrder(
  unit: UnitOfWork,
  adapters: OrderAdapters,
  orderId: string,
  trigger: OrderTrigger,
  actor: Actor,
): Promise<OrderRow> {
  return moveOrder(unit, adapters, await loadOrderForAction(unit, orderId), trigger, actor);
}

/**
 * Reports facts in turn. One that the order has no use for any more is refused by the table and changes nothing. Answers the
 * order as it then is.
 */
export async function reportFacts(
  deps: { readonly orderAdapters: OrderAdapters },
  unit: UnitOfWork,
  orderId: string,
  triggers: readonly OrderTrigger[],
  actor: Actor,
): Promise<OrderRow | undefined> {
  let [order] = await unit.tx.query(lockOrder, [orderId]);
  for (const trigger of triggers) {
    if (order === undefined) return undefined;
    order = execute(unit, deps.orderAdapters[order.direction], order, trigger, actor).row;
  }
  return order;
}

const BATCH = 100;

// The query leaves out what a review or a waiting proof keeps from expiring: it would only be refused, every time.

/** Reports to each overdue order that its time is up; the table decides what that means. */
export async function expireOrders(
  deps: UnitDeps & { readonly orderAdapters: OrderAdapters },
): Promise<number> {
  const overdue = await deps.db.query(SYSTEM, overdueOrders, [deps.clock.date(), BATCH]);
  for (const { order_id: orderId } of overdue) {
    await unitOfWork(deps, SYSTEM, async (unit) => {
      const [order] = await unit.tx.query(lockOrder, [orderId]);
      // A hold or a proof may have come in between; not every row of the table looks.
      const due = order === undefined ? null : expiresAt(order);
      if (order === undefined || due === null || due > unit.at) return;
      execute(unit, deps.orderAdapters[order.direction], order, 'order_expired', 'clock');
    });
  }
  return overdue.length;
}

/** What a buyer shows for its payment. */
export interface PaymentProof {
  readonly reference: string;
  readonly content_type?: string | undefined;
  /** Base64. */
  readonly content?: string | undefined;
}

export const proofContext = (proofId: string) => `payment_proofs:${proofId}`;

export function recordProof(
  unit: UnitOfWork,
  sealer: Sealer,
  order: OrderRow,
  vendorId: string,
  proof: PaymentProof,
): string {
  const proofId = unit.ids.uuid();
  const sealed = sealer.seal(JSON.stringify(proof), proofContext(proofId));
  unit.tx.defer(insertProof, [proofId, order.partner_id, order.order_id, vendorId, sealed, unit.at]);
  return proofId;
}

/** What was shown, in clear. It is gone where the person was erased. */
export async function openProof(
  unit: UnitOfWork,
  sealer: Sealer,
  proofId: string,
): Promise<{ readonly orderId: string; readonly proof: PaymentProof }> {
  const [row] = await unit.tx.query(findProof, [proofId]);
  if (row === undefined || row.proof_sealed === null) throw new CausewayError('PROOF_NOT_FOUND');
  const text = sealer.open(row.proof_sealed, proofContext(row.proof_id));
  return { orderId: row.order_id, proof: JSON.parse(text) as PaymentProof };
}

export type ProofVerdict = 'accepted' | 'rejected';

/** The verdict on the proof under review; the third refusal ends the order, as the table says. */
export function decideProof(
  unit: UnitOfWork,
  adapters: OrderAdapters,
  order: OrderRow,
  verdict: ProofVerdict,
  actor: Actor,
): OrderRow {
  const moved = moveOrder(unit, adapters, order, `proof_${verdict}`, actor);
  unit.tx.defer(judgeProof, [order.order_id, verdict, unit.at]);
  return moved;
}

/** A third of the time an order waits for a vendor: three of them can be asked. */
const DEFAULT_SECONDS = 300;

/**
 * How long a vendor that was asked has to answer; null where it may take as long as the order waits. Simulated vendors are
 * silent because they were told to be: unless it is asked for, they keep their orders.
 */
export function vendorResponseSeconds(deployment: {
  readonly config: { readonly orderVendorResponseSeconds?: number | undefined };
  readonly sandbox: boolean;
}): number | null {
  return deployment.config.orderVendorResponseSeconds ?? (deployment.sandbox ? null : DEFAULT_SECONDS);
}
