import { coalesce } from '../lib/coalesce.ts';
import type { Announcement } from './statement.ts';

/**
 * Tells every process what was committed, after it was. A NOTIFY inside the writing transaction would hold PostgreSQL's
 * one notification lock until that transaction is on disk, so that no two commits could share a flush. The first goes out at
 * once; what is announced while it is under way, or in the moment after it, goes out together.
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

export function createAnnouncer(
  send: (channels: readonly string[], payloads: readonly string[]) => Promise<unknown>,
  apartMs = APART_MS,
): Announcer {
  let waiting = new Map<string, Announcement>();
  let sending: Promise<void> | undefined;

  const sendAll = coalesce(async () => {
    const news = [...waiting.values()];
    waiting = new Map();
    await send(
      news.map(({ channel }) => channel),
      news.map(({ payload }) => payload),
    ).catch(() => {
      // Counted where it is sent; the listeners' own looking makes up for it.
    });
  }, apartMs);

  return {
    announce(news) {
      if (news.length === 0) return;
      for (const item of news) waiting.set(`${item.channel} ${item.payload}`, item);
      sending = sendAll();
    },
    async settled() {
      await sending;
    },
  };
}
