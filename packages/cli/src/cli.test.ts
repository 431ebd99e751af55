import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import {
  DELIVERY_STATUSES as KNOWN_DELIVERY_STATUSES,
  HOLD_REASONS as KNOWN_HOLD_REASONS,
  NEXT_ACTIONS as KNOWN_NEXT_ACTIONS,
  ORDER_STATUSES as KNOWN_ORDER_STATUSES,
  PARTNER_EVENT_TYPES,
} from '@causeway/protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runCli } from './cli.ts';
import { COMMANDS } from './commands.ts';
import { nearMatches } from './near-matches.ts';
import { createOutput, fields, table } from './output.ts';
import { commandOf } from './parse.ts';
import { durationOf, secondsOf } from './values.ts';
import { VERSION } from './version.ts';
import { DELIVERY_STATUSES, EVENT_TYPES, HOLD_REASONS, NEXT_ACTIONS, ORDER_STATUSES } from './words.ts';

const ROOT = new URL('..', import.meta.url);
const NOWHERE = { CAUSEWAY_CONFIG_DIR: '/nonexistent', CAUSEWAY_HOME: '/nonexistent' };

function streams(isTTY = false) {
  const written = { out: '', err: '' };
  return {
    written,
    stdout: { write: (text: string) => (written.out += text), isTTY },
    stderr: { write: (text: string) => (written.err += text), isTTY },
  };
}

async function run(argv: readonly string[], { env = {}, isTTY = false } = {}) {
  const { written, stdout, stderr } = streams(isTTY);
  const around = { env: { ...NOWHERE, ...env }, folder: '/', signal: new AbortController().signal };
  const code = await runCli(argv, { ...around, stdout, stderr });
  return { code, ...written };
}

