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
