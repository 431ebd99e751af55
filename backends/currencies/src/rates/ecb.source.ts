import { readFeed, type XmlElement } from './feed-request.ts';
import { ECB_FIXING_OF_DAY_MS } from './freshness.ts';
import { type RejectionListener, usableQuotes } from './quote-screen.ts';
import { type Quote, RateFeedError, type RateSource } from './rate-source.port.ts';

export interface EcbSourceOptions {
  readonly name?: string;
  readonly url?: string;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly onRejected?: RejectionListener;
}

export const ECB_DAILY_URL = 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml';

const ISO_DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The euro reference rates of the European Central Bank: one euro in some thirty currencies, once a working day. */
export function createEcbSource(options: EcbSourceOptions = {}): RateSource {
  const name = options.name ?? 'ecb';
  const request = {
    source: name,
    url: options.url ?? ECB_DAILY_URL,
    contentTypes: ['text/xml', 'application/xml'],
    timeoutMs: options.timeoutMs ?? 10_000,
    maxBytes: options.maxBytes ?? 262_144,
  };
  return {
    name,
    kind: 'daily-reference',
    async fetch(signal) {
      const text = await readFeed(request, signal);
      return usableQuotes(name, await readReferenceRates(name, text), options.onRejected);
    },
  };
}

/** Rates stay the text they are in the document. Of a document with several days only the newest counts. */
export async function readReferenceRates(source: string, text: string): Promise<Quote[]> {
  const days = new Map<string, Quote[]>();
  let current: Quote[] | undefined;
  let observedAt = 0;
  for (const element of await parse(source, text)) {
    const { time, currency, rate } = element.attributes;
    if (time !== undefined) {
      observedAt = fixingTime(source, time);
      current = days.get(time) ?? [];
      days.set(time, current);
    } else if (currency !== undefined && rate !== undefined) {
      if (current === undefined) throw new RateFeedError(source, 'malformed');
      current.push({ base: 'EUR', quote: currency, rate, observedAt });
    }
  }
  const newest = [...days.keys()].sort().at(-1);
  if (newest === undefined) throw new RateFeedError(source, 'malformed');
  return days.get(newest) ?? [];
}

async function parse(source: string, text: string): Promise<XmlElement[]> {
  // Loaded with the first document: a deployment without this source does not need the parser.
  const { listElements } = await import('./feed-request.ts');
  try {
    return listElements(text).filter(({ name }) => name === 'Cube');
  } catch (cause) {
    throw new RateFeedError(source, 'malformed', cause);
  }
}

function fixingTime(source: string, date: string): number {
  const midnight = ISO_DATE.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(midnight)) throw new RateFeedError(source, 'malformed');
  return midnight + ECB_FIXING_OF_DAY_MS;
}
