export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Progress {
  update(text: string): void;
  /** A line that stays. */
  note(text: string): void;
  /** Clears the line at a terminal, so that what follows stands alone. */
  end(): void;
}

const CLEAR_LINE = '\r\u001b[2K';
const DEFAULT_COLUMNS = 80;

/** One line that changes at a terminal; plain lines in a log, where control characters would be litter. */
export function showProgress(stream: ProgressStream): Progress {
  if (stream.isTTY !== true) {
    const writeLine = (text: string) => void stream.write(`${text}\n`);
    return { update: writeLine, note: writeLine, end: () => undefined };
  }
  return {
    update(text) {
      // A line that wraps could not be cleared any more.
      const room = (stream.columns ?? DEFAULT_COLUMNS) - 3;
      const shown = text.length > room ? `${text.slice(0, Math.max(0, room - 1))}…` : text;
      stream.write(`${CLEAR_LINE}  ${shown}`);
    },
    note: (text) => void stream.write(`${CLEAR_LINE}  ${text}\n`),
    end: () => void stream.write(CLEAR_LINE),
  };
}
