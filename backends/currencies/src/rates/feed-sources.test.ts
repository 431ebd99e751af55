import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEcbSource } from './ecb.source.ts';
import { createExchangeTickerSource } from './exchange-ticker.source.ts';
import { answer, type FeedServer, fixture, startFeedServer } from './fixtures/feed-server.ts';
import { createJsonFeedSource, type JsonFeedShape } from './json-feed.source.ts';
import type { RejectedQuote } from './quote-screen.ts';
import { RateFeedError, type RateFeedFault, type RateSource } from './rate-source.port.ts';

const NOW = Date.UTC(2024, 5, 28, 15, 0, 0);
const FIXING = Date.UTC(2024, 5, 28, 12, 10, 0);
const clock = { now: () => NOW };
const idle = new AbortController().signal;
const MAP: JsonFeedShape = { kind: 'map', path: ['rates'], fixed: 'USD', direction: 'fixed-first' };
const LIST: JsonFeedShape = {
  kind: 'list',
  path: ['data', 'pairs'],
  base: ['from'],
  quote: ['to'],
  rate: ['price', 'mid'],
};

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeedServer();
});
afterAll(() => feed.close());

async function faultOf(source: RateSource, signal: AbortSignal = idle): Promise<RateFeedFault> {
  const outcome = await source.fetch(signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(RateFeedError);
  return (outcome as RateFeedError).fault;
}

function ecb(extra: object = {}): RateSource {
  return createEcbSource({ url: feed.url, timeoutMs: 2_000, ...extra });
}

function kraken(extra: object = {}): RateSource {
  return createExchangeTickerSource({ clock, url: feed.url, timeoutMs: 2_000, ...extra });
}

function jsonFeed(shape: JsonFeedShape, extra: object = {}): RateSource {
  return createJsonFeedSource({ clock, name: 'feed', url: feed.url, shape, timeoutMs: 2_000, ...extra });
}

describe('ECB reference rates', () => {
  it('are read as the text they were published in, at the time of the fixing', async () => {
    feed.respond(answer('text/xml', fixture('ecb-daily.xml')));
    const quotes = await ecb().fetch(idle);
    expect(quotes).toHaveLength(30);
    expect(quotes).toContainEqual({ base: 'EUR', quote: 'USD', rate: '1.0705', observedAt: FIXING });
    expect(quotes).toContainEqual({ base: 'EUR', quote: 'HUF', rate: '395.10', observedAt: FIXING });
    expect(quotes).toContainEqual({ base: 'EUR', quote: 'IDR', rate: '17487.21', observedAt: FIXING });
  });

  it('lose only the faulty entries: zero, negative, NaN, huge, contradicting', async () => {
    const rejected: RejectedQuote[] = [];
    feed.respond(answer('application/xml; charset=utf-8', fixture('ecb-faulty-entries.xml')));
    const quotes = await ecb({
      onRejected: (_: string, list: RejectedQuote[]) => rejected.push(...list),
    }).fetch(idle);
    expect(quotes.map(({ quote }) => quote)).toEqual(['USD', 'PLN']);
    expect(rejected.map(({ quote, fault }) => [quote, fault])).toEqual([
      ['JPY', 'bad-rate'],
      ['GBP', 'bad-rate'],
      ['CHF', 'bad-rate'],
      ['SEK', 'bad-rate'],
      ['HUF', 'implausible-rate'],
      ['CZK', 'conflicting-duplicate'],
      ['EUR', 'same-code'],
      ['usd', 'bad-code'],
    ]);
  });

  it('of several days are those of the newest', async () => {
    const two = fixture('ecb-daily.xml').replace(
      "<Cube time='2024-06-28'>",
      "<Cube time='2024-06-27'><Cube currency='USD' rate='1.0696'/></Cube><Cube time='2024-06-28'>",
    );
    feed.respond(answer('text/xml', two));
    expect(await ecb().fetch(idle)).toContainEqual({
      base: 'EUR',
      quote: 'USD',
      rate: '1.0705',
      observedAt: FIXING,
    });
  });

  it.each([
    ['cut off', fixture('ecb-daily.xml').slice(0, 900)],
    ['a web page', '<html><body>Maintenance</body></html>'],
    ['an impossible date', fixture('ecb-daily.xml').replace('2024-06-28', '2024-13-41')],
    ['entries without a date', "<Envelope><Cube currency='USD' rate='1.07'/></Envelope>"],
    ['an entity bomb', '<!DOCTYPE l [<!ENTITY l "lol">]><Envelope/>'],
  ])('are refused as a whole when the document is %s', async (_what, body) => {
    feed.respond(answer('text/xml', body));
    expect(await faultOf(ecb())).toBe('malformed');
  });

  it('without a single usable entry are a failure', async () => {
    feed.respond(answer('text/xml', "<E><Cube time='2024-06-28'><Cube currency='USD' rate='0'/></Cube></E>"));
    expect(await faultOf(ecb())).toBe('empty');
  });
});

describe('exchange ticker', () => {
  it('gives the exact middle of bid and ask, USDT0 after USDT', async () => {
    feed.respond(answer('application/json; charset=utf-8', fixture('kraken-ticker.json')));
    expect(await kraken().fetch(idle)).toEqual([
      { base: 'USDC', quote: 'USD', rate: '0.999875', observedAt: NOW },
      { base: 'USDT', quote: 'USD', rate: '0.999515', observedAt: NOW },
      { base: 'USDT0', quote: 'USD', rate: '0.999515', observedAt: NOW },
    ]);
  });

  it('leaves out a pair whose book is crossed, one-sided, too wide or not a number', async () => {
    feed.respond(answer('application/json', fixture('kraken-faulty-entries.json')));
    expect((await kraken().fetch(idle)).map(({ base }) => base)).toEqual(['USDC']);
    for (const [ask, bid] of [
      ['1.2', '1.0'],
      ['0.9999', '1'],
      ['NaN', '1'],
      ['1', '0'],
      ['-1', '-1'],
      ['1e400', '1'],
    ]) {
      feed.respond(
        answer(
          'application/json',
          JSON.stringify({ error: [], result: { USDCUSD: { a: [ask], b: [bid] } } }),
        ),
      );
      expect(await faultOf(kraken())).toBe('empty');
    }
  });

  it.each<[string, string, RateFeedFault]>([
    ['an error list', fixture('kraken-error.json'), 'upstream-error'],
    ['a cut-off answer', fixture('kraken-ticker.json').slice(0, 300), 'malformed'],
    ['another object', '{"hello":"world"}', 'malformed'],
    ['no pair of ours', '{"error":[],"result":{}}', 'empty'],
    ['a result that is a list', '{"error":[],"result":[]}', 'malformed'],
    ['null', 'null', 'malformed'],
    ['nothing', '', 'malformed'],
    ['nesting without end', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, 'malformed'],
  ])('answering with %s is a failure', async (_what, body, fault) => {
    feed.respond(answer('application/json', body));
    expect(await faultOf(kraken())).toBe(fault);
  });
});

describe('JSON feed', () => {
  it('keeps every digit of unquoted numbers and drops what is not a rate', async () => {
    feed.respond(answer('application/json', fixture('json-feed-map.json')));
    const source = jsonFeed(MAP, { observedAt: { path: ['timestamp'], unit: 'seconds' } });
    const quotes = await source.fetch(idle);
    expect(quotes.map(({ base, quote, rate }) => `${base}/${quote} ${rate}`)).toEqual([
      'USD/NGN 1514.25',
      'USD/KES 129.00000000000000000001',
      'USD/GHS 15.25',
      'USD/XAU 0.00043',
      'USD/IDR 16375',
    ]);
    expect(new Set(quotes.map(({ observedAt }) => observedAt))).toEqual(new Set([1_719_576_000_000]));
  });

  it('turns a map the other way round without arithmetic', async () => {
    feed.respond(answer('application/json', '{"rates":{"NGN":0.00066}}'));
    const quotes = await jsonFeed({ ...MAP, direction: 'fixed-last' }).fetch(idle);
    expect(quotes).toEqual([{ base: 'NGN', quote: 'USD', rate: '0.00066', observedAt: NOW }]);
  });

  it('reads lists, once for repeated and never for contradicting entries', async () => {
    feed.respond(answer('application/json', fixture('json-feed-list.json')));
    const quotes = await jsonFeed(LIST, { observedAt: { path: ['data', 'as_of'], unit: 'iso-8601' } }).fetch(
      idle,
    );
    const observedAt = Date.UTC(2024, 5, 28, 12);
    expect(quotes).toEqual([
      { base: 'USDT', quote: 'NGN', rate: '1530.50', observedAt },
      { base: 'USDT', quote: 'KES', rate: '129.75', observedAt },
    ]);
  });

  it('reads a single price', async () => {
    feed.respond(answer('application/json', '{"data":[{"price":1.0002}]}'));
    const shape: JsonFeedShape = { kind: 'single', rate: ['data', '0', 'price'], base: 'USDC', quote: 'USD' };
    expect(await jsonFeed(shape).fetch(idle)).toEqual([
      { base: 'USDC', quote: 'USD', rate: '1.0002', observedAt: NOW },
    ]);
  });

  it('sends the configured headers', async () => {
    let seen: string | undefined;
    feed.respond((request, response) => {
      seen = request.headers['x-access-key'] as string;
      answer('application/json', fixture('json-feed-map.json'))(request, response);
    });
    await jsonFeed(MAP, { headers: { 'x-access-key': 'abc' } }).fetch(idle);
    expect(seen).toBe('abc');
  });

  it.each(['2024-06-28T12:00:00', 'yesterday', '-5', '1e9', ''])('refuses the time %j', async (time) => {
    feed.respond(answer('application/json', JSON.stringify({ rates: { NGN: 1500 }, time })));
    for (const unit of ['iso-8601', 'seconds', 'milliseconds'] as const) {
      expect(await faultOf(jsonFeed(MAP, { observedAt: { path: ['time'], unit } }))).toBe('malformed');
    }
  });

  it('never follows a path into inherited properties', async () => {
    feed.respond(answer('application/json', '{"rates":{"NGN":1500}}'));
    expect(await faultOf(jsonFeed({ ...MAP, path: ['constructor'] }))).toBe('malformed');
    expect(await faultOf(jsonFeed({ ...MAP, path: ['__proto__'] }))).toBe('malformed');
  });
});

describe('every feed over HTTP', () => {
  const cases: [string, () => RateSource][] = [
    ['ecb', () => ecb({ timeoutMs: 250 })],
    ['kraken', () => kraken({ timeoutMs: 250 })],
    ['json', () => jsonFeed(MAP, { timeoutMs: 250 })],
  ];

  it.each(cases)(
    '%s: down, 500, redirected, wrong content are failures of their own kind',
    async (_name, make) => {
      feed.respond((request) => request.socket.destroy());
      expect(await faultOf(make())).toBe('unreachable');
      feed.respond(answer('application/json', '{"secret":"stack trace"}', 500));
      expect(await faultOf(make())).toBe('status');
      feed.respond((request, response) => {
        if (request.url === '/feed') response.writeHead(302, { location: '/moved' }).end();
        else answer('application/json', fixture('kraken-ticker.json'))(request, response);
      });
      expect(await faultOf(make())).toBe('unreachable');
      feed.respond(answer('text/html', '<html></html>'));
      expect(await faultOf(make())).toBe('content-type');
    },
  );

  it.each(cases)('%s: silence and dripping both end at the time limit', async (_name, make) => {
    feed.respond(() => undefined);
    expect(await faultOf(make())).toBe('timeout');
    feed.respond((_request, response) => {
      response.writeHead(200, { 'content-type': _name === 'ecb' ? 'text/xml' : 'application/json' });
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    expect(await faultOf(make())).toBe('timeout');
  });

  it('that no server answers is unreachable', async () => {
    const gone = await startFeedServer();
    await gone.close();
    expect(await faultOf(kraken({ url: gone.url }))).toBe('unreachable');
  });

  it('stops when it is told to', async () => {
    feed.respond(() => undefined);
    const stop = new AbortController();
    const fault = faultOf(kraken(), stop.signal);
    stop.abort();
    expect(await fault).toBe('aborted');
  });

  it('breaks off at the size cap, also of an endless and of a compressed answer', async () => {
    feed.respond(answer('application/json', ' '.repeat(2_000)));
    expect(await faultOf(kraken({ maxBytes: 1_000 }))).toBe('too-large');
    feed.respond((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const pour = (): void => {
        if (!response.destroyed) response.write(' '.repeat(65_536), () => setImmediate(pour));
      };
      pour();
    });
    expect(await faultOf(kraken())).toBe('too-large');
    const bomb = gzipSync(Buffer.alloc(5_000_000, ' '));
    feed.respond((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb);
    });
    expect(await faultOf(kraken())).toBe('too-large');
  });

  it('refuses an answer shorter than announced, and bytes that are not UTF-8', async () => {
    const body = fixture('kraken-ticker.json');
    feed.respond((_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': `${body.length + 10}`,
      });
      response.write(body, () => response.destroy());
    });
    expect(await faultOf(kraken())).toBe('interrupted');
    feed.respond(answer('application/json', Buffer.from(body.replace('USDTZUSD', '\u00ff'), 'latin1')));
    expect(await faultOf(kraken())).toBe('malformed');
  });

  it('never repeats upstream text or the address in its message', async () => {
    feed.respond(answer('application/json', '{"error":["db password is hunter2"]}'));
    const error = await kraken({ url: `${feed.url}?key=topsecret` })
      .fetch(idle)
      .catch((caught: unknown) => caught);
    expect((error as Error).message).toBe('rate source kraken reported an error of its own');
  });
});
