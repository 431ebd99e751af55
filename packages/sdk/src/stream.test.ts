import { expect, it } from 'vitest';
import { Causeway } from './index.ts';

/** Line ends of JavaScript, which JSON leaves as they are; of an event stream they are none. */
const NAME = 'Ada\u2028data: {"event_id":"evt_9"}\u2029id: 9\u0085Lovelace';

const message = (cursor: number, end = '\n') => {
  const data = JSON.stringify({
    event_id: `evt_${cursor}`,
    event_type: 'user.kyc.updated',
    data: { name: NAME },
  });
  return { data, text: [`id: ${cursor}`, 'event: user.kyc.updated', `data: ${data}`, '', ''].join(end) };
};

/** The events of a stream that is sent in pieces of so many bytes. */
async function eventsOf(text: string, size: number) {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.subarray(at, at + size));
      at += size;
    },
  });
  const fetch = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const causeway = new Causeway({ baseUrl: 'http://x', apiKey: 'cw_test_1', fetch });
  const found = [];
  for await (const one of causeway.events.stream()) {
    found.push(one);
    if (found.length === 2) return found;
  }
  return expect.unreachable('the stream does not end');
}

it.each([
  ['\n', 1],
  ['\n', 7],
  ['\r\n', 5],
  ['\n', 100_000],
])(
  'an event keeps what JavaScript takes for the end of a line (%j, %s bytes at a time)',
  async (end, size) => {
    const [first, second] = [message(5, end), message(6, end)];
    const found = await eventsOf(
      `retry: 1${end}id: 4${end}: open${end}${end}${first.text}${second.text}`,
      size,
    );
    expect(found.map(({ cursor, body }) => [cursor, body])).toEqual([
      ['5', first.data],
      ['6', second.data],
    ]);
    expect(found.map(({ event }) => event)).toMatchObject([
      { event_id: 'evt_5', data: { name: NAME } },
      { event_id: 'evt_6', data: { name: NAME } },
    ]);
  },
);

/** How long a stream waits before it tries again after this answer. */
async function waitAfter(answer: () => Response): Promise<number> {
  const causeway = new Causeway({ baseUrl: 'http://x', apiKey: 'cw_test_1', fetch: async () => answer() });
  const stop = new AbortController();
  let waitMs = -1;
  const onBreak = (_error: unknown, retryInMs: number) => {
    waitMs = retryInMs;
    stop.abort();
  };
  await expect(causeway.events.stream({ signal: stop.signal, onBreak }).next()).rejects.toThrow();
  return waitMs;
}

it.each([
  [429, '7', 7_000, 9_000],
  [503, '40', 40_000, 42_000],
  [503, '0', 1_000, 2_000],
  // Bounded: a stream that waits for a day is none.
  [503, '86400', 60_000, 62_000],
])(
  'after a %s with Retry-After %s it waits that long, and a little more',
  async (status, after, least, most) => {
    const error = { code: status === 429 ? 'RATE_LIMITED' : 'SERVICE_UNAVAILABLE', message: 'Later.' };
    const waitMs = await waitAfter(() =>
      Response.json({ success: false, error }, { status, headers: { 'retry-after': after } }),
    );
    expect(waitMs).toBeGreaterThanOrEqual(least);
    expect(waitMs).toBeLessThanOrEqual(most);
  },
);

it('a stream that tells no time to wait in digits is opened again at the usual pace', async () => {
  for (const retry of ['soon', '', '-1', '1e9']) {
    const waitMs = await waitAfter(() => new Response(`retry: ${retry}\nid: 4\n\n`));
    expect(waitMs, retry).toBeGreaterThanOrEqual(1_000);
  }
});
