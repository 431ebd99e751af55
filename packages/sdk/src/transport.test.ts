import { afterEach, describe, expect, it, vi } from 'vitest';
import { Causeway, type ClientOptions } from './index.ts';

const ORDER_ID = '0199aa9f-2f6e-7c41-9d0e-6b1f5a3c2d10';
const USER = { email: 'ada@example.com' };

/** A client whose requests are kept; each is answered by the next of the answers, the last one for ever. */
function clientOf(options: Partial<ClientOptions> = {}, answers: readonly Response[] = []) {
  const sent: Request[] = [];
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    sent.push(new Request(url, init));
    const answer = answers[Math.min(sent.length, answers.length) - 1];
    return answer?.clone() ?? Response.json({ success: true, data: {} });
  };
  const causeway = new Causeway({ baseUrl: 'http://x', apiKey: 'cw_test_1', fetch, ...options });
  return { causeway, sent, valuesOf: (name: string) => sent.map(({ headers }) => headers.get(name)) };
}

describe('headers that are given', () => {
  it.each(['Idempotency-Key', 'idempotency-key', 'IDEMPOTENCY-KEY'])('%s is the key', async (name) => {
    const { causeway, valuesOf } = clientOf();
    await causeway.users.create(USER, { headers: { [name]: 'mine' } });
    await causeway.users.create(USER, { headers: { [name]: 'mine' }, idempotencyKey: 'by option' });
    expect(valuesOf('idempotency-key')).toEqual(['mine', 'by option']);
  });

  it('are the same in every attempt, and the key is told with the error', async () => {
    const broken = Response.json(
      { success: false, error: { code: 'SERVICE_UNAVAILABLE', message: 'Sorry.' } },
      { status: 503, headers: { 'retry-after': '0' } },
    );
    const { causeway, valuesOf } = clientOf({}, [broken]);
    const call = causeway.users.create(USER, { headers: { 'Idempotency-Key': 'mine' } });
    await expect(call).rejects.toMatchObject({ idempotencyKey: 'mine' });
    expect(valuesOf('idempotency-key')).toEqual(['mine', 'mine', 'mine']);
  });

  it('a key of the client itself is nobody’s: every write would be the same', async () => {
    const { causeway, valuesOf } = clientOf({ headers: { 'Idempotency-Key': 'for all' } });
    await causeway.users.create(USER);
    await causeway.users.create(USER);
    const keys = valuesOf('idempotency-key');
    expect(keys).not.toContain('for all');
    expect(new Set(keys).size).toBe(2);
  });

  it('a key that is too long, or empty, is refused wherever it was given', async () => {
    const { causeway, sent } = clientOf();
    for (const key of ['', 'x'.repeat(256)]) {
      const call = causeway.users.create(USER, { headers: { 'Idempotency-Key': key } });
      await expect(call).rejects.toThrow('an idempotency key has 1 to 255 characters');
    }
    expect(sent).toEqual([]);
  });

  it('Content-Type is taken in any case, is never doubled, and goes with no request without a body', async () => {
    const { causeway, valuesOf } = clientOf({ headers: { 'Content-Type': 'application/json' } });
    const given = { 'CONTENT-type': 'application/json; charset=utf-8' };
    await causeway.users.create(USER);
    await causeway.users.create(USER, { headers: given });
    await causeway.orders.cancel(ORDER_ID);
    await causeway.orders.cancel(ORDER_ID, undefined, { headers: given });
    await causeway.orders.get(ORDER_ID, { headers: given });
    const types = ['application/json', 'application/json; charset=utf-8', null, null, null];
    expect(valuesOf('content-type')).toEqual(types);
  });

  it('one name has one value: the call’s before the client’s, and the last of several', async () => {
    const { causeway, valuesOf } = clientOf({ headers: { 'X-Trace': 'client', 'x-api-KEY': 'another' } });
    await causeway.orders.get(ORDER_ID);
    await causeway.orders.get(ORDER_ID, { headers: { 'x-trace': 'call' } });
    await causeway.orders.get(ORDER_ID, { headers: { 'x-trace': 'first', 'X-TRACE': 'last' } });
    expect(valuesOf('x-trace')).toEqual(['client', 'call', 'last']);
    expect(valuesOf('x-api-key')).toEqual(['cw_test_1', 'cw_test_1', 'cw_test_1']);
  });

  it('may be Headers or pairs where no compiler sees it', async () => {
    const pairs = [['X-Trace', 'client']] as never;
    const { causeway, valuesOf } = clientOf({ headers: pairs });
    await causeway.orders.get(ORDER_ID);
    await causeway.users.create(USER, { headers: new Headers({ 'Idempotency-Key': 'mine' }) as never });
    expect(valuesOf('x-trace')).toEqual(['client', 'client']);
    expect(valuesOf('idempotency-key')).toEqual([null, 'mine']);
  });
});

