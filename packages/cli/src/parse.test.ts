import { describe, expect, it } from 'vitest';
import type { CommandSpec } from './command.ts';
import { COMMANDS } from './commands.ts';
import { commandOf, parseLeniently, parseStrictly } from './parse.ts';

const spec = {
  name: 'logs tail',
  summary: '',
  examples: [],
  options: {
    follow: { type: 'boolean', description: '' },
    limit: { type: 'string', description: '' },
    status: { type: 'string', multiple: true, description: '' },
  },
  load: () => expect.unreachable(),
} satisfies CommandSpec;

describe('switches', () => {
  it.each<[string[], Record<string, unknown>]>([
    [[], {}],
    [['--follow'], { follow: true }],
    [['--no-follow'], { follow: false }],
    [['--follow', '--no-follow'], { follow: false }],
    [['--no-follow', '--follow'], { follow: true }],
    [['-q', '--no-quiet', '--json'], { quiet: false, json: true }],
    [['--no-color'], { color: false }],
    [['--no-color', '--color'], { color: true }],
    [
      ['--limit', '5', '--no-json', '--status=a', '--status', 'b'],
      { limit: '5', json: false, status: ['a', 'b'] },
    ],
    [['--limit=--no-follow'], { limit: '--no-follow' }],
  ])('%j', (options, values) => {
    const argv = ['logs', 'tail', ...options];
    expect(parseStrictly(spec, argv)).toEqual({ values, positionals: ['logs', 'tail'] });
    expect(parseLeniently(argv, { ...spec.options, ...globals() }).values).toEqual(values);
  });

  it('behind -- nothing is a switch', () => {
    const { values, positionals } = parseStrictly(spec, ['--', '--no-follow']);
    expect([values, positionals]).toEqual([{}, ['--no-follow']]);
  });

  it.each([
    [['--no-limit'], 'Unknown option --no-limit.'],
    [['--no-folow'], 'Unknown option --no-folow.'],
    [['--no-follow=yes'], "'--no-follow' does not take an argument"],
    [['--follow=yes'], 'does not take an argument'],
  ])('%j is refused', (argv, message) => {
    expect(() => parseStrictly(spec, argv)).toThrow(message);
  });

  it('are no part of a command’s name, wherever they stand', () => {
    for (const argv of [
      ['--no-json', 'logs', 'tail'],
      ['logs', '--no-follow', 'tail'],
    ]) {
      expect(commandOf(COMMANDS, argv)?.name, argv.join(' ')).toBe('logs tail');
    }
  });

  /** As every command takes them. */
  function globals() {
    return {
      json: { type: 'boolean', description: '' },
      quiet: { type: 'boolean', short: 'q', description: '' },
      color: { type: 'boolean', description: '' },
    } as const;
  }
});
