import type { Listener } from '../../apps/gateway/src/db/listener.ts';
import type { Logger } from '../../apps/gateway/src/lib/logger.ts';

/** Every announcement is lost: whatever waits for one has to find its work by looking. */
export const SILENT_LISTENER: Listener = {
  healthy: true,
  on: async () => {},
  onConnected: () => {},
  start: async () => {},
  close: async () => {},
};

/** Says nothing, and hands what is logged as an error to `onError`. */
export function silentLogger(onError: (error: unknown, message: string) => void = () => {}): Logger {
  const say = () => {};
  const logger = {
    level: 'silent',
    trace: say,
    debug: say,
    info: say,
    warn: say,
    fatal: say,
    error: (context: { err?: unknown }, message: string) => onError(context.err, message),
    child: () => logger,
  };
  return logger as unknown as Logger;
}