describe('a command line', () => {
  it.each([
    [['orders', 'list', '--limit', '2'], 'orders list'],
    [['--profile', 'orders', 'clock'], 'clock'],
    [['--limit', '2', 'orders', 'list'], 'orders list'],
    [['--status', 'failed', 'webhooks', 'deliveries'], 'webhooks deliveries'],
    [['orders', '--json', 'show', 'x'], 'orders show'],
    [['clock', 'advance', '10m'], 'clock advance'],
    [['clock', '--json'], 'clock'],
    [['help', 'clock', 'advance'], 'help'],
    [['open', 'docs'], 'open'],
    [['list', 'orders'], undefined],
    [['orders'], undefined],
    [[], undefined],
  ])('%j is %s', (argv, name) => {
    expect(commandOf(COMMANDS, argv)?.name).toBe(name);
  });

  it.each([
    [['clok'], 'Did you mean causeway clock?'],
    [['orders', 'sow', 'x'], 'Did you mean causeway orders show?'],
    [['nothing-like-it'], 'causeway help lists them.'],
    [['orders', 'show'], 'needs ORDER'],
    [['orders', 'show', 'a', 'b'], 'takes no “b”'],
    [['orders', 'list', '--limit'], 'argument missing'],
    [['orders', 'list', '--limit', 'ten'], '--limit is a whole number'],
    [['orders', 'list', '--limit', '0'], '--limit is a whole number from 1.'],
    [['orders', 'list', '--from', '2026-11-01'], '--from is a time with its time zone, such as'],
    [['orders', 'list', '--to', '2026-11-31T24:61:00Z'], '--to is a time with its time zone'],
    [['orders', 'list', '--jsn'], 'Unknown option --jsn. Did you mean --json?\n'],
    [['orders', 'list', '--status', 'lost'], '--status is one of: created'],
    [['orders', 'list', '--api-key', 'cw_live_1'], 'Unknown option'],
    [['completion', 'tcsh'], 'SHELL is one of: bash, zsh, fish'],
    [['--unknown'], 'There is no option --unknown'],
    [['clock', 'advance', 'soon'], 'no length of time'],
    [['help', 'nothing'], 'There is no command “nothing”'],
    [['quote', 'onramp', '--crypto', 'USDC', '--fiat', 'EUR'], 'needs one of --fiat-amount'],
    [['quote', 'onramp', '--fiat', ''], '--fiat is empty'],
    [['faucet', '--chain', 'base-mainnet'], 'needs --token'],
    [['login', '--base-url', 'https://api.example.com'], 'needs --key-stdin'],
    [['login', '--base-url', 'ftp://api.example.com'], 'is no address of a deployment'],
    [['login', '--base-url', 'https://api.example.com/api/v1'], 'no path'],
    [['login', '--base-url', 'https://api.example.com', '--name', '../x'], 'A profile’s name'],
  ])('%j is refused', async (argv, message) => {
    const { code, out, err } = await run(argv, { env: { CAUSEWAY_BASE_URL: '', CAUSEWAY_API_KEY: '' } });
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(message);
    const asJson = await run([...argv, '--json']);
    expect(JSON.parse(asJson.err)).toMatchObject({ error: { code: 'USAGE', exit_code: 2 } });
  });

  it('tells a group, its version and its help in words and in JSON, loading no code of a command', async () => {
    const group = await run(['webhooks']);
    expect(group.code).toBe(2);
    expect(group.out).toContain('webhooks replay DELIVERY');
    expect(group.out).not.toContain('orders');
    expect((await run(['webhooks', '--help'])).code).toBe(0);
    for (const argv of [['--version'], ['version']])
      expect(await run(argv)).toEqual({ code: 0, out: `${VERSION}\n`, err: '' });
    expect(JSON.parse((await run(['version', '--json'])).out)).toEqual({ version: VERSION });
    const { version } = JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8'));
    expect(version).toBe(VERSION);
    const all = JSON.parse((await run(['help', '--json'])).out);
    expect(all.commands.map(({ command }: { command: string }) => command)).toEqual(
      COMMANDS.map(({ name }) => name),
    );
    const one = JSON.parse((await run(['help', 'orders', 'list', '--json'])).out);
    expect(one).toEqual(JSON.parse((await run(['orders', 'list', '--help', '--json'])).out));
    expect(one.options).toContainEqual(
      expect.objectContaining({ name: '--status', choices: ORDER_STATUSES }),
    );
  });

  it.each(COMMANDS.map(({ name }) => [name]))(
    'help of %s shows all of it, with examples that are right',
    async (name) => {
      const spec = COMMANDS.find((one) => one.name === name)!;
      const { code, out } = await run(['help', ...name.split(' ')]);
      expect(code).toBe(0);
      for (const text of [spec.summary, ...spec.examples, ...Object.keys(spec.options ?? {})])
        expect(out).toContain(text);
      expect(spec.examples.length).toBeGreaterThan(0);
      for (const example of spec.examples) {
        const [, words = ''] = /causeway ([^|<)]*)/.exec(example) ?? [];
        expect(commandOf(COMMANDS, words.trim().split(/\s+/))?.name, example).toBe(name);
      }
    },
  );

  it('ends with 3 where no deployment is known, and says which variable is missing', async () => {
    const { code, err } = await run(['orders', 'list'], { env: { CAUSEWAY_API_KEY: 'cw_test_1' } });
    expect(code).toBe(3);
    expect(err).toContain('No deployment is known');
    expect(err).toContain('CAUSEWAY_BASE_URL');
  });

  it('ends with 6 where nothing answers and 5 before a key would leave over plain http', async () => {
    const env = { CAUSEWAY_BASE_URL: 'http://127.0.0.1:9', CAUSEWAY_API_KEY: 'cw_test_1' };
    expect((await run(['open', 'docs'], { env })).code).toBe(6);
    const away = await run(['orders', 'list', '--json'], {
      env: { ...env, CAUSEWAY_BASE_URL: 'http://10.0.0.1' },
    });
    expect(away.code).toBe(5);
    expect(JSON.parse(away.err).error.message).toContain('A key is not sent to http://10.0.0.1');
  });
});

