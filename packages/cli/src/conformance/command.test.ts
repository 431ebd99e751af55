import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PARTNER_EVENTS, WEBHOOK_API_VERSIONS } from '@causeway/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loopbackCertificate } from '../../../../test/harness/tls.ts';
import { runCli } from '../cli.ts';
import { DRIVER_CHECKS } from './driver-checks.ts';
import { RECEIVER_CHECKS } from './receiver-checks.ts';
import type { Report } from './report.ts';
import { LATEST_API_VERSION, ORDER_STATUSES, REQUIREMENTS } from './requirements.ts';
import { GOOD, Kept, type Parts, receiverOf, SECRET } from './testing/lab-receiver.ts';

const ALL = REQUIREMENTS[LATEST_API_VERSION] ?? [];
const DOCS = new URL('../../../../docs/', import.meta.url);
const ONE = 'webhooks.delivery.acknowledged';

describe('the list of requirements', () => {
  it('is frozen: what is published of a version stays; a new requirement comes with the next version', () => {
    const lines = ALL.map(({ id, level, text }) => `${level} ${id} ${text}`).join('\n');
    expect(createHash('sha256').update(lines).digest('hex')).toBe(
      'a430e0e7e56e7c363df9d976191bf026421a948353f63d641fafc79929e64ffb',
    );
  });

  it('is there for every version of the API, with one check a requirement', () => {
    expect(Object.keys(REQUIREMENTS)).toEqual([...WEBHOOK_API_VERSIONS]);
    expect(ALL.map(({ id }) => id).sort()).toEqual(
      [...Object.keys(RECEIVER_CHECKS), ...Object.keys(DRIVER_CHECKS)].sort(),
    );
  });

  it('knows the statuses that the protocol has', () => {
    const { status } = PARTNER_EVENTS['order.status.changed'].data.properties as unknown as {
      status: { enum?: string[]; anyOf?: { const: string }[] };
    };
    expect([...ORDER_STATUSES].sort()).toEqual(
      (status.enum ?? status.anyOf?.map((one) => one.const))?.toSorted(),
    );
  });

  it('stands in the guide, and every link of it leads to a section', async () => {
    const guide = await readFile(new URL('guides/conformance.md', DOCS), 'utf8');
    const rows = guide.split('\n').filter((line) => /^\| `(webhooks|api)\./.test(line));
    expect(rows).toEqual(
      ALL.map(({ id, level, text, guide: link }) => {
        const [page, section] = link.split('#');
        return `| \`${id}\` | ${level} | ${text} | [${page}](${page === 'conformance' ? '' : `${page}.md`}#${section}) |`;
      }),
    );
    for (const link of new Set(ALL.map((requirement) => requirement.guide))) {
      const [page = '', section] = link.split('#');
      const headings = (await readFile(new URL(`guides/${page}.md`, DOCS), 'utf8')).matchAll(/^#+ (.+)$/gm);
      const anchors = [...headings].map(([, title = '']) =>
        title
          .toLowerCase()
          .replaceAll(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      );
      expect(anchors, link).toContain(section);
    }
  });
});

