import type { RetrySchedule } from '../lib/backoff.ts';
import { EFFECTS, type EffectNeed, INTENT_KINDS, type IntentKind } from './effects.ts';
import type { Intent, Json } from './intent.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/**
 * What became of an attempt. `followUp` runs in the transaction that settles the intent, so the effect and its
 * consequence (a transition, a posting) are recorded together or not at all.
 */
export type Outcome =
  | {
      readonly kind: 'confirmed';
      readonly result?: Json;
      readonly followUp?: (unit: UnitOfWork) => Promise<void>;
    }
  | {
      readonly kind: 'failed';
      readonly error: string;
      readonly followUp?: (unit: UnitOfWork) => Promise<void>;
    }
  /** It certainly did not happen: try again on the schedule, fail when that is used up. */
  | { readonly kind: 'retry'; readonly error: string }
  /**
   * It is under way elsewhere (mined soon, settled soon): look again; this is no failed attempt. After longer than its kind
   * should wait a person is told, and the reason where there is one.
   */
  | { readonly kind: 'waiting'; readonly afterMs: number; readonly reason?: string }
  /** It may or may not have happened: ask again, never repeat blindly. */
  | { readonly kind: 'unknown'; readonly error: string; readonly afterMs: number };

interface Handler<K extends IntentKind> {
  readonly schedule: RetrySchedule;
  readonly perform: (intent: Intent<K>) => Promise<Outcome>;
  /** What follows when the schedule is used up. */
  readonly exhausted?: (intent: Intent<K>, unit: UnitOfWork) => Promise<void>;
}

/** Of an effect that the registry calls repeatable: it is performed again when it is not known what became of it. */
interface RepeatingHandler<K extends IntentKind> extends Handler<K> {
  readonly reconcile?: never;
}

export interface ReconcilingHandler<K extends IntentKind> extends Handler<K> {
  /** Called instead of perform when an earlier attempt may have taken effect. */
  readonly reconcile: (intent: Intent<K>) => Promise<Outcome>;
}

/** How effects of a kind are carried out; the registry says whether it must be able to reconcile. */
export type IntentHandler<K extends IntentKind> = (typeof EFFECTS)[K]['repeatable'] extends true
  ? RepeatingHandler<K>
  : ReconcilingHandler<K>;

/** One handler a kind. Only what the registry says a deployment may lack can be null. */
export type IntentHandlers = {
  readonly [K in IntentKind]: (typeof EFFECTS)[K] extends { readonly needs: EffectNeed }
    ? IntentHandler<K> | null
    : IntentHandler<K>;
};

/** A worker that cannot carry out what its deployment writes must not start: such effects would wait for ever. */
export function requireHandlers(
  handlers: Readonly<Record<string, unknown>>,
  has: Readonly<Record<EffectNeed, boolean>>,
): void {
  const isNeeded = (kind: IntentKind) => {
    const { needs } = EFFECTS[kind] as { readonly needs?: EffectNeed };
    return needs === undefined || has[needs];
  };
  const missing = INTENT_KINDS.filter((kind) => isNeeded(kind) && handlers[kind] == null);
  const unknown = Object.keys(handlers).filter((kind) => !Object.hasOwn(EFFECTS, kind));
  if (missing.length > 0) throw new Error(`effects without a handler: ${missing.join(', ')}`);
  if (unknown.length > 0)
    throw new Error(`handlers of effects that are not registered: ${unknown.join(', ')}`);
}

export type AnyHandler = RepeatingHandler<IntentKind> | ReconcilingHandler<IntentKind>;

/** The types pair each handler with its kind; from here on the row's kind does. */
export function handlersByKind(handlers: Partial<IntentHandlers>): ReadonlyMap<IntentKind, AnyHandler> {
  const byKind = new Map<IntentKind, AnyHandler>();
  for (const kind of INTENT_KINDS) {
    const handler = handlers[kind] as AnyHandler | null | undefined;
    if (handler != null) byKind.set(kind, handler);
  }
  return byKind;
}
