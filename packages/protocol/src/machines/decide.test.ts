import { describe, expect, test } from 'vitest';
import {
  ACTORS,
  AUTHORIZATION_TRIGGERS,
  authorizationMachine,
  DEPOSIT_TRIGGERS,
  decide,
  depositMachine,
  FIAT_ACCOUNT_TRIGGERS,
  FIAT_CLIENT_TRIGGERS,
  FIAT_PAYMENT_TRIGGERS,
  fiatAccountMachine,
  fiatClientMachine,
  fiatPaymentMachine,
  INITIAL_DEPOSIT_FACTS,
  INITIAL_FIAT_PAYMENT_FACTS,
  INITIAL_ORDER_FACTS,
  isPublished,
  isTerminal,
  KYC_TRIGGERS,
  kycMachine,
  type Machine,
  NEW,
  ORDER_STATUSES,
  ORDER_TRIGGERS,
  type OrderMachine,
  offrampMachine,
  onrampMachine,
  PUBLISHED_ORDER_STATUSES,
  QUOTE_TRIGGERS,
  quoteMachine,
  RECIPIENT_TRIGGERS,
  recipientMachine,
  SCREENING_TRIGGERS,
  screeningCaseMachine,
  screeningMachine,
  sourcesOf,
  timeoutOf,
} from './index.ts';
import { allFacts, INITIAL_QUOTE_FACTS, ORDER_DOMAINS, QUOTE_DOMAINS } from './testing/fact-space.ts';

type AnyFacts = Readonly<Record<string, unknown>>;
type AnyMachine = Machine<string, string, AnyFacts, string>;
interface Case {
  machine: AnyMachine;
  triggers: readonly string[];
  domains: Readonly<Record<string, readonly unknown[]>>;
  base: AnyFacts;
}

// Machines differ in their unions; what is tested here is what they have in common.
function asCase(
  machine: unknown,
  triggers: readonly string[],
  domains: Case['domains'] = {},
  base: object = {},
): Case {
  return { machine: machine as AnyMachine, triggers, domains, base: base as AnyFacts };
}

const CASES: readonly Case[] = [
  asCase(onrampMachine, ORDER_TRIGGERS, ORDER_DOMAINS, INITIAL_ORDER_FACTS),
  asCase(offrampMachine, ORDER_TRIGGERS, ORDER_DOMAINS, INITIAL_ORDER_FACTS),
  asCase(quoteMachine, QUOTE_TRIGGERS, QUOTE_DOMAINS, INITIAL_QUOTE_FACTS),
  asCase(
    depositMachine,
    DEPOSIT_TRIGGERS,
    Object.fromEntries(Object.keys(INITIAL_DEPOSIT_FACTS).map((fact) => [fact, [false, true]])),
    INITIAL_DEPOSIT_FACTS,
  ),
  asCase(kycMachine, KYC_TRIGGERS),
  asCase(recipientMachine, RECIPIENT_TRIGGERS),
  asCase(screeningMachine, SCREENING_TRIGGERS),
  asCase(
    screeningCaseMachine,
    SCREENING_TRIGGERS,
    { decidedByPerson: [false, true] },
    { decidedByPerson: false },
  ),
  asCase(fiatClientMachine, FIAT_CLIENT_TRIGGERS),
  asCase(fiatAccountMachine, FIAT_ACCOUNT_TRIGGERS),
  asCase(
    fiatPaymentMachine,
    FIAT_PAYMENT_TRIGGERS,
    { collecting: [false, true] },
    INITIAL_FIAT_PAYMENT_FACTS,
  ),
  asCase(authorizationMachine, AUTHORIZATION_TRIGGERS),
];

function rowsOf(machine: AnyMachine, status: string, trigger: string) {
  return machine.transitions.filter((row) => row.on === trigger && sourcesOf(row).includes(status));
}

