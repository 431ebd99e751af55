// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what looks like a template is text of a shell.
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { installed } from '../../../test/harness/installed.ts';
import { runCli } from './cli.ts';
import { COMMANDS } from './commands.ts';
import { EVENT_TYPES, ORDER_STATUSES } from './words.ts';

async function scriptOf(shell: string): Promise<string> {
  let out = '';
  const stdout = { write: (text: string) => (out += text) };
  const around = { stdout, stderr: stdout, env: {}, folder: '/', signal: new AbortController().signal };
  expect(await runCli(['completion', shell], around)).toBe(0);
  return out;
}

const FIRST = [...new Set(COMMANDS.map(({ name }) => name.split(' ')[0] ?? ''))];

/** What is typed, the last word being completed, and what is offered. */
const CASES: readonly [readonly string[], readonly string[]][] = [
  [[''], FIRST],
  [['prof'], ['profiles']],
  [
    ['orders', ''],
    ['list', 'show', 'watch'],
  ],
  [['--profile', 'orders', ''], FIRST],
  [['--json', 'orders', 'sh'], ['show']],
  [['orders', 'list', '--status', ''], ORDER_STATUSES],
  [['orders', 'list', '--status', 'comp'], ['completed']],
  [['orders', 'list', '--re'], ['--reference']],
  [['webhooks', 'deliveries', '--event-type', ''], EVENT_TYPES],
  [['quote', 'on'], ['onramp']],
  [['quote', 'onramp', '--sc'], ['--scope']],
  [
    ['clock', ''],
    ['advance', 'reset'],
  ],
  [
    ['open', ''],
    ['console', 'docs'],
  ],
  [['completion', 'z'], ['zsh']],
  [['no-such-command', ''], []],
];

describe('completion', () => {
  it('offers commands, options and their values in bash', async () => {
    const script = await scriptOf('bash');
    const asked = CASES.map(([words]) => {
      const typed = ['causeway', ...words].map((word) => `'${word}'`).join(' ');
      return `COMP_WORDS=(${typed}); COMP_CWORD=${words.length}; COMPREPLY=(); _causeway; echo "\${COMPREPLY[*]}"`;
    });
    const out = execFileSync('bash', ['--norc', '-c', `set -u\n${script}\n${asked.join('\n')}`], {
      encoding: 'utf8',
    });
    const offered = out
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' ').filter(Boolean));
    expect(offered).toEqual(CASES.map(([, words]) => words));
  });

  it.skipIf(installed('zsh').length === 0)('offers the same in zsh', async () => {
    const script = await scriptOf('zsh');
    // What zsh's own functions are handed; they choose by what is typed.
    const stubs = [
      '_describe() { local -a given; given=("${(@P)@[-1]}"); print -r -- "${given[@]%%:*}"; }',
      'compadd() { shift; print -r -- "$@"; }',
      '_files() { print; }',
    ];
    const asked = CASES.map(([words]) => {
      const typed = ['causeway', ...words].map((word) => `'${word}'`).join(' ');
      return `words=(${typed}); CURRENT=${words.length + 1}; _causeway`;
    });
    const code = [...stubs, script, ...asked].join('\n');
    const out = execFileSync('zsh', ['-f', '-c', code], { encoding: 'utf8' });
    const offered = out
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' ').filter(Boolean));
    const fitting = CASES.map(([words], at) =>
      (offered[at] ?? []).filter((word) => word.startsWith(words.at(-1) ?? '')),
    );
    expect(fitting).toEqual(CASES.map(([, words]) => words));
  });

  it('names every command and option in fish', async () => {
    const script = await scriptOf('fish');
    for (const { name, options = {} } of COMMANDS) {
      const words = name.split(' ');
      const at = `'__causeway_at${words
        .slice(0, -1)
        .map((word) => ` ${word}`)
        .join('')}'`;
      expect(script).toContain(`complete -c causeway -f -n ${at} -a '${words.at(-1)}'`);
      for (const option of Object.keys(options))
        expect(script).toContain(`-n '__causeway_at ${name}' -l ${option}`);
    }
  });
});
