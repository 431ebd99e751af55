import { pgErrorCode } from './database.ts';

/**
 * Whether something failed because PostgreSQL (or whatever else was called) cannot be reached or cannot work now: not the
 * request's fault and not a fault of this program, so that the same request may succeed in a moment.
 */
export function isOutage(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = pgErrorCode(cause);
    if (code !== undefined && isOutageCode(code, cause)) return true;
    if (DRIVER_MESSAGES.some((message) => cause instanceof Error && cause.message.startsWith(message))) {
      return true;
    }
  }
  return false;
}

const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/**
 * Classes of SQLSTATE: 08 connection exceptions, 53 insufficient resources, 57 operator intervention (shut-down, crash,
 * start-up, statement time-out), 58 errors of the system around it. And single ones: contention that outlived its
 * retries, a session that waited too long, a primary that became a replica.
 */
const STATE_CLASSES = ['08', '53', '57', '58'];
const STATES = new Set(['40001', '40P01', '25P03', '25006', '55P03']);
const SQLSTATE = /^[0-9A-Z]{5}$/;

function isOutageCode(code: string, error: Error): boolean {
  if (SYSTEM_CODES.has(code)) return true;
  // The socket of a local server is a file, and it is gone while the server is.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect';
  return SQLSTATE.test(code) && (STATES.has(code) || STATE_CLASSES.includes(code.slice(0, 2)));
}

/** What the driver and its pool say in words only. */
const DRIVER_MESSAGES = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end',
];
