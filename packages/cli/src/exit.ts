import { isCausewayError } from '@causeway/sdk';

/** Exit codes, as scripts see them; docs/guides/cli.md has the table. */
export const EXIT = {
  ok: 0,
  /** Something failed that has no code of its own. */
  failed: 1,
  /** The command line is wrong. */
  usage: 2,
  /** No key, or one that the service refuses (401, 403). */
  unauthorized: 3,
  /** No such order, event, delivery (404). */
  notFound: 4,
  /** Refused as asked: validation, wrong state, limits (other 4xx). */
  refused: 5,
  /** The service cannot be reached, failed (5xx), or something else answers in its place. */
  unavailable: 6,
  /** The command ran and what it checked has faults: `doctor`, `conformance`. */
  faults: 7,
  /** Stopped by SIGINT or SIGTERM. */
  interrupted: 130,
} as const;

/** A failure with its exit code, told to the user without a stack. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: number;
  /** What to do next, on a line of its own. */
  readonly hint: string | undefined;

  constructor(message: string, { exitCode = EXIT.failed, hint }: { exitCode?: number; hint?: string } = {}) {
    super(message);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}

/** A failure in a line. Of a call's, what the service says begins with the code, and what the client says does not. */
export function failureLine(error: unknown): string {
  if (!isCausewayError(error)) return error instanceof Error ? error.message : String(error);
  const { code, message } = error;
  return message.startsWith(code) ? message : `${code}: ${message}`;
}
