import {
  type Actor,
  decide,
  type EffectKind,
  factsAfter,
  type Machine,
  type MachineEventType,
  type New,
  type PostingKind,
  type RefusalCode,
  type Transition,
} from '@causeway/protocol';
import { type IntentDraft, prepareIntent } from './intent.ts';
import { type EntryDraft, postEntry } from './ledger.ts';
import { type EventDraft, emitEvent } from './outbox.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/**
 * How one kind of subject (an order, a user's KYC, …) is written. The adapter knows its rows; it decides nothing.
 */
export interface MachineAdapter<Row, S extends string, T extends string, F extends object, G extends string> {
  readonly machine: Machine<S, T, F, G>;
  statusOf(row: Row): S | New;
  factsOf(row: Row): F;
  /** Defers the write of the new status and facts, and answers the row as it then is. */
  write(unit: UnitOfWork, row: Row, change: Change<S, T, F, G>): Row;
  eventFor(row: Row, eventType: MachineEventType): EventDraft;
  intentFor(row: Row, effect: EffectKind): IntentDraft;
  entryFor(row: Row, posting: PostingKind): EntryDraft;
}

export interface Change<S extends string, T extends string, F, G extends string> {
  readonly transition: Transition<S, T, F, G>;
  readonly status: S;
  readonly facts: F;
  /** Who reported the trigger. */
  readonly actor: Actor;
  /** Self-transitions change facts only and leave no mark in the timeline. */
  readonly statusChanged: boolean;
}

export type Execution<Row> =
  | { readonly kind: 'moved'; readonly row: Row }
  /** The trigger repeats what is already known. */
  | { readonly kind: 'unchanged'; readonly row: Row }
  | {
      readonly kind: 'refused';
      readonly code: RefusalCode;
      readonly guard?: string;
      readonly row: Row;
      /** The refusal has itself changed the row, and the change is meant to stay. */
      readonly recorded?: true;
    };

/**
 * The single executor: it asks the table and writes what the table says (status, facts, timeline, ledger,
 * outbox, intents) into the unit's transaction. The caller holds the row's lock.
 */
export function execute<Row, S extends string, T extends string, F extends object, G extends string>(
  unit: UnitOfWork,
  adapter: MachineAdapter<Row, S, T, F, G>,
  row: Row,
  trigger: T,
  actor: Actor,
): Execution<Row> {
  const status = adapter.statusOf(row);
  const facts = adapter.factsOf(row);
  const decision = decide(adapter.machine, status, trigger, facts, actor);
  if (decision.kind === 'refused') {
    const refusal = {
      kind: 'refused',
      code: decision.code,
      ...(decision.guard ? { guard: decision.guard } : {}),
    } as const;
    // Some refusals are themselves facts to record: a lost KYC sends a funded order to review.
    if (decision.follow === undefined) return { ...refusal, row };
    const recorded = execute(unit, adapter, row, decision.follow, 'system');
    return recorded.kind === 'moved'
      ? { ...refusal, row: recorded.row, recorded: true }
      : { ...refusal, row: recorded.row };
  }
  const { transition } = decision;
  if (transition.noop) return { kind: 'unchanged', row };

  const moved = adapter.write(unit, row, {
    transition,
    status: transition.to,
    facts: factsAfter(transition, facts),
    actor,
    statusChanged: transition.to !== status,
  });
  if (transition.posts !== undefined) postEntry(unit, adapter.entryFor(moved, transition.posts));
  for (const eventType of transition.emits) emitEvent(unit, adapter.eventFor(moved, eventType));
  for (const effect of transition.effects ?? []) prepareIntent(unit, adapter.intentFor(moved, effect));
  if (transition.follow === undefined) return { kind: 'moved', row: moved };
  return { kind: 'moved', row: execute(unit, adapter, moved, transition.follow, 'system').row };
}
