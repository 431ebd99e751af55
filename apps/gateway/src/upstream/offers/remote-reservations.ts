import { Agent, request } from 'undici';
import { type Database, SYSTEM } from '../../db/database.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logger.ts';
import type { OfferReservations } from '../../ports/offers.ts';
import {
  endingRemoteReservations,
  endRemoteReservation,
  giveUpRemoteReservation,
  markFinishedRemoteReservations,
  markFinishedRemoteReservationsOfQuotes,
  openRemoteReservation,
  purgeRemoteReservation,
  type RemoteReservationEnd,
} from './offers.store.ts';

export interface RemoteReservationsOptions {
  readonly db: Database;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly logger: Logger;
  readonly timeoutMs?: number;
}

/** How the backend took it that a reservation ends. */
type Told = 'confirmed' | 'refused' | 'unheard';

const DEFAULT_TIMEOUT_MS = 2_000;
const MAX_BYTES = 64 * 1_024;

/**
 * Reservations at an offers backend of its own. Each is stored under an id of ours before the backend is asked, and the
 * backend does the same thing once for one id. Where no answer comes, the reservation does not count and is ended at the backend
 * until that has confirmed it; the backend then refuses the first request, should it still be on its way.
 */
export function createRemoteReservations(
  options: RemoteReservationsOptions,
): OfferReservations & { close(): Promise<void> } {
  const { db, logger } = options;
  const { post, close } = backendClient(options);

  /** Undefined where the backend gave no usable answer. */
  async function ask(reservationId: string, offerId: string, crypto: string): Promise<boolean | undefined> {
    try {
      const { status, body } = await post('/reservations', {
        reservation_id: reservationId,
        offer_id: offerId,
        crypto,
      });
      const reserved = (body as { reserved?: unknown } | undefined)?.reserved;
      if (status === 200 && typeof reserved === 'boolean') return reserved;
      logger.error(
        { status, reservation_id: reservationId },
        'the offers backend did not say whether it reserved',
      );
    } catch (error) {
      logger.error(
        { err: error, reservation_id: reservationId },
        'the offers backend did not say whether it reserved',
      );
    }
    return undefined;
  }

  /** Told as often as it takes. That it ended otherwise is the backend's last word too. */
  async function tellEnd(reservationId: string, ending: RemoteReservationEnd): Promise<Told> {
    let status: number;
    try {
      ({ status } = await post(`/reservations/${reservationId}/${ending}`, {}));
    } catch (error) {
      logger.warn(
        { err: error, reservation_id: reservationId, ending },
        'ending a reservation at the offers backend failed',
      );
      return 'unheard';
    }
    if (status !== 200 && status !== 409) {
      logger.error(
        { status, reservation_id: reservationId, ending },
        'the offers backend ends no reservation',
      );
      return 'refused';
    }
    if (status === 409)
      logger.error({ reservation_id: reservationId, ending }, 'the reservation has ended otherwise');
    await db.query(SYSTEM, purgeRemoteReservation, [reservationId]);
    return 'confirmed';
  }

  async function end(quoteId: string, offerId: string, ending: RemoteReservationEnd): Promise<void> {
    const [ended] = await db.query(SYSTEM, endRemoteReservation, [quoteId, offerId, ending]);
    if (ended !== undefined) await tellEnd(ended.reservation_id, ending);
  }

  return {
    async reserve(quoteId, offerId, crypto) {
      const [opened] = await db.query(SYSTEM, openRemoteReservation, [newId(), quoteId, offerId, crypto]);
      if (opened === undefined) throw new Error('the reservation was not written');
      const reserved = await ask(opened.reservation_id, offerId, opened.crypto);
      if (reserved === true) return true;
      if (reserved === false) await db.query(SYSTEM, purgeRemoteReservation, [opened.reservation_id]);
      else await db.query(SYSTEM, giveUpRemoteReservation, [opened.reservation_id]);
      return false;
    },
    release: (quoteId, offerId) => end(quoteId, offerId, 'release'),
    consume: (quoteId, offerId) => end(quoteId, offerId, 'consume'),
    async endFinished({ settled, stopped, abandonedAfterMs, limit, quoteIds }) {
      if (quoteIds === undefined) {
        await db.query(SYSTEM, markFinishedRemoteReservations, [settled, stopped, abandonedAfterMs, limit]);
      } else {
        await db.query(SYSTEM, markFinishedRemoteReservationsOfQuotes, [
          settled,
          stopped,
          abandonedAfterMs,
          quoteIds,
        ]);
      }
      let ended = 0;
      for (const { reservation_id, ending } of await db.query(SYSTEM, endingRemoteReservations, [limit])) {
        const told = await tellEnd(reservation_id, ending);
        // A backend that is away answers about none; one that it refuses to end must not keep the others waiting.
        if (told === 'unheard') break;
        if (told === 'confirmed') ended++;
      }
      return ended;
    },
    close,
  };
}

function backendClient({ baseUrl, timeoutMs = DEFAULT_TIMEOUT_MS }: RemoteReservationsOptions) {
  const agent = new Agent({ connect: { timeout: timeoutMs }, maxResponseSize: MAX_BYTES });
  return {
    close: () => agent.destroy(),
    async post(path: string, body: object): Promise<{ status: number; body: unknown }> {
      const response = await request(`${baseUrl}${path}`, {
        method: 'POST',
        dispatcher: agent,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
        signal: AbortSignal.timeout(timeoutMs),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await response.body.text();
      const isRead = response.statusCode === 200;
      return { status: response.statusCode, body: isRead ? JSON.parse(text) : undefined };
    },
  };
}
