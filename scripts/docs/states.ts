import { VARIABLES } from '../../apps/gateway/src/config/variables.ts';
import {
  ACTION_ENDPOINTS,
  authorizationMachine,
  depositMachine,
  fiatAccountMachine,
  fiatClientMachine,
  fiatPaymentMachine,
  kycMachine,
  type Machine,
  NEW,
  NOT_MACHINES,
  offrampMachine,
  onrampMachine,
  PARTNER_ACTIONS,
  quoteMachine,
  recipientMachine,
  SANDBOX_EVENT_RULES,
  SANDBOX_ORDER_EVENTS,
  screeningCaseMachine,
  screeningMachine,
  sourcesOf,
  type Timeout,
  type TimeoutSetting,
  type Transition,
  WITHOUT_STATUS,
} from '../../packages/protocol/src/machines/index.ts';

type Row<S extends string, T extends string, F, G extends string> = Transition<S, T, F, G>;

/** What an operator sets for a time-out of the tables. */
const TIMEOUT_VARIABLES: Readonly<Record<TimeoutSetting, { readonly name: string }>> = {
  no_vendor_seconds: VARIABLES.orderTimeoutNoVendorSeconds,
  no_escrow_funding_seconds: VARIABLES.orderTimeoutNoEscrowSeconds,
  no_fiat_seconds: VARIABLES.orderTimeoutNoFiatSeconds,
  no_authorization_seconds: VARIABLES.orderTimeoutNoAuthorizationSeconds,
};

/** docs/reference/states.md: the machines of packages/protocol, drawn and listed. */
export function renderStates(): string {
  return `${[
    '# States and transitions',
    'Generated from the tables in `packages/protocol/src/machines` by `npm run docs`; edit those, not this page.',
    [
      'In *Source*, C is a section of the partner API contract and D one of the decisions made where it is silent, both in',
      '[contract](contract.md); *Silent* marks a rule that neither states, *Safety* one that keeps money or data from harm.',
      'A row that stops or holds an order names its reason, see [failures](failures.md).',
      'A time-out names the [variable](config.md) that changes it, where there is one.',
      'Diagrams show changes of status; the tables also list what happens within one.',
      'A refused guard answers with the error code named below each machine; a trigger that a status does not',
      'know answers `INVALID_STATUS`.',
    ].join('\n'),
    section(onrampMachine),
    section(offrampMachine),
    actions(),
    sandboxEvents(),
    section(depositMachine),
    section(quoteMachine),
    section(kycMachine),
    section(recipientMachine),
    section(screeningMachine),
    section(screeningCaseMachine),
    section(fiatClientMachine),
    section(fiatAccountMachine),
    section(fiatPaymentMachine),
    section(authorizationMachine),
    notMachines(),
  ].join('\n\n')}\n`;
}

function section<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
): string {
  const parts = [
    `## ${machine.title}`,
    diagram(machine),
    '### Statuses',
    statuses(machine),
    '### Transitions',
    transitions(machine),
    guards(machine),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function diagram<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
): string {
  const labels = new Map<string, string[]>();
  const left = new Set<string>();
  for (const row of machine.transitions.filter(({ by }) => !by.every((actor) => actor === 'simulator'))) {
    for (const from of sourcesOf(row).filter((source) => source !== row.to)) {
      left.add(from);
      const edge = `${from === NEW ? '[*]' : from} --> ${row.to}`;
      const known = labels.get(edge) ?? [];
      labels.set(edge, known.includes(row.on) ? known : [...known, row.on]);
    }
  }
  const edges = [...labels].map(([edge, triggers]) => `  ${edge}: ${triggers.join(', ')}`);
  const ends = machine.statusNames
    .filter((status) => !left.has(status))
    .map((status) => `  ${status} --> [*]`);
  return ['```mermaid', 'stateDiagram-v2', ...edges, ...ends, '```'].join('\n');
}

function statuses<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
): string {
  return table(
    ['Status', 'Meaning', 'Webhook', 'Terminal', 'Time-out'],
    machine.statusNames.map((status) => {
      const spec = machine.statuses[status];
      const timeout = spec?.timeout;
      return [
        code(status),
        `${spec?.says ?? ''}${spec?.additive ? ' An addition to the contract’s list.' : ''}`,
        spec?.published ? 'yes' : '',
        spec?.terminal ? 'yes' : '',
        timeout ? `${timeoutOf(timeout)}: ${code(timeout.trigger)}` : '',
      ];
    }),
  );
}

function timeoutOf({ setting, defaultSeconds }: Timeout<string>): string {
  return `${defaultSeconds} s${setting === undefined ? '' : ` (${code(TIMEOUT_VARIABLES[setting].name)})`}`;
}

