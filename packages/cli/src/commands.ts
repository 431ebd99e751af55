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
    name: 'mcp',
    summary: 'Serve the Model Context Protocol on stdio.',
    description:
      'For assistants: tools that read, on every deployment, and in a sandbox tools that act. Uses the partner key only, signs nothing, leaves personal data out. Started by the client: docs/guides/mcp.md',
    options: { 'read-only': { type: 'boolean', description: 'No tools that act, in a sandbox neither.' } },
    examples: ['causeway mcp', 'causeway mcp --profile live --read-only'],
    load: () => import('./mcp/mcp.ts'),
  },
  {
    name: 'logs tail',
    summary: 'Follow the API requests that the deployment has logged.',
    description:
      'Shows the latest requests, then those that follow, on live deployments as on sandboxes. No bodies and nothing personal: free text of a query stands as “…”. Without connection it tries again and goes on where it was.',
    options: {
      status: { type: 'string', value: 'STATUS', description: 'A status, or a class of them: 409, 4xx.' },
      code: { type: 'string', value: 'CODE', description: 'Code of the error, such as QUOTE_EXPIRED.' },
      method: { type: 'string', value: 'METHOD', description: 'Method of the request.' },
      order: { type: 'string', value: 'ORDER', description: 'Requests about this order.' },
      'request-id': { type: 'string', value: 'ID', description: 'The request with this X-Request-Id.' },
      since: { type: 'string', value: 'TIME', description: 'Begin there: 30s, 10m, 2h, 1d, or a time.' },
      limit: {
        type: 'string',
        value: 'N',
        description: 'Requests of the past that are shown; 20, or all with --since.',
      },
      follow: { type: 'boolean', description: 'Go on with what follows, the default; --no-follow ends.' },
      as: {
        type: 'string',
        value: 'CLASS',
        choices: ['partner', 'vendor', 'operator'],
        description: 'Whose key is used; an operator sees all requests.',
      },
      partner: { type: 'string', value: 'ID', description: 'With --as operator: requests of this partner.' },
      vendor: { type: 'string', value: 'ID', description: 'With --as operator: requests of this vendor.' },
    },
    examples: [
      'causeway logs tail',
      'causeway logs tail --status 4xx --since 10m',
      'causeway logs tail --order 2e1b… --no-follow --json',
    ],
    load: () => import('./commands/logs.ts').then(({ tail }) => ({ run: tail })),
  },
  {
    name: 'conformance',
    summary: 'Check a webhook receiver, and the habits of your API code.',
    description:
      'Drives your receiver with good and hostile deliveries, and, given a driver, your own code against a sandbox. The secret comes from CAUSEWAY_WEBHOOK_SECRET, --env-file or --secret-stdin. Exit code 7: a MUST is missed.',
    options: {
      webhook: { type: 'string', value: 'URL', description: 'Your receiver.' },
      driver: {
        type: 'string',
        value: 'FILE',
        description: 'An ES module that calls your code; needs a sandbox.',
      },
      state: { type: 'string', value: 'URL', description: 'Says what your receiver has handled.' },
      'secret-stdin': { type: 'boolean', description: 'Read the webhook secret from standard input.' },
      'env-file': { type: 'string', value: 'FILE', description: 'Read the webhook secret from this file.' },
      only: { type: 'string', value: 'ID', multiple: true, description: 'One check, or all below a name.' },
      list: { type: 'boolean', description: 'List the checks.' },
      junit: { type: 'string', value: 'FILE', description: 'Write a JUnit report.' },
      trace: { type: 'string', value: 'FILE', description: 'Write requests and answers, without secrets.' },
      'expected-failures': {
        type: 'string',
        value: 'FILE',
        description: 'Known misses, each with a last day.',
      },
      'api-version': {
        type: 'string',
        value: 'VERSION',
        choices: ['2026-11-01'],
        description: 'The list to check by.',
      },
    },
    examples: [
      'causeway conformance --webhook http://127.0.0.1:3000/webhooks/causeway',
      'causeway conformance --webhook http://127.0.0.1:3000/hook --driver ./driver.mjs --junit conformance.xml',
      'causeway conformance --list',
    ],
    load: () => import('./conformance/index.ts'),
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