describe('what answers in place of the service', () => {
  it.each([200, 302, 401, 404, 502])('ends with 6, whatever its status is: %s', async (status) => {
    const page = createServer((_request, response) => {
      response.writeHead(status, { 'content-type': 'text/html' });
      response.end('<html>Welcome. Accept the terms of this network.</html>');
    });
    page.listen(0, '127.0.0.1');
    await once(page, 'listening');
    const { port } = page.address() as AddressInfo;
    const env = { CAUSEWAY_BASE_URL: `http://127.0.0.1:${port}`, CAUSEWAY_API_KEY: 'cw_test_1' };
    const { code, err } = await run(['orders', 'list', '--json'], { env });
    page.close();
    expect([code, JSON.parse(err).error]).toEqual([
      6,
      expect.objectContaining({
        code: 'INVALID_ANSWER',
        exit_code: 6,
        hint: 'causeway doctor says what is wrong.',
      }),
    ]);
  });
});

describe('a command that is stopped', () => {
  afterEach(() => {
    vi.unstubAllGlobals();
  });

  /** At a terminal where nothing is typed. */
  function atTerminal(argv: readonly string[], env: Readonly<Record<string, string>>) {
    const { written, stdout, stderr } = streams(true);
    const modes: boolean[] = [];
    const stdin = Object.assign(new PassThrough(), {
      isTTY: true,
      setRawMode: (on: boolean) => void modes.push(on),
    });
    const stop = new AbortController();
    const around = { env: { ...NOWHERE, ...env }, folder: '/', signal: stop.signal };
    const ended = runCli(argv, { ...around, stdout, stderr, stdin });
    return { written, modes, stop, ended };
  }

  it('at a question ends with 130', async () => {
    const { written, stop, ended } = atTerminal(['login'], {});
    await vi.waitFor(() => expect(written.err).toContain('Address of the deployment: '));
    stop.abort();
    expect(await ended).toBe(130);
  });

  it('at a hidden question ends with 130, and the terminal shows again what is typed', async () => {
    const { modes, stop, ended } = atTerminal(['login'], { CAUSEWAY_BASE_URL: 'https://api.example.com' });
    await vi.waitFor(() => expect(modes).toEqual([true]));
    stop.abort();
    expect(await ended).toBe(130);
    expect(modes).toEqual([true, false]);
  });

  it('while it waits for what does not hear of it ends with 130 all the same', async () => {
    const asked = Promise.withResolvers<void>();
    vi.stubGlobal('fetch', () => {
      asked.resolve();
      return new Promise(() => {});
    });
    const { stop, ended } = atTerminal(['clock'], {
      CAUSEWAY_BASE_URL: 'https://api.example.com',
      CAUSEWAY_API_KEY: 'cw_test_1',
    });
    await asked.promise;
    stop.abort();
    expect(await ended).toBe(130);
  });
});

