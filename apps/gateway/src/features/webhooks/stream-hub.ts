import type { Database } from '../../db/database.ts';
import type { Listener } from '../../db/listener.ts';
import type { Principals } from '../../http/principals.ts';
import { createStreamHub as createHub, type StreamHub } from '../../lib/stream-hub.ts';
import { latestCursor, readEvents } from './event-stream.ts';

export type { StreamHub } from '../../lib/stream-hub.ts';

/** Partners' events, as they happen. */
export function createStreamHub(tools: {
  readonly db: Database;
  readonly listener: Listener;
  readonly principals: Principals;
}): StreamHub {
  const hub = createHub({
    latest: (partnerId) => latestCursor(tools.db, partnerId),
    async read(partnerId, after, limit) {
      const events = await readEvents(tools.db, partnerId, after, limit);
      return events.map(({ cursor, event_type, body }) => ({ cursor, event: event_type, data: body }));
    },
    async isStillValid(partnerId, apiKey) {
      const principal = await tools.principals.find(apiKey);
      return principal?.kind === 'partner' && principal.partnerId === partnerId;
    },
  });
  tools.listener.on('events_written', (partnerId) => hub.wake(partnerId));
  // Whatever was announced while nobody listened was missed.
  tools.listener.onConnected(() => hub.wake());
  return hub;
}
