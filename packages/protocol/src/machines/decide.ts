import type {
  Actor,
  Decision,
  Machine,
  MachineDefinition,
  New,
  StatusSpec,
  Timeout,
  Transition,
} from './machine.types.ts';

/** Indexes a table by (status, trigger) once, so that a decision costs two map reads. */
export function defineMachine<S extends string, T extends string, F, G extends string>(
  definition: MachineDefinition<S, T, F, G>,
): Machine<S, T, F, G> {
  const index = new Map<string, Map<string, Transition<S, T, F, G>[]>>();
  for (const transition of definition.transitions) {
    for (const from of sourcesOf(transition)) {
      const byTrigger = index.get(from) ?? new Map<string, Transition<S, T, F, G>[]>();
      index.set(from, byTrigger);
      byTrigger.set(transition.on, [...(byTrigger.get(transition.on) ?? []), transition]);
    }
  }
  return {
    name: definition.name,
    title: definition.title,
    statusNames: Object.keys(definition.statuses) as S[],
    statuses: definition.statuses,
    guards: definition.guards,
    transitions: definition.transitions,
    before: definition.before ?? {},
    refusals: definition.refusals ?? [],
    index,
  };
}

export function sourcesOf<S extends string, T extends string, F, G extends string>(
  transition: Transition<S, T, F, G>,
): readonly (S | New)[] {
  return typeof transition.from === 'string' ? [transition.from] : transition.from;
}

/** What the table says about a trigger. Pure: the same question has the same answer for ever. */
export function decide<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
  status: S | New,
  trigger: T,
  facts: F,
  actor: Actor,
): Decision<S, T, F, G> {
  const early =
    firstFailing(machine, machine.before.actor?.[actor], facts) ??
    firstFailing(machine, machine.before.trigger?.[trigger], facts);
  if (early !== undefined) return refusedBy(machine, early);

  const rows = machine.index.get(status)?.get(trigger);
  if (rows === undefined) {
    const named = machine.refusals.find((refusal) => refusal.from === status && refusal.on === trigger);
    return { kind: 'refused', reason: 'no_transition', code: named?.code ?? 'INVALID_STATUS' };
  }

  let failing: G | undefined;
  let actorFits = false;
  for (const transition of rows) {
    if (!transition.by.includes(actor)) continue;
    actorFits = true;
    const guard = firstFailing(machine, transition.guard, facts);
    if (guard === undefined) return { kind: 'moved', transition };
    failing ??= guard;
  }
  if (!actorFits || failing === undefined) {
    return { kind: 'refused', reason: 'actor', code: 'OPERATION_NOT_ALLOWED' };
  }
  return refusedBy(machine, failing);
}

function refusedBy<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
  guard: G,
): Decision<S, T, F, G> {
  const { code, onRefusal } = machine.guards[guard];
  return onRefusal === undefined
    ? { kind: 'refused', reason: 'guard', code, guard }
    : { kind: 'refused', reason: 'guard', code, guard, follow: onRefusal };
}

function firstFailing<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
  guards: readonly G[] | undefined,
  facts: F,
): G | undefined {
  return guards?.find((guard) => !machine.guards[guard].holds(facts));
}

export function guardsHold<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
  guards: readonly G[] | undefined,
  facts: F,
): boolean {
  return firstFailing(machine, guards, facts) === undefined;
}

/** The facts once a transition has happened. */
export function factsAfter<S extends string, T extends string, F extends object, G extends string>(
  transition: Transition<S, T, F, G>,
  facts: F,
): F {
  const after = { ...facts, ...transition.sets };
  const counter = transition.counts;
  return counter === undefined ? after : { ...after, [counter]: Number(facts[counter]) + 1 };
}

/** Whether a status has a row for the trigger; its guards and actors may still refuse. */
export function knowsTrigger<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
  status: S | New,
  trigger: T,
): boolean {
  return machine.index.get(status)?.has(trigger) === true;
}

/**
 * From where to where a trigger moves, for a statement that compares and sets the status itself. Only for triggers that
 * have one row.
 */
export function onlyMove<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
  trigger: T,
): { readonly from: S | New; readonly to: S } {
  const [row, another] = machine.transitions.filter(({ on }) => on === trigger);
  if (row === undefined || another !== undefined || typeof row.from !== 'string') {
    throw new RangeError(`${machine.name} does not move from one status to one on ${trigger}`);
  }
  return { from: row.from, to: row.to };
}

function statusSpec<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
  status: S,
): StatusSpec<T, G> {
  const spec = machine.statuses[status];
  if (spec === undefined) throw new RangeError(`${machine.name} has no status ${status}`);
  return spec;
}

export function statusSteps<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
  status: S,
): NonNullable<StatusSpec<T, G>['next']> {
  return statusSpec(machine, status).next ?? [];
}

export function isTerminal<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
  status: S,
): boolean {
  return statusSpec(machine, status).terminal;
}

export function isPublished<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
  status: S,
): boolean {
  return statusSpec(machine, status).published;
}

export function timeoutOf<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
  status: S,
): Timeout<T> | undefined {
  return statusSpec(machine, status).timeout;
}
