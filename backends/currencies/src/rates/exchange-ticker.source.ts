import { isJsonObject, type JsonText, parseJsonText, readFeed, textAt, valueAt } from './feed-request.ts';
import { type RejectionListener, usableQuotes } from './quote-screen.ts';
import { type Clock, type Quote, RateFeedError, type RateSource } from './rate-source.port.ts';
import { compare, deviatesBeyond, formatRate, midpoint, parseRate } from './ratio.ts';

/** `symbol` is the key under `result`, which is not always the name asked for: USDTUSD comes back as USDTZUSD. */
export interface TickerPair {
  readonly symbol: string;
  readonly base: string;
  readonly quote: string;
}

export interface ExchangeTickerOptions {
  readonly clock: Clock;
  readonly name?: string;
  readonly url?: string;
  readonly pairs?: readonly TickerPair[];
  /** A book with a wider gap between bid and ask says nothing about the price. Millionths of the bid. */
  readonly maxSpreadPpm?: bigint;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly onRejected?: RejectionListener;
}

export const KRAKEN_TICKER_URL = 'https://api.kraken.com/0/public/Ticker?pair=USDCUSD,USDTUSD';

/** USDT0 is USDT bridged one to one and is not listed on its own: it follows the price of USDT. */
export const KRAKEN_STABLECOIN_PAIRS: readonly TickerPair[] = [
  { symbol: 'USDCUSD', base: 'USDC', quote: 'USD' },
  { symbol: 'USDTZUSD', base: 'USDT', quote: 'USD' },
  { symbol: 'USDTZUSD', base: 'USDT0', quote: 'USD' },
];

const DEFAULT_MAX_SPREAD_PPM = 10_000n;

/** Best bid and ask in the format of Kraken's public `Ticker`; the rate is the exact middle of the two. */
export function createExchangeTickerSource(options: ExchangeTickerOptions): RateSource {
  const name = options.name ?? 'kraken';
  const pairs = options.pairs ?? KRAKEN_STABLECOIN_PAIRS;
  const maxSpreadPpm = options.maxSpreadPpm ?? DEFAULT_MAX_SPREAD_PPM;
  const request = {
    source: name,
    url: options.url ?? KRAKEN_TICKER_URL,
    contentTypes: ['application/json'],
    timeoutMs: options.timeoutMs ?? 5_000,
    maxBytes: options.maxBytes ?? 1_048_576,
  };
  return {
    name,
    kind: 'ticker',
    async fetch(signal) {
      const answer = parseJsonText(name, await readFeed(request, signal));
      // The answer carries no time of its own.
      const observedAt = options.clock.now();
      const quotes = readTicker(name, answer, pairs, maxSpreadPpm, observedAt);
      return usableQuotes(name, quotes, options.onRejected);
    },
  };
}

function readTicker(
  source: string,
  answer: JsonText,
  pairs: readonly TickerPair[],
  maxSpreadPpm: bigint,
  observedAt: number,
): Quote[] {
  const errors = valueAt(answer, ['error']);
  if (!Array.isArray(errors)) throw new RateFeedError(source, 'malformed');
  if (errors.length > 0) throw new RateFeedError(source, 'upstream-error');
  const result = valueAt(answer, ['result']);
  if (!isJsonObject(result)) throw new RateFeedError(source, 'malformed');
  const quotes: Quote[] = [];
  for (const { symbol, base, quote } of pairs) {
    const ticker = valueAt(result, [symbol]);
    if (ticker !== undefined) quotes.push({ base, quote, rate: middleOf(ticker, maxSpreadPpm), observedAt });
  }
  return quotes;
}

/** The middle as text, or a text that the screening refuses and reports: an unsound book is not silently left out. */
function middleOf(ticker: JsonText, maxSpreadPpm: bigint): string {
  const bid = parseRate(textAt(ticker, ['b', '0']) ?? '');
  const ask = parseRate(textAt(ticker, ['a', '0']) ?? '');
  if (bid === undefined || ask === undefined) return 'no two-sided price';
  if (compare(ask, bid) < 0) return 'crossed book';
  if (deviatesBeyond(ask, bid, maxSpreadPpm)) return 'spread too wide';
  return formatRate(midpoint(bid, ask));
}
