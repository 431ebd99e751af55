import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Logger } from '../../lib/logger.ts';
import { giveWay } from '../../lib/pacing.ts';
import type { ChainSettings } from '../chain-settings.ts';
import { awaitedForwards, recordExecutions } from '../escrow/executions.store.ts';
import {
  type ChainFact,
  type ChainFactHandler,
  classifyDeposit,
  type Deposit,
  type EscrowWatch,
  type HeldDepositsHandler,
} from './chain-facts.ts';
import type { LogFact, UnclassifiedDeposit } from './chain-logs.ts';
import { readKnown, recordDeposits } from './deposits.store.ts';

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
  const awaited = await awaitedForwards(unit, chainId, contracts.forwarder, forwards);
  await recordDeposits(unit, chainId, [...deposits.values()]);
  recordExecutions(
    unit,
    chainId,
    facts.filter((fact) => fact.type === 'escrow_executed'),
  );
  const held = [...deposits.values()].filter(({ kind }) => kind !== 'exact');
  for (let start = 0; start < held.length; start += HELD_AT_ONCE) {
    await giveWay(start);
    bookHeldDeposits(held.slice(start, start + HELD_AT_ONCE), unit);
  }
  for (const [n, fact] of facts.entries()) {
    await giveWay(n);
    await unit.tx.sendDeferred(DEFERRED_AT_ONCE);
    if (fact.type === 'forward_executed' && !awaited.has(fact)) continue;
    const told: ChainFact | undefined = isDeposit(fact) ? deposits.get(fact) : fact;
    if (told === undefined) continue;
    for (const handle of handlers) await handle(told, unit);
  }
  warnOfHeld(logger, slug, held);
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