/** Every combination of the facts that the guards of one (status, trigger) pair look at. */
function combinations({ machine, domains, base }: Case, status: string, trigger: string): AnyFacts[] {
  const guards = [
    ...rowsOf(machine, status, trigger).flatMap((row) => row.guard ?? []),
    ...Object.values(machine.before.actor ?? {}).flat(),
    ...(machine.before.trigger?.[trigger] ?? []),
  ];
  const names = new Set(guards.flatMap((guard) => machine.guards[guard]?.reads ?? []));
  return allFacts(base, Object.fromEntries([...names].map((name) => [name, domains[name] ?? []])));
}

describe.each(CASES.map((one) => [one.machine.name, one] as const))('%s', (_name, one) => {
  const { machine, triggers } = one;
  const statuses = [...machine.statusNames, NEW];
  const pairs = statuses.flatMap((status) => triggers.map((trigger) => [status, trigger] as const));

  test('every (status, trigger) outside the table is refused, for every actor', () => {
    let seen = 0;
    for (const [status, trigger] of pairs) {
      if (rowsOf(machine, status, trigger).length > 0) continue;
      for (const actor of ACTORS) {
        for (const facts of combinations(one, status, trigger)) {
          seen += 1;
          expect(decide(machine, status, trigger, facts, actor).kind).toBe('refused');
        }
      }
    }
    expect(seen).toBeGreaterThan(0);
  });

  test('every (status, trigger) in the table moves or refuses exactly as its rows declare', () => {
    const holds = (guards: readonly string[] | undefined, facts: AnyFacts) =>
      (guards ?? []).every((guard) => machine.guards[guard]?.holds(facts));
    for (const [status, trigger] of pairs) {
      const rows = rowsOf(machine, status, trigger);
      if (rows.length === 0) continue;
      for (const actor of ACTORS) {
        for (const facts of combinations(one, status, trigger)) {
          const open =
            holds(machine.before.actor?.[actor], facts) && holds(machine.before.trigger?.[trigger], facts);
          const fitting = open ? rows.filter((row) => row.by.includes(actor) && holds(row.guard, facts)) : [];
          expect(fitting.length, `${status} ${trigger} ${actor}: guards exclude each other`).toBeLessThan(2);
          const decision = decide(machine, status, trigger, facts, actor);
          if (fitting[0] !== undefined) {
            expect(decision).toEqual({ kind: 'moved', transition: fitting[0] });
          } else {
            expect(decision.kind).toBe('refused');
          }
        }
      }
    }
  });

  test('a guard looks only at the facts it names', () => {
    for (const [name, guard] of Object.entries(machine.guards)) {
      const read = new Set<string>();
      for (const facts of allFacts(
        one.base,
        Object.fromEntries(guard.reads.map((k) => [k, one.domains[k] ?? []])),
      )) {
        guard.holds(
          new Proxy(facts, {
            get: (target, key) => {
              read.add(String(key));
              return target[String(key)];
            },
          }),
        );
      }
      expect([...read].sort(), name).toEqual([...guard.reads].sort());
    }
  });

  test('every row leads to a known status, on a known trigger, and what follows it has a row too', () => {
    for (const row of machine.transitions) {
      expect(triggers).toContain(row.on);
      expect(machine.statusNames).toContain(row.to);
      expect(row.spec).not.toBe('');
      if (row.follow !== undefined) {
        expect(rowsOf(machine, row.to, row.follow).some((next) => next.by.includes('system'))).toBe(true);
      }
    }
  });

  test('every status is reachable from creation', () => {
    const reached = new Set<string>([NEW]);
    for (let before = 0; before < reached.size; ) {
      before = reached.size;
      for (const row of machine.transitions) {
        if (sourcesOf(row).some((from) => reached.has(from))) reached.add(row.to);
      }
    }
    expect([...reached].sort()).toEqual([...statuses].sort());
  });

  test('every status that is not terminal has a way out, and every time-out has its row', () => {
    for (const status of machine.statusNames) {
      const leaves = machine.transitions.some((row) => sourcesOf(row).includes(status) && row.to !== status);
      if (!isTerminal(machine, status)) expect(leaves, status).toBe(true);
      const timeout = timeoutOf(machine, status);
      if (timeout === undefined) continue;
      expect(timeout.defaultSeconds).toBeGreaterThan(0);
      expect(rowsOf(machine, status, timeout.trigger).every((row) => row.by.includes('clock'))).toBe(true);
      expect(rowsOf(machine, status, timeout.trigger).some((row) => row.to !== status)).toBe(true);
    }
  });

  test('a row that repeats what is known changes nothing', () => {
    for (const row of machine.transitions.filter(({ noop }) => noop)) {
      expect(sourcesOf(row)).toEqual([row.to]);
      expect([row.emits, row.effects, row.sets, row.counts, row.posts, row.follow, row.action]).toEqual([
        [],
        ...Array(6).fill(undefined),
      ]);
    }
  });
});