describe('causeway conformance', () => {
  let folder: string;
  const closing: (() => void)[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'causeway-conformance-'));
  });
  afterAll(async () => {
    for (const close of closing) close();
    await rm(folder, { recursive: true, force: true });
  });

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  }
  const receiver = (change: Partial<Parts> = {}, kept = new Kept()) =>
    serve(receiverOf({ ...GOOD, ...change }, kept));

  async function cli(
    options: readonly string[],
    env: Record<string, string> = { CAUSEWAY_WEBHOOK_SECRET: SECRET },
  ) {
    let stdout = '';
    let stderr = '';
    const code = await runCli(['conformance', ...options], {
      stdout: { write: (text) => (stdout += text) },
      stderr: { write: (text) => (stderr += text) },
      env: { CAUSEWAY_CONFIG_DIR: folder, ...env },
      folder,
      signal: new AbortController().signal,
    });
    return { code, stdout, stderr, report: () => JSON.parse(stdout) as Report };
  }

  it('lists the checks, all or those below a name', async () => {
    expect((await cli(['--list'])).stdout.split('\n')).toHaveLength(ALL.length + 2);
    const { stdout } = await cli(['--list', '--json', '--only', 'webhooks.timestamp', '--only', ONE]);
    const ids = JSON.parse(stdout).map(({ id }: { id: string }) => id);
    expect(ids).toEqual(
      ALL.map(({ id }) => id).filter((id) => id === ONE || id.startsWith('webhooks.timestamp.')),
    );
  });

  it('says what is wrong with the command line', async () => {
    const url = 'http://127.0.0.1:9/';
    for (const [options, message, env] of [
      [[], '--webhook URL, --driver FILE'],
      [['--webhook', url], 'webhook secret', {}],
      [['--webhook', 'ftp://x'], 'http(s) address'],
      [['--webhook', url, '--only', 'webhooks.moon'], 'no check “webhooks.moon”'],
      [['--webhook', url, '--env-file', join(folder, 'none')], '--env-file'],
      [['--driver', join(folder, 'none.mjs')], 'cannot be loaded'],
      [['--webhook', url, '--api-version', '1999-01-01'], '--api-version is one of'],
    ] as const) {
      const { code, stderr } = await cli(options, env);
      expect([code, stderr.includes(message)], `${options.join(' ')}: ${stderr}`).toEqual([2, true]);
    }
    const empty = join(folder, 'empty.mjs');
    await writeFile(empty, 'export const other = 1;');
    expect((await cli(['--driver', empty])).stderr).toContain('exports none of');
  });

  it('ends with 0, and warnings are no failure; MUST misses end with 7 and link to the guide', async () => {
    const warned = await cli(['--webhook', await receiver({ refusal: 500 }), '--json']);
    expect(warned.code).toBe(0);
    expect(warned.report()).toMatchObject({
      verdict: 'conformant',
      score: { should: { passed: 10, of: 11, percent: 90 }, must: { percent: 100 } },
    });
    const missed = await cli([
      '--webhook',
      await receiver({ isFresh: () => true }),
      '--only',
      'webhooks.timestamp',
    ]);
    expect(missed.code).toBe(7);
    expect(missed.stdout).toMatch(
      /MISS {2}webhooks\.timestamp\.old {2}MUST\n.*\n {6}it was acknowledged with 200\n {6}\/docs\/guides\/webhooks#verify/,
    );
    expect(missed.stdout).toContain('WARN  webhooks.timestamp.future  SHOULD');
    expect(missed.stdout).toMatch(/40 % {2}MUST 1 of 3, SHOULD 1 of 2\n$/);
    expect(missed.stderr).toContain('2 MUST missed.');
  });

  it('reads the secret from standard input, and speaks TLS with a certificate of this machine', async () => {
    const { cert, key } = await loopbackCertificate();
    const server = createTlsServer({ cert, key }, receiverOf(GOOD, new Kept()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => void server.close());
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    const main = new URL('../main.ts', import.meta.url).pathname;
    const args = [main, 'conformance', '--webhook', url, '--secret-stdin', '--only', ONE, '--json'];
    const stdout = await new Promise<string>((resolve, reject) => {
      const child = execFile(process.execPath, args, { env: {} }, (error, text) =>
        error ? reject(error) : resolve(text),
      );
      child.stdin?.end(`${SECRET}\n`);
    });
    expect(JSON.parse(stdout).score.percent).toBe(100);
  });

  it('fails what rests on an unmet prerequisite: a receiver that refuses everything is not safe', async () => {
    const { code, report } = await cli([
      '--webhook',
      await receiver({ isGenuine: () => false }),
      '--json',
      '--only',
      'webhooks.signature.missing',
    ]);
    expect([code, report().checks[0]?.outcome]).toEqual([7, 'missed']);
    expect(report().checks[0]?.reason).toContain(`${ONE} is missed`);
  });

  it('tells a receiver that is not there from one that misses', async () => {
    const gone = await cli(['--webhook', 'http://127.0.0.1:9/', '--json']);
    expect(gone.code).toBe(6);
    expect(gone.report().verdict).toBe('fault');
    expect(gone.report().checks.filter(({ outcome }) => outcome === 'missed')).toEqual([]);
    const state = await serve((_request, response) => response.end('{"handled":"once"}'));
    const { report } = await cli([
      '--webhook',
      await receiver(),
      '--state',
      state,
      '--json',
      '--only',
      'webhooks.duplicate.handled_once',
    ]);
    expect(report().checks[0]).toMatchObject({
      outcome: 'fault',
      reason: expect.stringContaining('whole number'),
    });
  });

  it('looks inside through --state', async () => {
    const kept = new Kept();
    const state = await serve(async (request, response) => {
      const { searchParams } = new URL(`${request.url}`, 'http://x');
      const [event, order] = [searchParams.get('event_id'), searchParams.get('order_id')];
      const answer =
        event === null
          ? { status: await kept.state.orderStatus(`${order}`) }
          : { handled: await kept.state.handled(event) };
      response.end(JSON.stringify(answer));
    });
    const options = ['--webhook', await receiver({}, kept), '--state', state, '--json'];
    const only = ALL.filter(({ observed }) => observed === 'state').flatMap(({ id }) => ['--only', id]);
    expect((await cli([...options, ...only])).report().score).toMatchObject({ passed: 4, of: 4 });
  });

  it('writes JUnit and a trace without secrets, for an address with a password in it too', async () => {
    const [junit, trace] = [join(folder, 'junit.xml'), join(folder, 'trace.json')];
    const url = (await receiver({ isFresh: (stamp) => stamp !== undefined })).replace(
      'http://',
      'http://user:hunter2@',
    );
    const env = join(folder, 'secrets.env');
    await writeFile(env, `CAUSEWAY_WEBHOOK_SECRET="${SECRET}"\n`);
    const files = ['--junit', junit, '--trace', trace, '--env-file', env];
    const { code, stdout } = await cli(['--webhook', `${url}?token=hunter2`, '--json', ...files], {});
    expect(code).toBe(7);
    const xml = await readFile(junit, 'utf8');
    expect(xml).toMatch(/<testsuites tests="\d+" failures="2" errors="0" skipped="17" time="[\d.]+">/);
    expect(xml).toMatch(
      /name="webhooks.timestamp.old" time="[\d.]+"><failure type="MUST" message="it was acknowledged with 200">/,
    );
    expect(xml).toMatch(/name="webhooks.timestamp.future" time="[\d.]+"><system-out>warning: /);
    expect(xml.match(/<testcase /g)).toHaveLength(ALL.length);
    const written = await readFile(trace, 'utf8');
    expect(JSON.parse(written).length).toBeGreaterThan(100);
    for (const text of [xml, written, stdout])
      expect(text).not.toMatch(new RegExp(`${SECRET}|hunter2|sha256=[0-9a-f]{20}`));
  });

  it('allows what is expected to be missed, until its day, and no longer than it is missed', async () => {
    const file = join(folder, 'expected.json');
    const url = await receiver({ isFresh: () => true });
    const only = [
      '--webhook',
      url,
      '--only',
      'webhooks.timestamp.old',
      '--only',
      'webhooks.timestamp.garbled',
      '--json',
    ];
    const expecting = async (entries: unknown) => {
      await writeFile(file, JSON.stringify(entries));
      return cli([...only, '--expected-failures', file]);
    };
    const entry = (id: string, expires = '2999-12-31') => ({
      id,
      expires,
      reason: 'the clock is being moved',
    });
    const both = [entry('webhooks.timestamp.old'), entry('webhooks.timestamp.garbled')];
    const allowed = await expecting(both);
    expect([allowed.code, allowed.report().checks[0]?.expected_until]).toEqual([0, '2999-12-31']);
    expect((await expecting(both.slice(1))).code).toBe(7);
    const over = await expecting([
      entry('webhooks.timestamp.old', '2026-01-31'),
      entry('webhooks.timestamp.garbled'),
    ]);
    expect([over.code, over.report().stale_expectations[0]?.message]).toEqual([
      7,
      'was expected to be missed until 2026-01-31, which is over',
    ]);
    await writeFile(file, JSON.stringify([entry(ONE)]));
    const stale = await cli(['--webhook', url, '--only', ONE, '--json', '--expected-failures', file]);
    expect([stale.code, stale.report().stale_expectations[0]?.message]).toEqual([
      7,
      'is expected to be missed and passes: take it off the list',
    ]);
    for (const wrong of [
      {},
      [{ id: ONE }],
      [entry('webhooks.moon')],
      [entry(ONE, '2026-02-30')],
      [entry(ONE), entry(ONE)],
    ]) {
      expect((await expecting(wrong)).code, JSON.stringify(wrong)).toBe(2);
    }
  });
});
