import { Agent, request } from 'undici';
import type { Logger } from '../lib/logger.ts';

/**
 * Follows the snapshot of a backend of its own over HTTP. While the backend is slow, down or answers nonsense, the last
 * good snapshot stays in use and grows old; what the backend says goes to the log and nowhere else.
 */
export interface SnapshotClient {
  /** When the backend last confirmed the snapshot in use, in machine time; before the first one, never. */
  confirmedAt(): number;
  /** Ends with the first answer, or the first failure. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface SnapshotClientOptions<Snapshot> {
  /** As it is called in the log. */
  readonly backend: string;
  /** Asked for each time: it may name what is known already. */
  readonly url: () => string;
  readonly logger: Logger;
  /** Machine time. */
  readonly wall: () => number;
  readonly pollMs: number;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** Throws where the answer is no snapshot. */
  readonly read: (body: unknown) => Snapshot | Promise<Snapshot>;
  readonly use: (snapshot: Snapshot) => void;
}

const NEVER = Number.NEGATIVE_INFINITY;

export function createSnapshotClient<Snapshot>(options: SnapshotClientOptions<Snapshot>): SnapshotClient {
  const { backend, logger, wall, timeoutMs } = options;
  const agent = new Agent({
    connections: 1,
    connect: { timeout: timeoutMs },
    maxResponseSize: options.maxBytes,
  });
  const stopping = new AbortController();
  let etag: string | undefined;
  let confirmedAt = NEVER;
  let isFailing = false;
  let timer: NodeJS.Timeout | undefined;
  let polling: Promise<void> = Promise.resolve();

  async function pull(): Promise<void> {
    const response = await request(options.url(), {
      dispatcher: agent,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      // The whole call, however slowly the bytes come.
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutMs)]),
      headers: { accept: 'application/json', ...(etag === undefined ? {} : { 'if-none-match': etag }) },
    });
    if (response.statusCode === 304 && confirmedAt !== NEVER) {
      await response.body.dump();
      confirmedAt = wall();
      return;
    }
    if (response.statusCode !== 200) {
      await response.body.dump();
      throw new Error(`${backend} answered ${response.statusCode}`);
    }
    const snapshot = await options.read(await response.body.json());
    confirmedAt = wall();
    etag = typeof response.headers.etag === 'string' ? response.headers.etag : undefined;
    options.use(snapshot);
  }

  async function poll(): Promise<void> {
    try {
      await pull();
      if (isFailing) logger.info(`${backend} answers again`);
      isFailing = false;
    } catch (error) {
      if (stopping.signal.aborted) return;
      // Once for each outage, not once for each poll.
      if (!isFailing) logger.error({ err: error }, `${backend} failed; the last snapshot stays in use`);
      isFailing = true;
    }
  }

  function schedule(): void {
    if (stopping.signal.aborted) return;
    timer = setTimeout(() => {
      polling = poll().finally(schedule);
    }, options.pollMs);
    timer.unref();
  }

  return {
    confirmedAt: () => confirmedAt,
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