describe('a header that cannot be sent', () => {
  const SECRET = 'se\u0000cret';
  const textOf = (error: unknown): string =>
    error instanceof Error
      ? `${error.name} ${error.message} ${error.stack} ${textOf(error.cause)}`
      : `${error}`;

  it.each<[string, string, Partial<ClientOptions>, object]>([
    ['a value of the call', 'the header x-token', {}, { headers: { 'x-token': SECRET } }],
    ['a value of the client', 'the header x-token', { headers: { 'x-token': SECRET } }, {}],
    ['an API key', 'the header x-api-key', { apiKey: SECRET }, {}],
    ['a key by option', 'the header idempotency-key', {}, { idempotencyKey: SECRET }],
    ['a key by header', 'the header Idempotency-Key', {}, { headers: { 'Idempotency-Key': SECRET } }],
    ['a value of other letters', 'the header x-token', {}, { headers: { 'x-token': 'secret…' } }],
    ['a name that holds the value', 'a header', {}, { headers: { 'x-token: secret': '' } }],
  ])(
    'is told by its name and not by its value, before anything is sent: %s',
    async (_, name, client, options) => {
      const sent: unknown[] = [];
      const fetch = async (...given: unknown[]) => {
        sent.push(given);
        return new Response();
      };
      const error = await (async () =>
        clientOf({ fetch, ...client }).causeway.users.create(USER, options))().then(
        () => expect.unreachable('it should have failed'),
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toMatch(new RegExp(`^${name} cannot be sent`));
      expect(textOf(error).replaceAll('\u0000', '')).not.toContain('secret');
      expect(sent).toEqual([]);
    },
  );
});

describe('times and repeats', () => {
  it.each(['timeout', 'deadline', 'maxRetries'])(
    '%s that is no number is refused by its name, and nothing is sent',
    async (name) => {
      for (const value of [Number.NaN, -1, '3']) {
        expect(() => clientOf({ [name]: value })).toThrow(`${name} is a number`);
        const { causeway, sent } = clientOf();
        await expect(causeway.orders.get(ORDER_ID, { [name]: value })).rejects.toThrow(`${name} is a number`);
        expect(sent).toEqual([]);
      }
      const { causeway } = clientOf({ [name]: Number.POSITIVE_INFINITY });
      await causeway.orders.get(ORDER_ID, { [name]: 1_000 });
    },
  );
});

describe('the time of an attempt', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each<[string, Partial<ClientOptions>, object, number, number]>([
    ['by default', {}, {}, 30_000, 130_000],
    ['as the client has it', { timeout: 7_000 }, {}, 7_000, 7_000],
    ['as the call has it', { timeout: 7_000 }, { timeout: 9_000 }, 9_000, 9_000],
  ])(
    'is longer for a file, which takes the service up to two minutes: %s',
    async (_, client, options, json, file) => {
      const timers = vi.spyOn(globalThis, 'setTimeout');
      const times = async (work: () => PromiseLike<unknown>) => {
        timers.mockClear();
        await work();
        return timers.mock.calls.map(([, ms]) => ms);
      };
      const { causeway } = clientOf(client);
      expect(await times(() => causeway.orders.get(ORDER_ID, options))).toEqual([json]);
      expect(await times(() => causeway.exports.orders({}, options))).toEqual([file]);
      expect(await times(() => causeway.operator.exports.ledger({}, options))).toEqual([file]);
      expect(await times(() => causeway.vendor.exports.statement({}, options))).toEqual([file]);
    },
  );
});
