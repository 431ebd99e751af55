import { isJsonObject, type JsonText, parseJsonText, readFeed, textAt, valueAt } from './feed-request.ts';
import { type RejectionListener, usableQuotes } from './quote-screen.ts';
import {
  type Clock,
  type Quote,
  RateFeedError,
  type RateSource,
  type SourceKind,
} from './rate-source.port.ts';
import { expandExponent } from './ratio.ts';

/** Keys from the root of the answer; array positions as digits: `['data', '0', 'price']`. */
export type JsonPath = readonly string[];

export type JsonFeedShape =
  /** `{ "rates": { "NGN": 1540.2, "KES": 129.1 } }`: one fixed currency against many. */
  | {
      readonly kind: 'map';
      readonly path: JsonPath;
      readonly fixed: string;
      /** `fixed-first`: the numbers say what one unit of the fixed currency costs. `fixed-last`: the other way round. */
      readonly direction: 'fixed-first' | 'fixed-last';
    }
  /** `[{ "from": "USD", "to": "NGN", "price": "1540.2" }]`: paths are from the entry. */
  | {
      readonly kind: 'list';
      readonly path: JsonPath;
      readonly base: JsonPath;
      readonly quote: JsonPath;
      readonly rate: JsonPath;
    }
  /** `{ "price": "1.0002" }`: the pair is known beforehand. */
  | { readonly kind: 'single'; readonly rate: JsonPath; readonly base: string; readonly quote: string };

/** Without it a quote counts as observed when it was received, which hides a feed that has stopped moving. */
export interface JsonFeedTime {
  readonly path: JsonPath;
  readonly unit: 'seconds' | 'milliseconds' | 'iso-8601';
}

export interface JsonFeedOptions {
  readonly clock: Clock;
  readonly name: string;
  readonly url: string;
  readonly shape: JsonFeedShape;
  readonly observedAt?: JsonFeedTime;
  readonly kind?: SourceKind;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly onRejected?: RejectionListener;
}

const MAX_ENTRIES = 5_000;
const EPOCH = /^\d{1,16}(?:\.\d{1,9})?$/;
/** A time without a zone would be read in the zone of this machine. */
const ZONED_TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** Any JSON answer that holds rates, described by configuration. */
export function createJsonFeedSource(options: JsonFeedOptions): RateSource {
  const { name, shape } = options;
  const request = {
    source: name,
    url: options.url,
    contentTypes: ['application/json'],
    timeoutMs: options.timeoutMs ?? 5_000,
    maxBytes: options.maxBytes ?? 1_048_576,
    ...(options.headers === undefined ? {} : { headers: options.headers }),
  };
  return {
    name,
    kind: options.kind ?? 'feed',
    async fetch(signal) {
      const answer = parseJsonText(name, await readFeed(request, signal));
      const observedAt =
        options.observedAt === undefined ? options.clock.now() : readTime(name, answer, options.observedAt);
      return usableQuotes(name, readShape(name, answer, shape, observedAt), options.onRejected);
    },
  };
}

function readShape(source: string, answer: JsonText, shape: JsonFeedShape, observedAt: number): Quote[] {
  switch (shape.kind) {
    case 'single':
      return [{ base: shape.base, quote: shape.quote, rate: rateText(answer, shape.rate), observedAt }];
    case 'list': {
      const entries = valueAt(answer, shape.path);
      if (!Array.isArray(entries) || entries.length > MAX_ENTRIES)
        throw new RateFeedError(source, 'malformed');
      return entries.map((entry) => ({
        base: textAt(entry, shape.base) ?? '',
        quote: textAt(entry, shape.quote) ?? '',
        rate: rateText(entry, shape.rate),
        observedAt,
      }));
    }
    case 'map': {
      const rates = valueAt(answer, shape.path);
      if (!isJsonObject(rates)) throw new RateFeedError(source, 'malformed');
      const codes = Object.keys(rates).filter((code) => code !== shape.fixed);
      if (codes.length > MAX_ENTRIES) throw new RateFeedError(source, 'malformed');
      return codes.map((code) => {
        const rate = rateText(rates, [code]);
        return shape.direction === 'fixed-first'
          ? { base: shape.fixed, quote: code, rate, observedAt }
          : { base: code, quote: shape.fixed, rate, observedAt };
      });
    }
  }
}

/** An empty text where there is no rate, which the screening refuses and reports. */
function rateText(root: JsonText, path: JsonPath): string {
  return expandExponent(textAt(root, path) ?? '');
}

function readTime(source: string, answer: JsonText, time: JsonFeedTime): number {
  const text = textAt(answer, time.path) ?? '';
  const parsed = time.unit === 'iso-8601' ? readIsoTime(text) : readEpoch(text, time.unit);
  if (Number.isNaN(parsed)) throw new RateFeedError(source, 'malformed');
  return parsed;
}

function readIsoTime(text: string): number {
  return ZONED_TIME.test(text) ? Date.parse(text) : Number.NaN;
}

function readEpoch(text: string, unit: 'seconds' | 'milliseconds'): number {
  if (!EPOCH.test(text)) return Number.NaN;
  const [whole = '', fraction = ''] = text.split('.');
  if (unit === 'milliseconds') return Number.parseInt(whole, 10);
  return Number.parseInt(whole + fraction.slice(0, 3).padEnd(3, '0'), 10);
}
