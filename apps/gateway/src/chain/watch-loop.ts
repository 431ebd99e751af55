import { machineNow } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { ChainUnavailableError } from './transaction-rpc.ts';
import { createWatcher, type WatcherDeps } from './watcher.ts';

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/** One turn of watching a chain, to be called often. After a failure it rests, longer each time, and says so once a turn. */
export function watchTurn(deps: WatcherDeps, onCaughtUp: () => void = () => {}): () => Promise<void> {
  const watcher = createWatcher(deps);
  let pauseMs = 0;
  let restsUntil = 0;
  return async () => {
    if (machineNow() < restsUntil) return;
    try {
      await watcher.catchUp();
      pauseMs = 0;
      onCaughtUp();
    } catch (error) {
      pauseMs = Math.min(Math.max(FIRST_PAUSE_MS, pauseMs * 2), LONGEST_PAUSE_MS);
      restsUntil = machineNow() + pauseMs;
      complain(deps.logger, deps.settings.slug, error);
    }
  };
}

function complain(logger: Logger, chain: string, error: unknown): void {
  if (error instanceof ChainUnavailableError) {
    logger.warn({ chain, reason: error.message }, 'the chain cannot be watched just now');
  } else {
    logger.error({ chain, err: error }, 'watching the chain failed');
  }
}
