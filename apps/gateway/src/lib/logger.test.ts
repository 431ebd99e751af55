import { execFileSync } from 'node:child_process';
import { createReadStream, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify from 'fastify';
import { symbols } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { until } from '../../../../test/harness/until.ts';
import { createLogger, type LoggerOptions, lineWriter } from './logger.ts';

const KEY = 'cw_test_4fKd93kDkfj39fkDkdj3';
const SECRETS = [
  KEY,
  '4fKd93kDkfj39fkDkdj3',
  'whsec_9dkKd93kd',
  'Jane',
  'jane@example.com',
  'hunter2',
  'DE8937',
];

function capture(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ level: 'trace', format: 'json', destination, ...options });
  const entries = () => lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { logger, lines, entries };
}

function expectNoLeak(lines: readonly string[]): void {
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) for (const secret of SECRETS) expect(line).not.toContain(secret);
}

function failure(): Error {
  const cause = Object.assign(new Error(`connect postgres://causeway:hunter2@db failed`), {
    first_name: 'Jane',
  });
  return Object.assign(new Error(`refused ${KEY}`, { cause }), {
    detail: 'Key (iban)=(DE8937)',
    config: { apiKey: KEY },
  });
}

describe('logger', () => {
  it('writes one JSON line with level, time, bindings, fields and message', () => {
    const { logger, entries } = capture({ bindings: { role: 'worker' } });
    logger.info({ order_id: 'o1' }, 'order %s moved %d times', 'o1', 3);
    expect(entries()).toEqual([
      expect.objectContaining({
        level: 'info',
        role: 'worker',
        order_id: 'o1',
        msg: 'order o1 moved 3 times',
      }),
    ]);
    expect(entries()[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  it('leaks nothing through nested fields and arrays', () => {
    const { logger, lines } = capture();
    logger.info(
      { user: { list: [{ email: 'jane@example.com', name: 'x' }], headers: { 'x-api-key': KEY } } },
      'seen',
    );
    logger.info({ note: `the key is ${KEY}`, [KEY]: 1 });
    expectNoLeak(lines);
  });

  it('leaks nothing through errors with causes, given alone, as a field, or beside a message', () => {
    const { logger, lines, entries } = capture();
    logger.error(failure());
    logger.error(failure(), 'while sending');
    logger.error({ err: failure() });
    logger.error({ err: failure() }, 'while sending');
    logger.error({ err: { message: `plain ${KEY}` } });
    logger.error({ errors: [failure()] }, failure().message);
    logger.error(new AggregateError([failure(), failure()], `all failed for ${KEY}`));
    expectNoLeak(lines);
    expect(entries()[0]).toMatchObject({
      msg: 'refused cw_test_[redacted]',
      err: { type: 'Error', cause: { message: 'connect postgres://[redacted]@db failed' } },
    });
    expect(entries()[0]).toHaveProperty('err.stack', expect.stringContaining('logger.test.ts'));
  });

  it('leaks nothing through messages and what is put into them', () => {
    const { logger, lines } = capture();
    logger.warn(`key ${KEY} and whsec_9dkKd93kd`);
    logger.warn('key %s of %o, %j', KEY, { first_name: 'Jane' }, { email: 'jane@example.com' });
    logger.warn('password=%s', 'hunter2');
    logger.warn({}, 'split cw_test_%s', '4fKd93kDkfj39fkDkdj3');
    logger.warn('extra %s %o', failure(), { iban: 'DE8937' });
    logger.warn({ msg: `in the field ${KEY}` });
    expectNoLeak(lines);
  });

  it('leaks nothing through the bindings of children, of their children, or set later', () => {
    const { logger, lines } = capture({ bindings: { secret: 'hunter2', boot: KEY } });
    const child = logger.child({ apiKey: KEY, user: { first_name: 'Jane' } });
    const grandchild = child.child({ note: KEY }, { level: 'debug' });
    grandchild.setBindings({ email: 'jane@example.com' });
    logger.info('root');
    child.info('child');
    grandchild.debug({ iban: 'DE8937' }, 'grandchild');
    expectNoLeak(lines);
  });

  it('leaks nothing through the request log of the HTTP server', async () => {
    const { logger, lines, entries } = capture();
    const server = fastify({ loggerInstance: logger });
    server.post('/users', async () => {
      throw failure();
    });
    await server.inject({
      method: 'POST',
      url: '/users?search=Jane',
      headers: { 'x-api-key': KEY },
      payload: { email: 'jane@example.com' },
    });
    await server.close();
    expectNoLeak(lines);
    expect(entries().some(({ req }) => (req as { url?: string })?.url === '/users')).toBe(true);
    expect(entries().some(({ res }) => (res as { statusCode?: number })?.statusCode === 500)).toBe(true);
  });

  it('does not even read its arguments below its level', () => {
    const { logger, lines } = capture({ level: 'warn' });
    const trap = new Proxy({}, { get: () => expect.fail('read'), ownKeys: () => expect.fail('listed') });
    logger.info(trap, 'quiet');
    logger.child({ role: 'api' }).debug(trap);
    expect(lines).toEqual([]);
    expect(logger.isLevelEnabled('info')).toBe(false);
  });

  it('pretty lines are readable, complete and masked too', () => {
    const { logger, lines } = capture({ format: 'pretty' });
    logger.info({ port: 8080, api_key: KEY }, 'listening');
    logger.error(failure());
    expect(lines[0]).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}listening port=8080 api_key="\[redacted\]"\n$/);
    expect(lines[1]).toContain('refused cw_test_[redacted]\n    Error: refused');
    expect(lines[1]).toContain('    caused by\n    Error: connect postgres://[redacted]@db failed');
    expectNoLeak(lines);
  });
});

describe('lines past the logger', () => {
  it('go where those of the logger go, and are as readable', () => {
    const json = capture();
    lineWriter(json.logger).write('{"level":"info","msg":"request"}\n');
    expect(json.lines).toEqual(['{"level":"info","msg":"request"}\n']);
    const pretty = capture({ format: 'pretty' });
    lineWriter(pretty.logger).write(
      '{"level":"info","time":"2026-11-15T10:02:41.118Z","request_id":"r-1","method":"GET","route":"/x/:id","status":404,"ms":3.4,"key_id":null,"msg":"request"}\n',
    );
    expect(pretty.lines).toEqual(['10:02:41.118 404 GET /x/:id  3.4 ms  r-1\n']);
  });

  it.each(['json', 'pretty'] as const)('are gathered into one write to a file, as %s', async (format) => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-log-'));
    const fd = openSync(join(folder, 'log'), 'w');
    const logger = createLogger({ level: 'info', format, fd });
    const stream = Reflect.get(logger, symbols.streamSym) as { write(lines: string): void };
    const write = vi.spyOn(stream, 'write');
    const writer = lineWriter(logger);
    const entry = { level: 'info', time: '2026-11-15T10:02:41.118Z', method: 'GET', status: 200, ms: 1 };
    for (const route of ['/first', '/second', '/third'])
      writer.write(`${JSON.stringify({ ...entry, route, msg: 'request' })}\n`);
    writer.close();
    expect(write).toHaveBeenCalledTimes(1);
    const read = () => readFileSync(join(folder, 'log'), 'utf8').split('\n');
    await until('the file', () => read().length === 4);
    expect(read().map((line) => /\/\w+/.exec(line)?.[0])).toEqual(['/first', '/second', '/third', undefined]);
    rmSync(folder, { recursive: true });
  });

  it('do not wait: what a reader that is too slow would miss is dropped, and counted', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'causeway-log-'));
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const logger = createLogger({ level: 'info', format: 'json', fd: openSync(pipe, 'r+') });
    const writer = lineWriter(logger);
    const line = `{"msg":"request","x":"${'x'.repeat(1_000)}"}\n`;
    const written = 40_000;
    for (let count = 0; count < written; count++) writer.write(line);
    writer.close();

    let received = 0;
    let told: { lines: number } | undefined;
    let rest = '';
    const reader = createReadStream(pipe, 'utf8');
    for await (const chunk of reader) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const entry of lines.map((text) => JSON.parse(text))) {
        if (entry.msg === 'request') received++;
        else told = entry;
      }
      if (told !== undefined) break;
    }
    rmSync(folder, { recursive: true });
    expect(told).toMatchObject({ level: 'warn', lines: written - received });
    expect(received).toBeGreaterThan(20_000);
    expect(received).toBeLessThan(written);
  });
});
