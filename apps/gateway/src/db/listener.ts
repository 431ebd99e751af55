import pg from 'pg';

/**
 * One connection that listens for notifications. Snapshots (keys, reference data, the clock) are kept in
 * memory and refreshed on a notification; `healthy` tells whether a missed one is possible, in which case
 * readers must ask the database instead of trusting memory.
 */
export interface Listener {
  readonly healthy: boolean;
  /** Settles when nothing announced from now on is missed; before `start` that is `onConnected`'s to tell. */
  on(channel: string, react: (payload: string) => void): Promise<void>;
  /** Runs after every (re)connection: whatever was announced meanwhile was missed. */
  onConnected(react: () => void): void;
  start(): Promise<void>;
  close(): Promise<void>;
}

const RECONNECT_DELAY_MS = 250;
const PING_INTERVAL_MS = 500;
const PING_TIMEOUT_MS = 400;

export function createListener(connectionString: string, onError: (error: unknown) => void): Listener {
  const reactions = new Map<string, ((payload: string) => void)[]>();
  const connectedReactions: (() => void)[] = [];
  let client: pg.Client | undefined;
  let healthy = false;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;
  let ping: NodeJS.Timeout | undefined;
  let lastQuery: Promise<unknown> = Promise.resolve();

  /** One statement at a time, as the driver wants it. */
  function ask(current: pg.Client, text: string): Promise<unknown> {
    const answer = lastQuery.then(() => current.query(text));
    lastQuery = answer.catch(() => {});
    return answer;
  }

  async function connect(): Promise<void> {
    const next = await openConnection(connectionString, reactions, lost);
    if (closed) {
      await next.end();
      return;
    }
    // Only now is it the one that counts: a connection that fails half-way is retried by its caller alone.
    client = next;
    healthy = true;
    for (const react of connectedReactions) react();
  }

  function lost(which: pg.Client, error: unknown): void {
    if (which !== client || closed) return;
    client = undefined;
    healthy = false;
    if (error) onError(error);
    void which.end().catch(() => {});
    scheduleReconnect();
  }

  function scheduleReconnect(): void {
    if (closed) return;
    retry = setTimeout(() => {
      connect().catch((error) => {
        onError(error);
        scheduleReconnect();
      });
    }, RECONNECT_DELAY_MS);
    retry.unref();
  }

  return {
    get healthy() {
      return healthy;
    },
    async on(channel, react) {
      const list = reactions.get(channel) ?? [];
      list.push(react);
      reactions.set(channel, list);
      if (client) await ask(client, listenTo(channel)).catch(onError);
    },
    onConnected(react) {
      connectedReactions.push(react);
    },
    async start() {
      await connect();
      ping = setInterval(() => {
        if (client) pingOnce(client, ask, lost);
      }, PING_INTERVAL_MS);
      ping.unref();
    },
    async close() {
      closed = true;
      healthy = false;
      clearTimeout(retry);
      clearInterval(ping);
      await client?.end().catch(() => {});
    },
  };
}

type OnLost = (which: pg.Client, error: unknown) => void;

/** A connection that listens to every channel that has a reaction by now. */
async function openConnection(
  connectionString: string,
  reactions: ReadonlyMap<string, readonly ((payload: string) => void)[]>,
  onLost: OnLost,
): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString,
    application_name: 'causeway-listener',
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  client.on('notification', ({ channel, payload }) => {
    for (const react of reactions.get(channel) ?? []) react(payload ?? '');
  });
  client.on('error', (error) => onLost(client, error));
  client.on('end', () => onLost(client, undefined));
  try {
    await client.connect();
    for (const channel of reactions.keys()) await client.query(listenTo(channel));
    return client;
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
}

function listenTo(channel: string): string {
  return `LISTEN ${pg.escapeIdentifier(channel)}`;
}

// A connection can die without a word (a cable, a firewall). An unanswered ping makes it unhealthy
// long before TCP would notice, so revocations are still seen within a second.
function pingOnce(
  client: pg.Client,
  ask: (client: pg.Client, text: string) => Promise<unknown>,
  onLost: OnLost,
): void {
  const timer = setTimeout(() => onLost(client, new Error('listener ping timed out')), PING_TIMEOUT_MS);
  ask(client, 'SELECT 1').then(
    () => clearTimeout(timer),
    (error) => {
      clearTimeout(timer);
      onLost(client, error);
    },
  );
}