function transitions<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
): string {
  return table(
    ['From', 'Trigger', 'By', 'Guards', 'To', 'Emits', 'Effects', 'Action', 'Also', 'Source'],
    withinOneStatusMerged(
      machine.transitions.map((row) => [
        codes(sourcesOf(row)),
        code(row.on),
        row.by.join(', '),
        codes(row.guard),
        staysPut(row) ? 'the same' : code(row.to),
        codes(row.emits),
        codes(row.effects),
        codes(row.action === undefined ? [] : [row.action]),
        consequences(row),
        row.spec,
      ]),
    ),
  );
}

function staysPut<S extends string, T extends string, F, G extends string>(row: Row<S, T, F, G>): boolean {
  return sourcesOf(row).every((from) => from === row.to);
}

/** A rule that holds in many statuses and changes none (a hold) reads better as one line. */
function withinOneStatusMerged(rows: readonly string[][]): string[][] {
  const merged = new Map<string, string[]>();
  for (const [from = '', ...rest] of rows) {
    const key = JSON.stringify(rest);
    const earlier = merged.get(key);
    merged.set(key, earlier === undefined ? [from, ...rest] : [`${earlier[0]}<br>${from}`, ...rest]);
  }
  return [...merged.values()];
}

function consequences<S extends string, T extends string, F, G extends string>(row: Row<S, T, F, G>): string {
  const notes = Object.entries(row.sets ?? {}).map(([fact, value]) => code(`${fact} = ${String(value)}`));
  if (row.counts !== undefined) notes.push(code(`${String(row.counts)} + 1`));
  if (row.failure !== undefined) notes.push(`failure ${code(row.failure)}`);
  if (row.hold !== undefined) notes.push(`hold ${code(row.hold)}`);
  if (row.posts !== undefined) notes.push(`ledger ${code(row.posts)}`);
  if (row.follow !== undefined) notes.push(`then ${code(row.follow)}`);
  if (row.noop) notes.push('no-op');
  return notes.join('<br>');
}

function guards<S extends string, T extends string, F, G extends string>(
  machine: Machine<S, T, F, G>,
): string {
  const always = [
    ...Object.entries(machine.before.actor ?? {}).map(([actor, names]) => [`by ${actor}`, names] as const),
    ...Object.entries(machine.before.trigger ?? {}).map(
      ([trigger, names]) => [code(trigger), names] as const,
    ),
  ];
  const used = new Set<G>([
    ...machine.transitions.flatMap((row) => row.guard ?? []),
    ...always.flatMap(([, names]) => names as readonly G[]),
  ]);
  if (used.size === 0) return '';
  const rows = [...used].sort().map((name) => {
    const guard = machine.guards[name];
    const then = guard.onRefusal === undefined ? '' : `; then ${code(guard.onRefusal)}`;
    return [code(name), guard.says, `${code(guard.code)}${then}`];
  });
  const parts = ['### Guards', table(['Guard', 'Holds when', 'Refusal'], rows)];
  if (always.length > 0) {
    const list = always.map(([what, names]) => `- ${what}: ${codes(names as readonly G[])}`);
    parts.push(`Checked before the status is looked at:\n\n${list.join('\n')}`);
  }
  return parts.join('\n\n');
}

function actions(): string {
  const rows = PARTNER_ACTIONS.map((action) => {
    const { trigger, parameters } = ACTION_ENDPOINTS[action];
    const offered = [onrampMachine, offrampMachine].flatMap((machine) =>
      machine.transitions
        .filter((row) => row.action === action)
        .flatMap((row) =>
          sourcesOf<string, string, unknown, string>(row as Row<string, string, unknown, string>),
        ),
    );
    return [code(action), code(trigger), codes([...new Set(offered)]), codes(parameters ? [parameters] : [])];
  });
  return `## Partner actions\n\n${table(['Action', 'Trigger', 'Possible in', 'Parameters read'], rows)}`;
}

function sandboxEvents(): string {
  const rows = SANDBOX_ORDER_EVENTS.map((event) => {
    const rule = SANDBOX_EVENT_RULES[event];
    const within = rule.withinBound ? `, within the bound ${code(rule.withinBound)}` : '';
    return [
      code(event),
      `${code(rule.trigger)}${within}`,
      rule.by,
      rule.directions.join(', '),
      rule.movesCrypto ? 'yes' : '',
    ];
  });
  const head = ['Event', 'Trigger', 'By', 'Orders', 'Crypto must move first'];
  return `## Sandbox events\n\n${table(head, rows)}`;
}

function notMachines(): string {
  const lists = NOT_MACHINES.map(({ title, why, statuses }) =>
    [
      `### ${title}`,
      why,
      table(
        ['Status', 'Meaning'],
        Object.entries(statuses).map(([status, says]) => [code(status), says]),
      ),
    ].join('\n\n'),
  );
  const others = WITHOUT_STATUS.map(({ title, why }) => `- ${title}: ${why}`).join('\n');
  const intro = 'Rows whose status no table moves, and why; and what is no status.';
  return ['## Not machines', intro, ...lists, '### Without a status', others].join('\n\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}

function codes(texts: readonly string[] | undefined): string {
  return (texts ?? []).map(code).join('<br>');
}
