import { coalesce } from '../lib/coalesce.ts';
import type { Announcement } from './statement.ts';

/**
 * Tells every process what was committed, after it was. A NOTIFY inside the writing transaction would hold PostgreSQL's
 * one notification lock until that transaction is on disk, so that no two commits could share a flush. The first goes out at
 * once; what is announced while it is under way, or in the moment after it, goes out together. The moment is longer where all of
 * it can wait: each announcement costs as much as a statement of a request, and wakes every process that listens.
 *
 * An announcement that is lost, because its process ended between commit and telling, only makes others late: a process that
 * listens also looks from time to time.
 */
export interface Announcer {
  announce(news: readonly Announcement[]): void;
  /** Settles when everything announced so far is sent. */
  settled(): Promise<void>;
}

const APART_MS = 20;
/** Where all that is to be told can wait. */
const APART_WHERE_IT_CAN_WAIT_MS = 100;

export function createAnnouncer(
  send: (channels: readonly string[], payloads: readonly string[]) => Promise<unknown>,
  apartMs = APART_MS,
  apartWhereItCanWaitMs = APART_WHERE_IT_CAN_WAIT_MS,
): Announcer {
  let waiting = new Map<string, Announcement>();
  let sendingSoon: Promise<void> | undefined;
  let sendingLater: Promise<void> | undefined;

  async function sendAll(): Promise<void> {
    if (waiting.size === 0) return;
    const news = [...waiting.values()];
    waiting = new Map();
    await send(
      news.map(({ channel }) => channel),
      news.map(({ payload }) => payload),
    ).catch(() => {
      // Counted where it is sent; the listeners' own looking makes up for it.
    });
  }

  const soon = coalesce(sendAll, apartMs);
  const later = coalesce(sendAll, apartWhereItCanWaitMs);

  return {
    announce(news) {
      if (news.length === 0) return;
      for (const item of news) waiting.set(`${item.channel} ${item.payload}`, item);
      if (news.every(({ canWait }) => canWait)) sendingLater = later();
      else sendingSoon = soon();
    },
    async settled() {
      await sendingSoon;
      await sendingLater;
    },
  };
}
