import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createApi, discover } from './api.ts';

const ORDER = { order_id: 'one' };
const ok = () => new Response(JSON.stringify({ success: true, data: ORDER }));
const refused = (status: number, code: string) => () =>
  new Response(JSON.stringify({ success: false, error: { code, message: code } }), { status });
const cutOff = () => new Response('{"success":true,"data":{"order_');
const brokenOff = () =>
  new Response(
    new ReadableStream({
      pull(controller) {
        controller.error(new TypeError('connection lost'));
      },
    }),
  );
const lost = () => Promise.reject(new TypeError('connection lost'));

type Answer = () => Response | Promise<Response>;
let answers: Answer[];
let keys: (string | undefined)[];

beforeEach(() => {
  vi.useFakeTimers();
  keys = [];
  vi.stubGlobal('fetch', async (_path: string, init: { headers: Record<string, string> }) => {
    keys.push(init.headers['idempotency-key']);
    return (answers.length > 1 ? answers.shift() : answers[0])?.();
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const openOrder = () => createApi('token').openOrder('quote', '0x1');
async function settled<T>(call: Promise<T>): Promise<T> {
  call.catch(() => undefined);
  await vi.runAllTimersAsync();
  return call;
}

describe('a write', () => {
  it.each<[string, Answer]>([
    ['never came', lost],
    ['is cut off', cutOff],
    ['broke off', brokenOff],
    ['is a proxy’s that has waited too long', refused(504, 'whatever')],
    ['is that of one that is still under way', refused(409, 'IDEMPOTENCY_IN_PROGRESS')],
  ])('is repeated under the same key where its answer %s', async (_, first) => {
    answers = [first, ok];
    expect(await settled(openOrder())).toEqual(ORDER);
    expect(keys).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), keys[0]]);
  });

  it('is sent three times at most', async () => {
    for (const [answer, code] of [
      [lost, 'NETWORK'],
      [cutOff, 'NETWORK'],
      [refused(504, 'TIMEOUT'), 'TIMEOUT'],
      [refused(409, 'IDEMPOTENCY_IN_PROGRESS'), 'IDEMPOTENCY_IN_PROGRESS'],
    ] as const) {
      keys = [];
      answers = [answer];
      await expect(settled(openOrder())).rejects.toMatchObject({ code });
      expect(keys).toHaveLength(3);
    }
  });

  it('is not repeated where it was refused', async () => {
    answers = [refused(409, 'QUOTE_ALREADY_USED')];
    await expect(settled(openOrder())).rejects.toMatchObject({ code: 'QUOTE_ALREADY_USED', status: 409 });
    answers = [() => new Response('<h1>Forbidden</h1>', { status: 403 })];
    await expect(settled(openOrder())).rejects.toMatchObject({ code: 'INTERNAL_ERROR', status: 403 });
    expect(keys).toHaveLength(2);
  });
});

it('a call ends with its caller’s signal, without a word of the service', async () => {
  // As fetch does it.
  vi.stubGlobal('fetch', (_path: string, { signal }: { signal: AbortSignal }) => {
    const gone = Promise.withResolvers<Response>();
    const end = () => gone.reject(signal.reason as Error);
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
    return gone.promise;
  });
  const leaving = new AbortController();
  const call = discover('corridors', leaving.signal);
  leaving.abort();
  await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  await expect(discover('corridors', leaving.signal)).rejects.toMatchObject({ name: 'AbortError' });
  // By itself after half a minute, and three of them.
  await expect(settled(discover('corridors'))).rejects.toMatchObject({ code: 'NETWORK' });
});
