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
];
