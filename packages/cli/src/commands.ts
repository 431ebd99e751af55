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
];
