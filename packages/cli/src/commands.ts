import type { CommandSpec, OptionSpec } from './command.ts';
import { KEY_CLASSES } from './profile.ts';
import { DELIVERY_STATUSES, EVENT_TYPES, ORDER_STATUSES, ORDER_TYPES } from './words.ts';

const ORDER = { name: 'ORDER', description: 'Id of the order.' };
const DELIVERY = { name: 'DELIVERY', description: 'Id of the delivery.' };
const AS: OptionSpec = {
  type: 'string',
  value: 'CLASS',
  choices: KEY_CLASSES,
  description: 'Whose key it is.',
};
const LIMIT: OptionSpec = { type: 'string', value: 'COUNT', description: 'How many a page has.' };
const ALL: OptionSpec = { type: 'boolean', description: 'Every page; with --json one a line.' };
const ENDPOINT: OptionSpec = { type: 'string', value: 'ID', description: 'A further webhook endpoint.' };

/** An option with a value of any text. */
const option = (value: string, description: string): OptionSpec => ({ type: 'string', value, description });

/** Every command. Its code is loaded when it is called. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'login',
    summary: 'Save the address of a deployment and a key for it.',
    description:
      'The key is checked against the service before it is saved, in a file that only you can read. It is asked for at a terminal and not shown; scripts pipe it in with --key-stdin, or set CAUSEWAY_API_KEY (CAUSEWAY_VENDOR_KEY, CAUSEWAY_OPERATOR_KEY with --as). It is no option, because others on the machine see the options of a program. Several keys of one address share a profile: one each of a partner, a vendor and an operator.',
    options: {
      'base-url': option('URL', 'Address of the deployment; asked for without it.'),
      as: AS,
      name: option('NAME', 'Name of the profile; default without it.'),
      'key-stdin': { type: 'boolean', description: 'Read the key from standard input.' },
      sandbox: { type: 'boolean', description: 'Save the sandbox of this folder, with all of its keys.' },
    },
    examples: [
      'causeway login',
      'causeway login --base-url https://api.example.com --name live',
      'causeway login --base-url https://api.example.com --key-stdin < key.txt',
      'causeway login --sandbox',
    ],
    load: () => import('./commands/login.ts').then(({ login }) => ({ run: login })),
  },
  {
    name: 'logout',
    summary: 'Forget a profile, or one key of it.',
    arguments: [{ name: 'PROFILE', description: 'Its name; the current one without it.', optional: true }],
    options: { as: AS, all: { type: 'boolean', description: 'Forget every profile.' } },
    examples: ['causeway logout', 'causeway logout live --as operator', 'causeway logout --all'],
    load: () => import('./commands/profiles.ts').then(({ logout }) => ({ run: logout })),
  },
  {
    name: 'profiles',
    summary: 'List the saved deployments, and which one is used.',
    description:
      'The first that there is counts: --profile, CAUSEWAY_BASE_URL with CAUSEWAY_API_KEY, the current profile, the sandbox of this folder.',
    examples: ['causeway profiles', 'causeway profiles --json'],
    load: () => import('./commands/profiles.ts').then(({ list }) => ({ run: list })),
  },
  {
    name: 'profiles use',
    summary: 'Make a profile the current one.',
    arguments: [{ name: 'PROFILE', description: 'Its name.' }],
    examples: ['causeway profiles use live'],
    load: () => import('./commands/profiles.ts').then(({ use }) => ({ run: use })),
  },
  {
    name: 'orders list',
    summary: 'List orders, newest first.',
    options: {
      status: {
        type: 'string',
        value: 'STATUS',
        multiple: true,
        choices: ORDER_STATUSES,
        description: 'In this status.',
      },
      type: { type: 'string', value: 'TYPE', choices: ORDER_TYPES, description: 'Of this type.' },
      user: option('UUID', 'Of this customer.'),
      reference: option('TEXT', 'With this reference of yours.'),
      from: option('TIME', 'Created then or later, ISO 8601 with a time zone.'),
      to: option('TIME', 'Created before.'),
      limit: LIMIT,
      page: option('NUMBER', 'Which page; the first without it.'),
      all: ALL,
    },
    examples: [
      'causeway orders list',
      'causeway orders list --status completed --from 2026-11-01T00:00:00Z --limit 50',
      'causeway orders list --all --json',
    ],
    load: () => import('./commands/orders.ts').then(({ list }) => ({ run: list })),
  },
  {
    name: 'orders show',
    summary: 'Show an order: amounts, status, what to do next, and where its money is.',
    arguments: [ORDER],
    examples: ['causeway orders show $ORDER', 'causeway orders show $ORDER --json'],
    load: () => import('./commands/orders.ts').then(({ show }) => ({ run: show })),
  },
  {
    name: 'orders watch',
    summary: 'Follow an order until it has ended, a line for each event.',
    description:
      'Begins and ends with the order as it is. With --json each line is { "order" } or { "cursor", "event" }.',
    arguments: [ORDER],
    examples: ['causeway orders watch $ORDER', 'causeway orders watch $ORDER --json'],
    load: () => import('./commands/orders.ts').then(({ watch }) => ({ run: watch })),
  },
  {
    name: 'funds',
    summary: 'Show where the money of an order is and who can move it.',
    arguments: [ORDER],
    examples: ['causeway funds $ORDER'],
    load: () => import('./commands/orders.ts').then(({ funds }) => ({ run: funds })),
  },
  {
    name: 'quote',
    summary: 'Price a conversion: an estimate, or with --user a quote that binds.',
    arguments: [
      { name: 'DIRECTION', description: 'From fiat to crypto, or back.', choices: ['onramp', 'offramp'] },
    ],
    options: {
      crypto: option('CODE', 'Such as USDC.'),
      fiat: option('CODE', 'Such as EUR.'),
      'fiat-amount': option('AMOUNT', 'How much fiat; or give --crypto-amount.'),
      'crypto-amount': option('AMOUNT', 'How much crypto.'),
      user: option('UUID', 'The customer.'),
      'payment-details': option('ID', 'Off-ramp: the customer’s own account.'),
      sender: option('UUID', 'Off-ramp to a third party: the customer who sends.'),
      recipient: option('UUID', 'Off-ramp to a third party: the recipient.'),
      destination: option('UUID', 'Off-ramp to a third party: the recipient’s destination.'),
      relationship: option('WORD', 'Off-ramp to a third party: of sender and recipient.'),
      purpose: option('WORD', 'Off-ramp to a third party: of the payment.'),
      method: option('SLUG', 'Payment method.'),
      network: option('SLUG', 'Payment network.'),
      country: option('CODE', 'Country, such as DE.'),
      scope: {
        type: 'string',
        value: 'SCOPE',
        choices: ['all', 'p2p', 'direct'],
        description: 'Which providers.',
      },
      'fee-pct': option('PERCENT', 'Your own fee.'),
    },
    examples: [
      'causeway quote onramp --crypto USDC --fiat EUR --fiat-amount 100.00',
      'causeway quote onramp --crypto USDC --fiat EUR --fiat-amount 100.00 --user $CUSTOMER --fee-pct 1',
      'causeway quote offramp --crypto USDC --fiat EUR --crypto-amount 50 --user $CUSTOMER --payment-details 42',
    ],
    load: () => import('./commands/quote.ts').then(({ quote }) => ({ run: quote })),
  },
  {
    name: 'clock',
    summary: 'Read the business clock of a sandbox.',
    examples: ['causeway clock'],
    load: () => import('./commands/sandbox.ts').then(({ clock }) => ({ run: clock })),
  },
  {
    name: 'clock advance',
    summary: 'Advance the business clock of a sandbox.',
    arguments: [{ name: 'DURATION', description: 'Such as 30s, 10m, 1h30m or 2d.' }],
    examples: ['causeway clock advance 10m'],
    load: () => import('./commands/sandbox.ts').then(({ advance }) => ({ run: advance })),
  },
  {
    name: 'clock reset',
    summary: 'Put the business clock of a sandbox back to the machine’s.',
    examples: ['causeway clock reset'],
    load: () => import('./commands/sandbox.ts').then(({ reset }) => ({ run: reset })),
  },
  {
    name: 'faucet',
    summary: 'Get tokens or gas for a wallet of a sandbox.',
    options: {
      chain: option('SLUG', 'Such as base-mainnet.'),
      token: option('SYMBOL', 'Such as USDC; native for gas.'),
      address: option('ADDRESS', 'The wallet.'),
      amount: option('AMOUNT', 'How much.'),
    },
    examples: ['causeway faucet --chain base-mainnet --token USDC --address $WALLET --amount 250.00'],
    load: () => import('./commands/sandbox.ts').then(({ faucet }) => ({ run: faucet })),
  },
  {
    name: 'webhooks deliveries',
    summary: 'List webhook deliveries, newest first.',
    options: {
      endpoint: ENDPOINT,
      'event-type': { type: 'string', value: 'TYPE', choices: EVENT_TYPES, description: 'Of this type.' },
      event: option('ID', 'Of this event.'),
      order: option('ID', 'About this order.'),
      status: { type: 'string', value: 'STATUS', choices: DELIVERY_STATUSES, description: 'In this status.' },
      limit: LIMIT,
      cursor: option('ID', 'Behind this delivery.'),
      all: ALL,
    },
    examples: [
      'causeway webhooks deliveries --status failed',
      'causeway webhooks deliveries --order $ORDER --json',
    ],
    load: () => import('./commands/webhooks.ts').then(({ deliveries }) => ({ run: deliveries })),
  },
  {
    name: 'webhooks show',
    summary: 'Show a delivery with what was sent and answered in each attempt.',
    arguments: [DELIVERY],
    options: { endpoint: ENDPOINT },
    examples: ['causeway webhooks show $DELIVERY'],
    load: () => import('./commands/webhooks.ts').then(({ show }) => ({ run: show })),
  },
  {
    name: 'webhooks replay',
    summary: 'Send the event of a delivery again.',
    arguments: [DELIVERY],
    options: { endpoint: ENDPOINT },
    examples: ['causeway webhooks replay $DELIVERY'],
    load: () => import('./commands/webhooks.ts').then(({ replay }) => ({ run: replay })),
  },
  {
    name: 'open',
    summary: 'Print the address of a page of the deployment, and show it in the browser.',
    description:
      'The browser is only started from a terminal. BROWSER names another program than the system’s.',
    arguments: [{ name: 'PAGE', description: 'Which one.', choices: ['console', 'docs'] }],
    options: { print: { type: 'boolean', description: 'Print the address only.' } },
    examples: ['causeway open docs', 'causeway open console --print'],
    load: () => import('./commands/open.ts').then(({ open }) => ({ run: open })),
  },
  {
    name: 'doctor',
    summary: 'Check the set-up: configuration, service, keys, clock, chains, rates, webhooks.',
    description: 'Ends with 7 where a check failed. Sends a test event to each webhook endpoint that is on.',
    options: {
      'skip-webhook-test': { type: 'boolean', description: 'Send no test event; go by what is known.' },
    },
    examples: ['causeway doctor', 'causeway doctor --json'],
    load: () => import('./commands/doctor.ts').then(({ doctor }) => ({ run: doctor })),
  },
  {
    name: 'completion',
    summary: 'Print the completion script of a shell.',
    arguments: [{ name: 'SHELL', description: 'Which one.', choices: ['bash', 'zsh', 'fish'] }],
    examples: ['eval "$(causeway completion bash)"', 'causeway completion fish | source'],
    load: () => import('./completion.ts').then((made) => ({ run: made.completionCommand(COMMANDS) })),
  },
  {
    name: 'version',
    summary: 'Print the version of this program.',
    examples: ['causeway version'],
    load: () => import('./version.ts').then(({ version }) => ({ run: version })),
  },
  {
    name: 'help',
    summary: 'Say what a command does and takes.',
    arguments: [{ name: 'COMMAND', description: 'Its words.', optional: true, multiple: true }],
    examples: ['causeway help', 'causeway help orders list', 'causeway help --json'],
    load: () => import('./help.ts').then((made) => ({ run: made.helpCommand(COMMANDS) })),
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
    endsItself: true,
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
    endsItself: true,
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
    endsItself: true,
    load: () => import('./trigger/trigger.ts'),
  },
];
