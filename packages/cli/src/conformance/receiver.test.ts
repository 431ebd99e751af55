import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CausewayEvent, nodeHandler, TEST_EVENT_TYPES } from '@causeway/sdk/webhooks';
import { describe, expect, it } from 'vitest';
import { ORDER_STATUSES, partOf, REQUIREMENTS } from './requirements.ts';
import { type CheckResult, type RunOptions, runConformance } from './run.ts';
import {
  age,
  ENDED,
  expected,
  GOOD,
  handleOnce,
  headerOf,
  Kept,
  type Parts,
  receiverOf,
  SECRET,
  signatures,
} from './testing/lab-receiver.ts';

const ALL = Object.values(REQUIREMENTS).flat();
const WEBHOOKS = ALL.filter((requirement) => partOf(requirement) === 'webhooks');
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function check(
  listener: (kept: Kept, close: () => void) => RequestListener,
  options: Partial<RunOptions> & { readonly ids?: readonly string[] } = {},
): Promise<readonly CheckResult[]> {
  const { ids, ...rest } = options;
  const kept = new Kept();
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  const server = createServer(listener(kept, close));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`);
  try {
    return await runConformance({
      requirements: WEBHOOKS.filter(({ id }) => ids === undefined || ids.includes(id)),
      webhook: { url, secret: SECRET, endedSecret: ENDED, state: kept.state },
      signal: new AbortController().signal,
      ...rest,
    });
  } finally {
    close();
  }
}

const notPassed = (results: readonly CheckResult[]) =>
  results
    .filter(({ outcome }) => outcome !== 'passed')
    .map(({ requirement, outcome, reason }) => `${requirement.id} ${outcome}: ${reason}`);

const named = (part: string) =>
  WEBHOOKS.map(({ id }) => id).filter((id) => id.startsWith(`webhooks.${part}.`));
const changed =
  (change: Partial<Parts>) =>
  (kept: Kept): RequestListener =>
    receiverOf({ ...GOOD, ...change }, kept);
const strict =
  (isWrong: (event: CausewayEvent) => boolean): Parts['handle'] =>
  (event, kept) =>
    isWrong(event) ? 422 : handleOnce(event, kept);
let served = 0;
let working = 0;

/** Each bad receiver, and the checks that must find it. */
const FAULTS: Readonly<
  Record<
    string,
    {
      readonly finds: readonly string[];
      readonly listener: (kept: Kept, close: () => void) => RequestListener;
      readonly limits?: RunOptions['limits'];
    }
  >
> = {
  'refuses everything': {
    listener: changed({ isGenuine: () => false }),
    finds: ['webhooks.delivery.acknowledged'],
  },
  'knows two types only': {
    listener: changed({
      handle: strict(({ event_type: type }) => !/^(webhook\.test|order\.status)/.test(type)),
    }),
    finds: ['webhooks.delivery.every_type'],
  },
  'has a closed list of types': {
    listener: changed({ handle: strict(({ event_type: type }) => !TEST_EVENT_TYPES.includes(type)) }),
    finds: ['webhooks.event.unknown_type'],
  },
  'has forgotten a status': {
    listener: changed({
      handle: strict(({ data }) => 'status' in data && data.status === 'send_out_failed'),
    }),
    finds: ['webhooks.delivery.every_status'],
  },
  'has a closed list of statuses': {
    listener: changed({
      handle: strict(
        ({ data }) => 'status' in data && !(ORDER_STATUSES as readonly string[]).includes(data.status),
      ),
    }),
    finds: ['webhooks.event.unknown_status'],
  },
  'has a closed schema': {
    listener: changed({ handle: strict((event) => Object.keys(event).length > 4) }),
    finds: ['webhooks.event.unknown_fields'],
  },
  'fails now and then': {
    listener: changed({ handle: (event, kept) => (++served % 7 === 0 ? 500 : handleOnce(event, kept)) }),
    finds: ['webhooks.delivery.failures'],
  },
  'serves ten at a time': {
    listener: changed({
      async handle(event, kept) {
        working++;
        await pause(working > 10 ? 0 : 100);
        return working-- > 10 ? 503 : handleOnce(event, kept);
      },
    }),
    finds: ['webhooks.delivery.burst'],
  },
  redirects: {
    listener: () => (_request, response) => response.writeHead(307, { location: '/elsewhere' }).end(),
    finds: ['webhooks.answer.no_redirect'],
  },
  'never ends its answer': {
    listener: changed({ answer: (status, response) => response.writeHead(status).write('{') }),
    limits: { stepMs: 150 },
    finds: ['webhooks.answer.complete', 'webhooks.answer.in_time'],
  },
  'answers too late': {
    listener: changed({
      answer: (status, response) => setTimeout(() => response.writeHead(status).end(), 400),
    }),
    limits: { stepMs: 150 },
    finds: ['webhooks.answer.in_time'],
  },
  'works before it answers': {
    listener: changed({ handle: (event, kept) => pause(150).then(() => handleOnce(event, kept)) }),
    limits: { promptMs: 100 },
    finds: ['webhooks.answer.prompt'],
  },
  'checks nothing': {
    listener: changed({ isGenuine: () => true, isFresh: () => true, limit: Number.POSITIVE_INFINITY }),
    finds: [...named('signature').filter((id) => !id.endsWith('raw_body')), 'webhooks.rotation.neither'],
  },
  'checks no signature and no missing timestamp': {
    listener: changed({ isGenuine: () => true, isFresh: () => true }),
    finds: ['webhooks.timestamp.missing', 'webhooks.timestamp.garbled'],
  },
  'takes a delivery without a signature': {
    listener: changed({
      isGenuine: (body, request) => signatures(request).length === 0 || GOOD.isGenuine(body, request),
    }),
    finds: ['webhooks.signature.missing'],
  },
  'looks at the form of the signature only': {
    listener: changed({
      isGenuine: (_body, request) => /^sha256=[0-9a-f]{64}$/.test(signatures(request)[0] ?? ''),
    }),
    finds: ['wrong', 'other_secret', 'altered_body', 'altered_timestamp'].map(
      (name) => `webhooks.signature.${name}`,
    ),
  },
  'compares as many digits as it is given': {
    listener: changed({
      isGenuine: (body, request) =>
        signatures(request).some((given) => expected(body, request).startsWith(given)),
    }),
    finds: ['webhooks.signature.truncated'],
  },
  'has a secret that may be empty': {
    listener: changed({
      isGenuine: (body, request) =>
        GOOD.isGenuine(body, request) || signatures(request).includes(expected(body, request, '')),
    }),
    finds: ['webhooks.signature.other_secret'],
  },
  'checks what it has parsed': {
    listener: changed({
      isGenuine(body, request) {
        const parsed = GOOD.parse(body);
        const again = parsed === undefined ? body : JSON.stringify(parsed);
        return signatures(request).includes(expected(again, request));
      },
    }),
    finds: ['webhooks.signature.raw_body'],
  },
  'takes any age': {
    listener: changed({ isFresh: () => true }),
    finds: ['webhooks.timestamp.old', 'webhooks.timestamp.future', 'webhooks.timestamp.garbled'],
  },
  'takes what is ahead': {
    listener: changed({ isFresh: (timestamp) => age(timestamp) <= 300 }),
    finds: ['webhooks.timestamp.future'],
  },
  'lets NaN through': {
    listener: changed({ isFresh: (timestamp) => !(Math.abs(age(timestamp)) > 300) }),
    finds: ['webhooks.timestamp.garbled'],
  },
  'has no tolerance': {
    listener: changed({ isFresh: (timestamp) => Math.abs(age(timestamp)) <= 5 }),
    finds: ['webhooks.timestamp.skew'],
  },
  'knows one signature only': {
    listener: changed({
      isGenuine: (body, request) => headerOf(request, 'signature') === expected(body, request),
    }),
    finds: ['webhooks.rotation.previous'],
  },
  'looks at the last signature only': {
    listener: changed({
      isGenuine: (body, request) => signatures(request).at(-1) === expected(body, request),
    }),
    finds: ['webhooks.rotation.current'],
  },
  'trusts a second signature': {
    listener: changed({
      isGenuine: (body, request) => signatures(request).length === 2 || GOOD.isGenuine(body, request),
    }),
    finds: ['webhooks.rotation.neither'],
  },
  'never forgets a secret': {
    listener: changed({
      isGenuine: (body, request) =>
        GOOD.isGenuine(body, request) || signatures(request).includes(expected(body, request, ENDED)),
    }),
    finds: ['webhooks.rotation.ended'],
  },
  'calls a repeat a conflict': {
    listener: changed({
      handle: (event, kept) => (kept.seen.has(event.event_id) ? 409 : handleOnce(event, kept)),
    }),
    finds: ['webhooks.duplicate.acknowledged', 'webhooks.duplicate.concurrent'],
  },
  'fails on a repeat that comes at once': {
    listener: changed({
      async handle(event, kept) {
        if (kept.seen.has(event.event_id)) throw new Error('duplicate key value violates unique constraint');
        kept.seen.add(event.event_id);
        await pause(20);
        return 200;
      },
    }),
    finds: ['webhooks.duplicate.concurrent'],
  },
  'handles every delivery': {
    listener: changed({ handle: (event, kept) => kept.handle(event) }),
    finds: ['webhooks.duplicate.handled_once', 'webhooks.duplicate.concurrent_once'],
  },
  'acknowledges and loses': {
    listener: changed({ handle: () => 200 }),
    limits: { stepMs: 300 },
    finds: ['webhooks.duplicate.handled_once'],
  },
  'looks before the work and notes after it': {
    listener: changed({
      async handle(event, kept) {
        if (kept.seen.has(event.event_id)) return 200;
        await pause(50);
        return handleOnce(event, {
          ...kept,
          seen: new Set(),
          handle: kept.handle.bind(kept),
        } as unknown as Kept);
      },
    }),
    finds: ['webhooks.duplicate.concurrent_once'],
  },
  'refuses what comes late': {
    listener: changed({
      handle(event, kept) {
        const known = 'order_id' in event.data ? kept.orders.get(event.data.order_id) : undefined;
        return known !== undefined && known.at > event.created_at ? 409 : handleOnce(event, kept);
      },
    }),
    finds: ['webhooks.order.late_acknowledged'],
  },
  'lets the last to come win': {
    listener: changed({ handle: (event, kept) => kept.handle(event, true) }),
    finds: ['webhooks.order.not_overwritten'],
  },
  'handles before it checks': {
    listener: changed({
      beforeChecks: (body, kept) => kept.handle(GOOD.parse(body) ?? ({ data: {} } as CausewayEvent)),
    }),
    finds: ['webhooks.refused.not_handled'],
  },
  'throws at a wrong signature': {
    listener: changed({ refusal: 500 }),
    finds: ['webhooks.refused.client_error'],
  },
  'throws at what is no JSON': {
    listener: changed({ parse: (body) => JSON.parse(body.toString()) }),
    finds: ['webhooks.body.empty', 'webhooks.body.invalid_json'],
  },
  'acknowledges any JSON': {
    listener: changed({ parse: (body) => JSON.parse(body.toString()), handle: () => 200 }),
    finds: ['webhooks.body.not_an_event'],
  },
  'answers before it looks': {
    listener: () => (request, response) =>
      void request.resume().on('end', () => response.writeHead(200).end()),
    finds: ['webhooks.body.too_large', 'webhooks.request.method', 'webhooks.body.empty'],
  },
  'dies of a large body': {
    listener: (kept, close) => (request, response) => {
      if (Number(request.headers['content-length']) > 1_000_000) return close();
      return receiverOf(GOOD, kept)(request, response as never);
    },
    finds: ['webhooks.body.too_large'],
  },
  'takes ten kilobytes': {
    listener: changed({ limit: 10_000 }),
    finds: ['webhooks.body.large_event'],
  },
  'fails on another content type': {
    listener: changed({
      first(request, response) {
        const isOther = request.headers['content-type'] === 'text/plain';
        if (isOther) response.writeHead(500).end();
        return isOther || GOOD.first(request, response);
      },
    }),
    finds: ['webhooks.request.content_type'],
  },
};

describe('a good receiver', () => {
  it('of the SDK gets full marks', async () => {
    const results = await check((kept) => {
      const handle = nodeHandler({ secret: SECRET, onEvent: (event) => kept.handle(event) });
      return (request, response) => void handle(request, response);
    });
    expect(notPassed(results)).toEqual([]);
    expect(results).toHaveLength(WEBHOOKS.length);
  });

  it('by hand, which the bad ones are made of, gets full marks', async () => {
    expect(notPassed(await check(changed({})))).toEqual([]);
  });
});

describe('a bad receiver', () => {
  it.each(Object.entries(FAULTS))('that %s', async (_name, { finds, listener, limits }) => {
    const results = await check(listener, { ids: finds, ...(limits === undefined ? {} : { limits }) });
    expect(results.map(({ requirement, outcome }) => [requirement.id, outcome]).sort()).toEqual(
      finds.map((id) => [id, 'missed']).sort(),
    );
    // Found by itself, not because nothing works.
    expect(results.filter(({ reason }) => reason?.includes('proves nothing'))).toEqual([]);
  });

  it('is there for every check', () => {
    const found = new Set(Object.values(FAULTS).flatMap(({ finds }) => finds));
    expect(WEBHOOKS.map(({ id }) => id).filter((id) => !found.has(id))).toEqual([]);
  });
});

describe('a run', () => {
  const slow = changed({ handle: (event, kept) => pause(600).then(() => handleOnce(event, kept)) });

  it('ends with its time: what does not fit is missed', async () => {
    const results = await check(slow, { limits: { runMs: 3_000 } });
    expect(results).toHaveLength(WEBHOOKS.length);
    expect(results[0]?.outcome).toBe('passed');
    expect(results.at(-1)).toMatchObject({ outcome: 'missed', reason: expect.stringContaining('were over') });
  });

  it('ends when it is stopped', async () => {
    await expect(check(slow, { signal: AbortSignal.timeout(200) })).rejects.toThrow('aborted due to timeout');
  });
});
