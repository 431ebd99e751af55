import type { CommandSpec, OptionSpec } from './command.ts';

/** Options that every command takes. */
export const GLOBAL_OPTIONS = {
  json: { type: 'boolean', description: 'Print JSON: one document, or one a line where it streams.' },
  profile: { type: 'string', value: 'NAME', description: 'Use another profile than the current one.' },
  quiet: { type: 'boolean', short: 'q', description: 'No progress and no remarks.' },
  color: { type: 'boolean', description: 'Colours; --no-color for none. By default on a terminal only.' },
  help: { type: 'boolean', short: 'h', description: 'What a command does and takes.' },
  version: { type: 'boolean', description: 'The version of this program.' },
} as const satisfies Record<string, OptionSpec>;

/** Every command. Its code is loaded when it is called. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'orders show',
    summary: 'Show an order.',
    arguments: [{ name: 'ORDER', description: 'Id of the order.' }],
    examples: ['causeway orders show 2e1b…', 'causeway orders show 2e1b… --json'],
    load: () => import('./commands/orders.ts').then(({ show }) => ({ run: show })),
  },
  {
    name: 'listen',
    summary: 'Follow your events, and forward them as webhooks to your own machine.',
    description: [
      'Events come from the event stream, so that no public address is needed. Each is forwarded as the service delivers it: same body,',
      'same headers, signed with a secret of this profile. Where it stopped is saved once everything up to there was accepted or',
      'given up: the next start goes on there. What cannot be sent because nothing listens at the address waits until something does.',
    ].join('\n'),
    options: {
      'forward-to': {
        type: 'string',
        value: 'URL',
        description: 'Where to send them. Without it they are printed.',
      },
      events: { type: 'string', value: 'TYPE', multiple: true, description: 'Events of this type only.' },
      header: {
        type: 'string',
        short: 'H',
        value: 'HEADER',
        multiple: true,
        description: 'A further header of each request, as Name: value.',
      },
      retries: {
        type: 'string',
        value: 'N',
        description: 'How often an event that was not answered with 2xx is sent again; 5, and 0 means never.',
      },
      from: {
        type: 'string',
        value: 'CURSOR',
        description: 'Begin behind this cursor, or at start or now. By default where it stopped, else now.',
      },
      ca: { type: 'string', value: 'FILE', description: 'Trust the certificates in this PEM file as well.' },
      'print-secret': { type: 'boolean', description: 'Print the signing secret, and end.' },
      'env-file': {
        type: 'string',
        value: 'FILE',
        description: 'Set CAUSEWAY_WEBHOOK_SECRET in this file of variables.',
      },
    },
    examples: [
      'causeway listen',
      'causeway listen --forward-to http://localhost:3000/webhooks/causeway --env-file .env',
      "causeway listen --forward-to localhost:3000/hook --events order.status.changed -H 'X-Tenant: 42'",
    ],
    load: () => import('./listen/listen.ts'),
  },
  {
    name: 'trigger',
    summary: 'Make an event happen in a sandbox: a real order, customer or account is driven to it.',
    description:
      'The event is then seen by your webhooks, by causeway listen, and in the event stream. In a sandbox only.',
    arguments: [{ name: 'EVENT', description: 'Type of the event; --list shows them.', optional: true }],
    options: {
      list: { type: 'boolean', description: 'List the events that there are.' },
      status: {
        type: 'string',
        value: 'STATUS',
        description: 'Which status the event tells of; --list shows which there are.',
      },
      direction: {
        type: 'string',
        value: 'DIRECTION',
        choices: ['onramp', 'offramp'],
        description: 'Of which kind the order is, where both get there.',
      },
      order: {
        type: 'string',
        value: 'ORDER',
        description: 'Continue with this order in place of a new one.',
      },
      'dry-run': { type: 'boolean', description: 'Show the steps, and do nothing.' },
      timeout: { type: 'string', value: 'SECONDS', description: 'How long to wait for each step; 60.' },
      'sandbox-file': {
        type: 'string',
        value: 'FILE',
        description: 'sandbox.json with the wallet and keys; by default that of this folder.',
      },
    },
    examples: [
      'causeway trigger --list',
      'causeway trigger user.kyc.updated --status REJECTED',
      'causeway trigger order.status.changed --status dispute_started --dry-run',
      'causeway trigger order.refund.required',
    ],
    load: () => import('./trigger/trigger.ts'),
  },
];
