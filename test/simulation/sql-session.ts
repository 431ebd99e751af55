import { type PGlite, protocol } from '@electric-sql/pglite';

/** What a batch of db/batch.ts expects of the connection that it is submitted to. */
export interface SubmittedBatch {
  submit(wire: unknown): void;
  handleRowDescription(message: unknown): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(): void;
  handlePortalSuspended(): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
}

type Answer = () => void;

/**
 * The one session of a PostgreSQL inside this process, spoken to by the same wire protocol as a server: the batches of
 * db/batch.ts are sent as they are. Everything happens while the caller waits; no socket, no thread, no timer.
 */
export class SqlSession {
  readonly engine: PGlite;
  /** Whether a transaction is open, as the server says after every batch. */
  isInTransaction = false;
  /** Counts statements that have written rows. */
  writes = 0;
  #messages: Uint8Array[] = [];
  /** One object for good: db/batch.ts remembers by it which statements are prepared. */
  readonly #wire = {
    // A batch whose process has died is never answered: there is no connection to give up.
    stream: { cork: () => {}, uncork: () => {}, destroy: () => {} },
    parse: (message: { name: string; text: string }) =>
      this.#messages.push(protocol.serialize.parse(message)),
    bind: (message: { portal: string; statement: string; values: (string | null)[] }) =>
      this.#messages.push(protocol.serialize.bind(message)),
    describe: (message: { type: 'S'; name: string }) =>
      this.#messages.push(protocol.serialize.describe(message)),
    execute: (message: { portal: string; rows: number }) =>
      this.#messages.push(protocol.serialize.execute(message)),
    close: (message: { type: 'S'; name: string }) => this.#messages.push(protocol.serialize.close(message)),
    sync: () => this.#messages.push(protocol.serialize.sync()),
  };

  constructor(engine: PGlite) {
    this.engine = engine;
  }

  /** Carries the batch out and gives back how to tell its caller, who may never hear of it. */
  run(batch: SubmittedBatch): Answer {
    this.#messages = [];
    batch.submit(this.#wire);
    const replies: Answer[] = [];
    let failed = false;
    const parser = new protocol.Parser();
    const answer = withoutTimers(() => this.engine.execProtocolRawSync(Buffer.concat(this.#messages)));
    parser.parse(answer, (message) => {
      if (message.name === 'readyForQuery') {
        this.isInTransaction = (message as unknown as { status: string }).status !== 'I';
      }
      if (message.name === 'commandComplete') this.writes += hasWritten(message) ? 1 : 0;
      if (failed) return;
      if (message.name === 'error') failed = true;
      const reply = replyTo(batch, message);
      if (reply !== undefined) replies.push(reply);
    });
    return () => {
      for (const reply of replies) reply();
    };
  }

  /** What the server does with the transaction of a client that has gone. */
  abandon(): void {
    if (!this.isInTransaction) return;
    this.execute('ROLLBACK');
    this.isInTransaction = false;
  }

  /** Several statements without parameters and without answers. */
  execute(text: string): void {
    const answer = withoutTimers(() => this.engine.execProtocolRawSync(protocol.serialize.query(text)));
    new protocol.Parser().parse(answer, (message) => {
      if (message.name === 'error') throw message;
    });
  }
}

/** The server would flush its statistics by a timer some seconds from now, by a clock that is not the world's. */
function withoutTimers<T>(work: () => T): T {
  const real = globalThis.setTimeout;
  globalThis.setTimeout = (() => 0) as never;
  try {
    return work();
  } finally {
    globalThis.setTimeout = real;
  }
}

/** The same while a server starts, when other code runs too and may have timers of its own. */
export async function startedWithoutTimers<T>(work: () => Promise<T>): Promise<T> {
  const real = globalThis.setTimeout;
  const isServer = () => new Error('who asks').stack?.includes('setitimer') === true;
  globalThis.setTimeout = ((...args: Parameters<typeof real>) => (isServer() ? 0 : real(...args))) as never;
  try {
    return await work();
  } finally {
    globalThis.setTimeout = real;
  }
}

function hasWritten(message: object): boolean {
  return 'text' in message && /^(INSERT|UPDATE|DELETE|MERGE) .*[1-9]/.test(String(message.text));
}

function replyTo(batch: SubmittedBatch, message: { readonly name: string }): Answer | undefined {
  switch (message.name) {
    case 'rowDescription':
      return () => batch.handleRowDescription(message);
    case 'dataRow':
      return () => batch.handleDataRow(message);
    case 'commandComplete':
      return () => batch.handleCommandComplete();
    case 'portalSuspended':
      return () => batch.handlePortalSuspended();
    case 'readyForQuery':
      return () => batch.handleReadyForQuery();
    case 'error':
      return () => batch.handleError(message as unknown as Error);
    default:
      return undefined;
  }
}
