import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { formatShortest, parseDecimal } from '@causeway/protocol';
import type { Offer, OfferBook } from '../book/index.ts';
import { atScale, CRYPTO_SCALE } from '../book/scales.ts';

/** What gateways have reserved of offers' balances. A hold is known by the id its gateway gave it. */
export type HoldEvent =
  | {
      readonly event: 'held';
      readonly hold_id: string;
      readonly offer_id: string;
      readonly version: number;
      readonly crypto: string;
    }
  | { readonly event: 'released' | 'consumed'; readonly hold_id: string };

export type HoldEnd = 'released' | 'consumed';

interface Hold {
  readonly offerId: string;
  /** At CRYPTO_SCALE. */
  readonly crypto: bigint;
  readonly state: 'held' | HoldEnd;
  /** Of the row whose balance it was taken from; a newer row states a balance of its own. */
  readonly version: number;
}

/** A hold that was asked for with other figures before. */
export class HoldConflictError extends Error {
  override readonly name = 'HoldConflictError';
}

/** Ended holds are remembered, so that a request that was delayed on its way does not hold again what was let go. */
const MOST_ENDED = 100_000;

export class HoldLedger {
  readonly #holds = new Map<string, Hold>();
  readonly #ended: string[] = [];
  /** What is held of each offer, and what is gone for good of each version of it. */
  readonly #held = new Map<string, bigint>();
  readonly #consumed = new Map<string, bigint>();
  readonly #file: number | undefined;
  #applied: { readonly to: OfferBook; readonly book: OfferBook } | undefined;

  /** With a file, every event is on disk before it is answered, and is read again at the next start. */
  constructor(file?: string) {
    if (file === undefined) return;
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    for (const line of lines) if (line !== '') this.#replay(JSON.parse(line) as HoldEvent);
    this.#file = openSync(file, 'a');
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  /** Takes crypto off what an offer has left. The same again answers the same and takes nothing more. */
  hold(rows: OfferBook, holdId: string, offerId: string, crypto: string): boolean {
    const amount = readCrypto(crypto);
    if (amount === null || amount === 0n) throw new HoldConflictError('crypto is not an amount above zero');
    const known = this.#holds.get(holdId);
    if (known === NEVER_HELD) return false;
    if (known !== undefined) {
      if (known.offerId !== offerId || known.crypto !== amount) {
        throw new HoldConflictError('this hold was asked for with other figures');
      }
      return known.state === 'held';
    }
    const offer = rows.eligibleOffer(offerId)?.offer;
    if (offer === undefined || this.#left(offer) < amount) return false;
    const { version } = offer;
    this.#write({ event: 'held', hold_id: holdId, offer_id: offerId, version, crypto });
    this.#take(holdId, { offerId, crypto: amount, state: 'held', version });
    return true;
  }

  /** Ends a hold: released, its crypto is the offer's again; consumed, it is gone for good. False where it ended otherwise. */
  end(holdId: string, how: HoldEnd): boolean {
    const known = this.#holds.get(holdId);
    if (known !== undefined && known.state !== 'held') return known.state === how;
    // Nothing was held that could be consumed; released before it was held, it never will be.
    if (known === undefined && how === 'consumed') return false;
    this.#write({ event: how, hold_id: holdId });
    this.#end(holdId, how);
    return true;
  }

  /** The rows with what is left of each balance. */
  apply(rows: OfferBook): OfferBook {
    if (this.#applied?.to === rows) return this.#applied.book;
    const offers = [...this.#held.keys()].flatMap((offerId) => {
      const offer = rows.offer(offerId);
      if (offer === undefined || this.#taken(offer) === 0n) return [];
      const left = this.#left(offer);
      return [{ ...offer, availableBalance: formatShortest(left < 0n ? 0n : left, CRYPTO_SCALE) }];
    });
    const book = offers.length === 0 ? rows : rows.withChanged({ offers });
    this.#applied = { to: rows, book };
    return book;
  }

  #left(offer: Offer): bigint {
    return (readCrypto(offer.availableBalance) ?? 0n) - this.#taken(offer);
  }

  #taken({ offerId, version }: Offer): bigint {
    return (this.#held.get(offerId) ?? 0n) + (this.#consumed.get(`${offerId}/${version}`) ?? 0n);
  }

  #take(holdId: string, hold: Hold): void {
    this.#holds.set(holdId, hold);
    add(this.#held, hold.offerId, hold.crypto);
    this.#applied = undefined;
  }

  #end(holdId: string, how: HoldEnd): void {
    const known = this.#holds.get(holdId);
    if (known !== undefined) {
      add(this.#held, known.offerId, -known.crypto);
      if (how === 'consumed') add(this.#consumed, `${known.offerId}/${known.version}`, known.crypto);
    }
    this.#holds.set(holdId, known === undefined ? NEVER_HELD : { ...known, state: how });
    this.#ended.push(holdId);
    if (this.#ended.length > MOST_ENDED) this.#holds.delete(this.#ended.shift() as string);
    this.#applied = undefined;
  }

  #replay(event: HoldEvent): void {
    if (event.event !== 'held') {
      this.#end(event.hold_id, event.event);
      return;
    }
    const { offer_id: offerId, version } = event;
    this.#take(event.hold_id, { offerId, crypto: readCrypto(event.crypto) ?? 0n, state: 'held', version });
  }

  #write(event: HoldEvent): void {
    if (this.#file === undefined) return;
    writeSync(this.#file, `${JSON.stringify(event)}\n`);
    fsyncSync(this.#file);
  }
}

const NEVER_HELD: Hold = { offerId: '', crypto: 0n, state: 'released', version: 0 };

function add(sums: Map<string, bigint>, key: string, amount: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}

function readCrypto(text: string): bigint | null {
  const decimal = parseDecimal(text);
  return decimal.ok ? atScale(decimal.value, CRYPTO_SCALE) : null;
}
