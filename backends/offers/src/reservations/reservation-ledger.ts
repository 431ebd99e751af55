import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { formatShortest, parseDecimal } from '@causeway/protocol';
import type { Offer, OfferBook } from '../book/index.ts';
import { atScale, CRYPTO_SCALE } from '../book/offer-terms.ts';

/** What gateways have reserved of offers' balances. A reservation is known by the id its gateway gave it. */
export type ReservationEvent =
  | {
      readonly event: 'reserved';
      readonly reservation_id: string;
      readonly offer_id: string;
      readonly version: number;
      readonly crypto: string;
    }
  | { readonly event: 'released' | 'consumed'; readonly reservation_id: string };

export type ReservationEnd = 'released' | 'consumed';

interface Reservation {
  readonly offerId: string;
  /** At CRYPTO_SCALE. */
  readonly crypto: bigint;
  readonly state: 'reserved' | ReservationEnd;
  /** Of the row whose balance it was taken from; a newer row states a balance of its own. */
  readonly version: number;
}

/** A reservation that was asked for with other figures before. */
export class ReservationConflictError extends Error {
  override readonly name = 'ReservationConflictError';
}

/** Ended reservations are kept, so that a request that was delayed on its way does not reserve again what was released. */
const MOST_ENDED = 100_000;

export class ReservationLedger {
  readonly #reservations = new Map<string, Reservation>();
  readonly #ended: string[] = [];
  /** What is reserved of each offer, and what is gone for good of each version of it. */
  readonly #reserved = new Map<string, bigint>();
  readonly #consumed = new Map<string, bigint>();
  readonly #file: number | undefined;
  #applied: { readonly to: OfferBook; readonly book: OfferBook } | undefined;

  /** With a file, every event is on disk before it is answered, and is read again at the next start. */
  constructor(file?: string) {
    if (file === undefined) return;
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    for (const line of lines) if (line !== '') this.#replay(JSON.parse(line) as ReservationEvent);
    this.#file = openSync(file, 'a');
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }

  /** Takes crypto off what an offer has left. The same again answers the same and takes nothing more. */
  reserve(rows: OfferBook, reservationId: string, offerId: string, crypto: string): boolean {
    const amount = readCrypto(crypto);
    if (amount === null || amount === 0n)
      throw new ReservationConflictError('crypto is not an amount above zero');
    const known = this.#reservations.get(reservationId);
    if (known === NEVER_RESERVED) return false;
    if (known !== undefined) {
      if (known.offerId !== offerId || known.crypto !== amount) {
        throw new ReservationConflictError('this reservation was asked for with other figures');
      }
      return known.state === 'reserved';
    }
    const offer = rows.eligibleOffer(offerId)?.offer;
    if (offer === undefined || this.#left(offer) < amount) return false;
    const { version } = offer;
    this.#write({ event: 'reserved', reservation_id: reservationId, offer_id: offerId, version, crypto });
    this.#take(reservationId, { offerId, crypto: amount, state: 'reserved', version });
    return true;
  }

  /** Ends a reservation: released, its crypto is the offer's again; consumed, it is gone for good. False where it ended otherwise. */
  end(reservationId: string, how: ReservationEnd): boolean {
    const known = this.#reservations.get(reservationId);
    if (known !== undefined && known.state !== 'reserved') return known.state === how;
    // Nothing was reserved that could be consumed; released before it was reserved, it never will be.
    if (known === undefined && how === 'consumed') return false;
    this.#write({ event: how, reservation_id: reservationId });
    this.#end(reservationId, how);
    return true;
  }

  /** The rows with what is left of each balance. */
  apply(rows: OfferBook): OfferBook {
    if (this.#applied?.to === rows) return this.#applied.book;
    const offers = [...this.#reserved.keys()].flatMap((offerId) => {
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
    return (this.#reserved.get(offerId) ?? 0n) + (this.#consumed.get(`${offerId}/${version}`) ?? 0n);
  }

  #take(reservationId: string, reservation: Reservation): void {
    this.#reservations.set(reservationId, reservation);
    add(this.#reserved, reservation.offerId, reservation.crypto);
    this.#applied = undefined;
  }

  #end(reservationId: string, how: ReservationEnd): void {
    const known = this.#reservations.get(reservationId);
    if (known !== undefined) {
      add(this.#reserved, known.offerId, -known.crypto);
      if (how === 'consumed') add(this.#consumed, `${known.offerId}/${known.version}`, known.crypto);
    }
    this.#reservations.set(reservationId, known === undefined ? NEVER_RESERVED : { ...known, state: how });
    this.#ended.push(reservationId);
    if (this.#ended.length > MOST_ENDED) this.#reservations.delete(this.#ended.shift() as string);
    this.#applied = undefined;
  }

  #replay(event: ReservationEvent): void {
    if (event.event !== 'reserved') {
      this.#end(event.reservation_id, event.event);
      return;
    }
    const { offer_id: offerId, version } = event;
    this.#take(event.reservation_id, {
      offerId,
      crypto: readCrypto(event.crypto) ?? 0n,
      state: 'reserved',
      version,
    });
  }

  #write(event: ReservationEvent): void {
    if (this.#file === undefined) return;
    writeSync(this.#file, `${JSON.stringify(event)}\n`);
    fsyncSync(this.#file);
  }
}

const NEVER_RESERVED: Reservation = { offerId: '', crypto: 0n, state: 'released', version: 0 };

function add(sums: Map<string, bigint>, key: string, amount: bigint): void {
  sums.set(key, (sums.get(key) ?? 0n) + amount);
}

function readCrypto(text: string): bigint | null {
  const decimal = parseDecimal(text);
  return decimal.ok ? atScale(decimal.value, CRYPTO_SCALE) : null;
}