describe('what is printed', () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are made of them.
  const OWN_COLOURS = /\x1b\[\d+m/g;
  const HOSTILE = 'Ada\u001b[2J\u009b31m\u202eecalevoL\r\u0007\n\u001b[8mhidden';

  it.each([true, false])('of third parties drives no terminal (colours: %s)', (color) => {
    const { written, stdout, stderr } = streams();
    const output = createOutput({ stdout, stderr, env: {} }, { json: false, quiet: false, color });
    output.result(
      {},
      (paint) =>
        `${fields([['name', paint('red', HOSTILE)]], paint)}\n${table(['A', 'B'], [[HOSTILE, 'b']], paint)}`,
    );
    output.note(HOSTILE);
    output.error(HOSTILE, { hint: HOSTILE, details: { HOSTILE } });
    const all = written.out + written.err;
    expect(all.replaceAll(OWN_COLOURS, '')).not.toMatch(OBEYED);
    expect(all).not.toContain('\u001b[8m');
    expect(all).toContain('Ada\\u001b[2J\\u009b31m\\u202eecalevoL\\u000d\\u0007\\n\\u001b[8mhidden');
    expect(written.out.includes('\u001b[31m')).toBe(color);
    // A name with a line end makes no line of its own.
    expect(written.out.trimEnd().split('\n')).toHaveLength(3);
  });

  it('as JSON is the same data without a character that a terminal obeys', () => {
    const { written, stdout, stderr } = streams(true);
    createOutput({ stdout, stderr, env: {} }, { json: true, quiet: false }).result(
      { name: HOSTILE },
      () => '',
    );
    expect(written.out).not.toMatch(OBEYED);
    expect(JSON.parse(written.out)).toEqual({ name: HOSTILE });
  });

  it('has colour on a terminal only, unless asked for, and never with NO_COLOR', async () => {
    const isColoured = async (argv: string[], isTTY: boolean, env = {}) =>
      (await run(argv, { isTTY, env })).out.includes('\u001b[');
    expect(await isColoured(['help'], true)).toBe(true);
    expect(await isColoured(['help'], false)).toBe(false);
    expect(await isColoured(['help', '--color'], false)).toBe(true);
    expect(await isColoured(['help', '--no-color'], true)).toBe(false);
    expect(await isColoured(['help'], true, { NO_COLOR: '1' })).toBe(false);
    expect(await isColoured(['help'], true, { TERM: 'dumb' })).toBe(false);
  });
});

describe('words', () => {
  it('are those of the protocol', () => {
    expect(ORDER_STATUSES.toSorted()).toEqual([...KNOWN_ORDER_STATUSES].toSorted());
    expect(EVENT_TYPES).toEqual(PARTNER_EVENT_TYPES);
    expect(DELIVERY_STATUSES).toEqual(KNOWN_DELIVERY_STATUSES);
    expect(Object.keys(NEXT_ACTIONS)).toEqual([...KNOWN_NEXT_ACTIONS]);
    expect(HOLD_REASONS).toEqual(
      Object.fromEntries(Object.entries(KNOWN_HOLD_REASONS).map(([reason, { when }]) => [reason, when])),
    );
  });

  it('say lengths of time both ways', () => {
    expect(['30s', '10m', '1h30m', '2d', '90'].map(secondsOf)).toEqual([30, 600, 5_400, 172_800, 90]);
    for (const wrong of ['', '0', '0s', '-5m', '1.5h', '5 m', 'm', '1m1h'])
      expect(() => secondsOf(wrong)).toThrow();
    expect([0, 59, 60, 5_400, 90_061, -75].map(durationOf)).toEqual([
      '0s',
      '59s',
      '1m',
      '1h30m',
      '1d1h1m1s',
      '1m15s',
    ]);
    expect(nearMatches('ordres list', ['orders list', 'quote'])).toEqual(['orders list']);
  });
});

describe('the README', () => {
  it('has an example of every command under the heading of its group, and none of another', async () => {
    const readme = await readFile(new URL('README.md', ROOT), 'utf8');
    const sections = new Map(
      readme
        .split(/^## /m)
        .slice(1)
        .map((section) => [section.slice(0, section.indexOf('\n')).trim(), section]),
    );
    for (const { name } of COMMANDS) {
      const section = sections.get(name.split(' ')[0] ?? '');
      const blocks = [...(section ?? '').matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text).join('\n');
      const used = [...blocks.matchAll(/causeway ([^\n|<)"]*)/g)].map(
        ([, words = '']) => commandOf(COMMANDS, words.trim().split(/\s+/))?.name,
      );
      expect(used, `README.md needs an example of ${name} under “## ${name.split(' ')[0]}”`).toContain(name);
    }
    const lines = [...readme.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, text = '']) => text.split('\n'));
    const unknown = lines
      .flatMap((line) =>
        [...line.matchAll(/(?:^|[\s(])causeway ([^\n|<)"]*)/g)].map(([, words = '']) => words.trim()),
      )
      .filter((words) => !words.startsWith('--') && commandOf(COMMANDS, words.split(/\s+/)) === undefined);
    expect(unknown).toEqual([]);
  });
});
