import { type Quote, RateFeedError } from './rate-source.port.ts';
import { isPlausible, parseRate } from './ratio.ts';

export type QuoteFault =
  | 'bad-code'
  | 'same-code'
  | 'bad-rate'
  | 'implausible-rate'
  | 'bad-time'
  | 'conflicting-duplicate';

export interface RejectedQuote {
  readonly base: string;
  readonly quote: string;
  readonly fault: QuoteFault;
}

export type RejectionListener = (source: string, rejected: readonly RejectedQuote[]) => void;

const CURRENCY_CODE = /^[A-Z][A-Z0-9]{2,9}$/;
/** Rejected codes are shown to operators: whatever an upstream put there is cut short. */
const SHOWN_CODE_LENGTH = 12;
const LATEST_TIME_MS = 8_640_000_000_000_000;

export function isCurrencyCode(code: string): boolean {
  return CURRENCY_CODE.test(code);
}

/**
 * Nothing a feed says is usable until it went through here. One bad entry costs that entry only. Two entries for the
 * same pair that disagree cost both, because nothing tells which of them is right.
 */
export function screenQuotes(quotes: readonly Quote[]): { accepted: Quote[]; rejected: RejectedQuote[] } {
  const accepted = new Map<string, Quote>();
  const conflicting = new Set<string>();
  const rejected: RejectedQuote[] = [];
  for (const quote of quotes) {
    const fault = faultOf(quote);
    if (fault !== undefined) {
      rejected.push(rejection(quote, fault));
      continue;
    }
    const pair = `${quote.base}/${quote.quote}`;
    const earlier = accepted.get(pair);
    if (earlier === undefined && !conflicting.has(pair)) {
      accepted.set(pair, quote);
    } else if (
      earlier === undefined ||
      earlier.rate !== quote.rate ||
      earlier.observedAt !== quote.observedAt
    ) {
      accepted.delete(pair);
      if (!conflicting.has(pair)) rejected.push(rejection(quote, 'conflicting-duplicate'));
      conflicting.add(pair);
    }
  }
  return { accepted: [...accepted.values()], rejected };
}

/** The end of every adapter: what is left after screening, or a failure where nothing is left. */
export function usableQuotes(
  source: string,
  quotes: readonly Quote[],
  onRejected?: RejectionListener,
): Quote[] {
  const { accepted, rejected } = screenQuotes(quotes);
  if (rejected.length > 0) onRejected?.(source, rejected);
  if (accepted.length === 0) throw new RateFeedError(source, 'empty');
  return accepted;
}

function faultOf(quote: Quote): QuoteFault | undefined {
  if (!isCurrencyCode(quote.base) || !isCurrencyCode(quote.quote)) return 'bad-code';
  if (quote.base === quote.quote) return 'same-code';
  const { observedAt } = quote;
  if (!Number.isSafeInteger(observedAt) || observedAt < 0 || observedAt > LATEST_TIME_MS) return 'bad-time';
  const rate = parseRate(quote.rate);
  if (rate === undefined) return 'bad-rate';
  return isPlausible(rate) ? undefined : 'implausible-rate';
}

function rejection(quote: Quote, fault: QuoteFault): RejectedQuote {
  return {
    base: quote.base.slice(0, SHOWN_CODE_LENGTH),
    quote: quote.quote.slice(0, SHOWN_CODE_LENGTH),
    fault,
  };
}
