import { Agent, request } from 'undici';
import { type Database, SYSTEM } from '../../db/database.ts';
import { newId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logger.ts';
import type { OfferHolds } from '../../ports/offers.ts';
import {
  endingRemoteHolds,
  endRemoteHold,
  forgetRemoteHold,
  giveUpRemoteHold,
  markFinishedRemoteHolds,
  markFinishedRemoteHoldsOfQuotes,
  openRemoteHold,
  type RemoteHoldEnd,
} from './offers.store.ts';

export interface RemoteHoldsOptions {
  readonly db: Database;
  /** Without a slash at its end. */
  readonly baseUrl: string;
  readonly logger: Logger;
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 2_000;
const MAX_BYTES = 64 * 1_024;

/**
 * Holds at an offers backend of its own. Each is written down under an id of ours before the backend hears of it, and the
 * backend does the same thing once for one id. Where no answer comes, the hold does not count and is ended at the backend
 * until that has confirmed it; the backend then refuses the first request, should it still be on its way.
 */
export function createRemoteHolds(options: RemoteHoldsOptions): OfferHolds & { close(): Promise<void> } {
  const { db, baseUrl, logger, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const agent = new Agent({ connect: { timeout: timeoutMs }, maxResponseSize: MAX_BYTES });

  async function post(path: string, body: object): Promise<{ status: number; body: unknown }> {
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
    return { status: response.statusCode, body: response.statusCode === 200 ? JSON.parse(text) : undefined };
  }

  /** Undefined where nobody can say. */
  async function ask(holdId: string, offerId: string, crypto: string): Promise<boolean | undefined> {
    try {
      const { status, body } = await post('/holds', { hold_id: holdId, offer_id: offerId, crypto });
      const held = (body as { held?: unknown } | undefined)?.held;
      if (status === 200 && typeof held === 'boolean') return held;
      logger.error({ status, hold_id: holdId }, 'the offers backend did not say whether it holds');
    } catch (error) {
      logger.error({ err: error, hold_id: holdId }, 'the offers backend did not say whether it holds');
    }
    return undefined;
  }

  /** Told as often as it takes. That it ended otherwise is the backend's last word too. */
  async function tellEnd(holdId: string, ending: RemoteHoldEnd): Promise<boolean> {
    try {
      const { status } = await post(`/holds/${holdId}/${ending}`, {});
      if (status !== 200 && status !== 409) throw new Error(`the offers backend answered ${status}`);
      if (status === 409) logger.error({ hold_id: holdId, ending }, 'the hold has ended otherwise');
    } catch (error) {
      logger.warn({ err: error, hold_id: holdId, ending }, 'ending a hold at the offers backend failed');
      return false;
    }
    await db.query(SYSTEM, forgetRemoteHold, [holdId]);
    return true;
  }

  async function end(quoteId: string, offerId: string, ending: RemoteHoldEnd): Promise<void> {
    const [hold] = await db.query(SYSTEM, endRemoteHold, [quoteId, offerId, ending]);
    if (hold !== undefined) await tellEnd(hold.hold_id, ending);
  }

  return {
    async hold(quoteId, offerId, crypto) {
      const [opened] = await db.query(SYSTEM, openRemoteHold, [newId(), quoteId, offerId, crypto]);
      if (opened === undefined) throw new Error('the hold was not written');
      const held = await ask(opened.hold_id, offerId, opened.crypto);
      if (held === true) return true;
      if (held === false) await db.query(SYSTEM, forgetRemoteHold, [opened.hold_id]);
      else await db.query(SYSTEM, giveUpRemoteHold, [opened.hold_id]);
      return false;
    },
    release: (quoteId, offerId) => end(quoteId, offerId, 'release'),
    consume: (quoteId, offerId) => end(quoteId, offerId, 'consume'),
    async endFinished({ settled, stopped, forgottenAfterMs, limit, quoteIds }) {
      if (quoteIds === undefined) {
        await db.query(SYSTEM, markFinishedRemoteHolds, [settled, stopped, forgottenAfterMs, limit]);
      } else {
        await db.query(SYSTEM, markFinishedRemoteHoldsOfQuotes, [
          settled,
          stopped,
          forgottenAfterMs,
          limit,
          quoteIds,
        ]);
      }
      let ended = 0;
      for (const { hold_id, ending } of await db.query(SYSTEM, endingRemoteHolds, [limit])) {
        // One that the backend does not answer about keeps the others waiting for the next turn only.
        if (!(await tellEnd(hold_id, ending))) break;
        ended++;
      }
      return ended;
    },
    close: () => agent.destroy(),
  };
}
