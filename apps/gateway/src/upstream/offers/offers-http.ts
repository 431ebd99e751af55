import { OfferBook, type OfferRows, parseWireRows } from '@causeway/offers';
import { Agent, request } from 'undici';
import type { Logger } from '../../lib/logger.ts';
import { type OfferBooks, offersUnavailable } from '../../ports/offers.ts';

export interface HttpOffersOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly logger: Logger;
  /** Machine time. */
  readonly wall: () => number;
  /**
   * The vendors this gateway can settle with: it has to know their wallets. Offers of others are left out. Asked with
   * every new snapshot.
   */
  readonly knownVendorIds?: () => Promise<ReadonlySet<string>>;
  readonly pollMs?: number;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  readonly maxAgeMs?: number;
}

const DEFAULT_POLL_MS = 500;
const DEFAULT_TIMEOUT_MS = 2_000;
const DEFAULT_MAX_BYTES = 64 * 1_024 * 1_024;
/** Offers that nobody has confirmed for so long are not quoted any more. */
const DEFAULT_MAX_AGE_MS = 60_000;

/**
 * An offers backend of its own, reached over HTTP and asked twice a second. While it is slow, down or talks nonsense the
 * last good book stays in use until it is too old to be honest; its texts go to the log and nowhere else.
 */
export function createHttpOffers(options: HttpOffersOptions): OfferBooks {
  const { logger, wall } = options;
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const maxAgeMs = options.maxAgeMs ?? DEFAULT_MAX_AGE_MS;
  const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  const agent = new Agent({ connections: 1, connect: { timeout: timeoutMs }, maxResponseSize: maxBytes });
  const stopping = new AbortController();
  const reactions: (() => void)[] = [];
  let book: OfferBook | undefined;
  let etag: string | undefined;
  let confirmedAt = 0;
  let failing = false;
  let timer: NodeJS.Timeout | undefined;
  let polling: Promise<void> = Promise.resolve();

  async function pull(): Promise<void> {
    const response = await request(`${options.baseUrl}/snapshot`, {
      dispatcher: agent,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      // The whole call, however slowly the bytes come.
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutMs)]),
      headers: { accept: 'application/json', ...(etag === undefined ? {} : { 'if-none-match': etag }) },
    });
    if (response.statusCode === 304 && book !== undefined) {
      await response.body.dump();
      confirmedAt = wall();
      return;
    }
    if (response.statusCode !== 200) {
      await response.body.dump();
      throw new Error(`the offers backend answered ${response.statusCode}`);
    }
    const rows = await settleable(parseWireRows(await response.body.json()));
    confirmedAt = wall();
    etag = typeof response.headers.etag === 'string' ? response.headers.etag : undefined;
    book = OfferBook.of(rows);
    const problems = book.problems();
    if (problems.length > 0) logger.warn({ problems }, 'offers that cannot be used');
    for (const react of reactions) react();
  }

  async function settleable(rows: OfferRows): Promise<OfferRows> {
    const known = await options.knownVendorIds?.();
    if (known === undefined) return rows;
    const strangers = rows.vendors.filter(({ vendorId }) => !known.has(vendorId)).map(({ name }) => name);
    if (strangers.length > 0) logger.warn({ vendors: strangers }, 'vendors that this gateway does not know');
    return {
      vendors: rows.vendors.filter(({ vendorId }) => known.has(vendorId)),
      offers: rows.offers.filter(({ vendorId }) => known.has(vendorId)),
    };
  }

  async function poll(): Promise<void> {
    try {
      await pull();
      if (failing) logger.info('the offers backend answers again');
      failing = false;
    } catch (error) {
      if (stopping.signal.aborted) return;
      // Once for each outage, not twice a second.
      if (!failing) logger.error({ err: error }, 'the offers backend failed; the last book stays in use');
      failing = true;
    }
  }

  function schedule(): void {
    if (stopping.signal.aborted) return;
    timer = setTimeout(() => {
      polling = poll().finally(schedule);
    }, options.pollMs ?? DEFAULT_POLL_MS);
    timer.unref();
  }

  return {
    book() {
      if (book === undefined || wall() - confirmedAt > maxAgeMs) throw offersUnavailable();
      return book;
    },
    onChange(react) {
      reactions.push(react);
    },
    async start() {
      polling = poll();
      await polling;
      schedule();
    },
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await polling;
      await agent.destroy();
    },
  };
}