test('no trigger and no guard of the vocabularies is idle', () => {
  for (const names of [
    ['onramp', 'offramp'],
    ['quote'],
    ['kyc'],
    ['recipient'],
    ['screening'],
    ['screening_case'],
    ['fiat_client'],
    ['fiat_account'],
    ['fiat_payment'],
    ['authorization'],
  ]) {
    const cases = CASES.filter(({ machine }) => names.includes(machine.name));
    const rows = cases.flatMap(({ machine }) => machine.transitions);
    expect(new Set(rows.map((row) => row.on))).toEqual(new Set(cases[0]?.triggers));
    const used = cases.flatMap(({ machine }) => [
      ...machine.transitions.flatMap((row) => row.guard ?? []),
      ...Object.values(machine.before.actor ?? {}).flat(),
      ...Object.values(machine.before.trigger ?? {}).flat(),
      ...Object.values(machine.statuses).flatMap(
        (spec) => spec?.next?.flatMap(({ when }) => when ?? []) ?? [],
      ),
    ]);
    expect(new Set(used)).toEqual(new Set(Object.keys(cases[0]?.machine.guards ?? {})));
  }
});

describe('events', () => {
  const orderMachines: readonly OrderMachine[] = [onrampMachine, offrampMachine];

  // Proves D6.6, trap 14.
  test('no row into a mid-flight status emits anything, and every move into a published one is announced', () => {
    for (const machine of orderMachines) {
      for (const row of machine.transitions) {
        const moves = sourcesOf(row).some((from) => from !== row.to);
        // Left within the initiate call: a partner meets it in the timeline only.
        if (!isPublished(machine, row.to) || row.to === 'created') {
          expect(row.emits).toEqual([]);
        } else if (moves) {
          expect(row.emits[0]).toBe('order.status.changed');
        } else {
          expect(row.emits).not.toContain('order.status.changed');
        }
      }
    }
  });

  // Proves C6 row 2.
  test('order.refund.required belongs to off-ramp orders that stopped, and is remembered', () => {
    for (const machine of orderMachines) {
      for (const row of machine.transitions) {
        const asks = row.emits.includes('order.refund.required');
        expect(row.sets?.refundAsked === true, `${machine.name} ${row.on}`).toBe(asks);
        if (asks) expect(['offramp cancelled', 'offramp failed']).toContain(`${machine.name} ${row.to}`);
      }
    }
  });

  // Proves trap 14, C6 row 1.
  test('exactly the contract’s seventeen statuses are published', () => {
    const published = new Set(
      orderMachines.flatMap((machine) =>
        machine.statusNames.filter((status) => isPublished(machine, status)),
      ),
    );
    expect(published.size).toBe(17);
    expect([...published].sort()).toEqual([...PUBLISHED_ORDER_STATUSES].sort());
    expect(new Set([...onrampMachine.statusNames, ...offrampMachine.statusNames])).toEqual(
      new Set(ORDER_STATUSES),
    );
  });

  // Proves C3.4, C6 row 3.
  test('user.kyc.updated is sent on a change to VERIFIED, REJECTED or UNDER_REVIEW and to nothing else', () => {
    for (const row of kycMachine.transitions) {
      const announced = ['VERIFIED', 'REJECTED', 'UNDER_REVIEW'].includes(row.to) && row.noop !== true;
      expect(row.emits).toEqual(announced ? ['user.kyc.updated'] : []);
    }
  });
});
