import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Logger } from '../../lib/logger.ts';
import { giveWay } from '../../lib/pacing.ts';
import type { ChainSettings } from '../chain-settings.ts';
import { recordExecutions, signedForwards } from '../escrow/executions.store.ts';
import {
  type ChainFact,
  type ChainFactHandler,
  classifyDeposit,
  type Deposit,
  type EscrowExecution,
  type EscrowWatch,
  type ForwardExecution,
  type HeldDepositsHandler,
} from './chain-facts.ts';
import type { LogFact, UnclassifiedDeposit } from './chain-logs.ts';
import { ordersWithSignedReturns, readKnown, recordDeposits } from './deposits.store.ts';

export interface ReportDeps {
  readonly logger: Logger;
  readonly settings: Pick<ChainSettings, 'slug' | 'chainId' | 'contracts'>;
  readonly handlers: readonly ChainFactHandler[];
  readonly bookHeldDeposits: HeldDepositsHandler;
}

/** Statements that facts bring about are sent before they are more than this. */
const DEFERRED_AT_ONCE = 100;
/** Booked by one statement. */
const HELD_AT_ONCE = 200;

/**
 * Records what was read and tells it to the handlers, in the order of the chain. All that is needed to judge the facts
 * is read at once, and all that is recorded is written at once.
 */
export async function reportFacts(
  { logger, settings, handlers, bookHeldDeposits }: ReportDeps,
  unit: UnitOfWork,
  facts: readonly LogFact[],
  watches: readonly EscrowWatch[],
): Promise<void> {
  if (facts.length === 0) return;
  const { chainId, slug, contracts } = settings;
  const deposits = await classified(unit, chainId, facts.filter(isDeposit), watches);
  const forwards = facts.filter((fact) => fact.type === 'forward_executed');
  const executions = facts.filter((fact) => fact.type === 'escrow_executed');
  const awaited = new Set<LogFact>([
    // A wallet's last says how far it is.
    ...lastOfEach(forwards, ({ signer }) => signer),
    ...(await signedForwards(unit, chainId, contracts.forwarder, forwards)),
    ...(await awaitedExecutions(unit, executions)),
  ]);
  await recordDeposits(unit, chainId, [...deposits.values()]);
  await recordExecutions(unit, chainId, executions);
  const held = [...deposits.values()].filter(({ kind }) => kind !== 'exact');
  for (let start = 0; start < held.length; start += HELD_AT_ONCE) {
    await giveWay(start);
    bookHeldDeposits(held.slice(start, start + HELD_AT_ONCE), unit);
  }
  for (const [n, fact] of facts.entries()) {
    await giveWay(n);
    await unit.tx.sendDeferred(DEFERRED_AT_ONCE);
    const told = isDeposit(fact) ? deposits.get(fact) : fact;
    if (told !== undefined && (!isExecution(told) || awaited.has(told))) await tell(handlers, told, unit);
  }
  // By now no request with a nonce that is used here can be accepted any more: which were, meanwhile, is told as well.
  const untold = forwards.filter((fact) => !awaited.has(fact));
  for (const fact of await signedForwards(unit, chainId, contracts.forwarder, untold)) {
    await tell(handlers, fact, unit);
  }
  warnOfHeld(logger, slug, held);
}

async function tell(handlers: readonly ChainFactHandler[], fact: ChainFact, unit: UnitOfWork): Promise<void> {
  for (const handle of handlers) await handle(fact, unit);
}

/** What follows from executions of an order's escrow is read from the record, so one of them is told; where nothing can, none. */
async function awaitedExecutions(
  unit: UnitOfWork,
  executions: readonly EscrowExecution[],
): Promise<EscrowExecution[]> {
  const last = lastOfEach(executions, ({ orderId }) => orderId);
  const orders = await ordersWithSignedReturns(
    unit,
    last.map(({ orderId }) => orderId),
  );
  return last.filter(({ orderId }) => orders.has(orderId));
}

function lastOfEach<F>(facts: readonly F[], subject: (fact: F) => string): F[] {
  return [...new Map(facts.map((fact) => [subject(fact), fact])).values()];
}

/** Catching up and going on overlap where an escrow is new; a deposit is told once. */
async function classified(
  unit: UnitOfWork,
  chainId: number,
  paid: readonly UnclassifiedDeposit[],
  watches: readonly EscrowWatch[],
): Promise<ReadonlyMap<UnclassifiedDeposit, Deposit>> {
  const deposits = new Map<UnclassifiedDeposit, Deposit>();
  if (paid.length === 0) return deposits;
  const byAddress = new Map(watches.map((watch) => [watch.address, watch]));
  const { funded, isKnown } = await readKnown(unit, chainId, paid);
  for (const [n, fact] of paid.entries()) {
    await giveWay(n);
    const watch = byAddress.get(fact.escrow);
    if (watch === undefined || isKnown(fact)) continue;
    const kind = classifyDeposit(watch, fact, funded.has(fact.escrow));
    if (kind === 'exact') funded.add(fact.escrow);
    deposits.set(fact, { ...fact, kind, depositId: unit.ids.uuid() });
  }
  return deposits;
}

/** One line an order and kind, however many there are. */
function warnOfHeld(logger: Logger, chain: string, held: readonly Deposit[]): void {
  for (const same of Map.groupBy(held, ({ orderId, kind }) => `${orderId} ${kind}`).values()) {
    const [{ orderId, kind, txHash }] = same as [Deposit, ...Deposit[]];
    logger.warn(
      { chain, order_id: orderId, kind, tx_hash: txHash, deposits: same.length },
      'deposit held for review',
    );
  }
}

function isDeposit(fact: LogFact): fact is UnclassifiedDeposit {
  return fact.type === 'deposit';
}

/** Those whom it does not concern can make many of them for next to nothing. */
function isExecution(fact: ChainFact): fact is EscrowExecution | ForwardExecution {
  return fact.type === 'escrow_executed' || fact.type === 'forward_executed';
}
