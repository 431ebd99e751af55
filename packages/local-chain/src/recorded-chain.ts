import { RPC_CODES, RpcError } from './evm-engine.ts';
import { type Entry, JOURNAL_VERSION, Journal } from './journal.ts';
import { type ChainState, type ReplayOptions, replay } from './replay.ts';

export interface RecordingOptions {
  readonly chainId: number;
  /** Without a file the chain is gone when it is closed. */
  readonly journalFile?: string;
  /** Whether answers also survive a power cut; without it they survive the end of every process. */
  readonly durable?: boolean;
  /** What another chain has lived through, to begin with. */
  readonly history?: readonly Entry[];
  readonly onReplayed?: (blocks: number, total: number) => void;
  /** An unfinished last line was dropped; what it held was not acknowledged. */
  readonly onTornLine?: (bytes: number) => void;
}

/**
 * An engine and the entries that made it what it is, always in step. There is one way back, for a restart, a snapshot, a
 * reorganisation and a full disk alike: play the entries that stand into a fresh engine.
 */
export class RecordedChain {
  readonly #journal: Journal | undefined;
  readonly #replaying: ReplayOptions;
  #entries: Entry[];
  #state: ChainState;

  private constructor(
    journal: Journal | undefined,
    entries: Entry[],
    state: ChainState,
    replaying: ReplayOptions,
  ) {
    this.#journal = journal;
    this.#entries = entries;
    this.#state = state;
    this.#replaying = replaying;
  }

  static async open(options: RecordingOptions, machineSeconds: () => number): Promise<RecordedChain> {
    const { chainId, journalFile, history, durable = true, onReplayed, onTornLine } = options;
    const opened = journalFile === undefined ? undefined : await Journal.open(journalFile, { durable });
    try {
      if (opened !== undefined && opened.tornBytes > 0) onTornLine?.(opened.tornBytes);
      const entries: Entry[] = opened?.entries ?? [];
      if (entries.length === 0) {
        const genesis: Entry = { t: 'genesis', version: JOURNAL_VERSION, chainId, time: machineSeconds() };
        entries.push(...(history ?? [genesis]));
        await opened?.journal.append(entries);
      }
      if (entries[0]?.t !== 'genesis' || entries[0].chainId !== chainId) {
        throw new Error(`The journal is not that of chain ${chainId}.`);
      }
      const state = await replay(entries, { machineSeconds, onProgress: onReplayed });
      return new RecordedChain(opened?.journal, entries, state, { machineSeconds });
    } catch (error) {
      await opened?.journal.close();
      throw error;
    }
  }

  get state(): ChainState {
    return this.#state;
  }

  /** All that has happened and was not undone. */
  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /**
   * Writes down a change that is in the engine already, and what `work` changes and names besides. If either fails, the engine
   * goes back to what is written: a change that could not be written did not happen.
   */
  async record(entries: readonly Entry[], work: () => Promise<Entry[]> = async () => []): Promise<void> {
    try {
      const made = [...entries, ...(await work())];
      await this.#journal?.append(made);
      this.#entries.push(...made);
    } catch (error) {
      this.#state = await replay(this.#entries, this.#replaying);
      throw asRpcError(error);
    }
  }

  /** Undoes everything after this many entries, and goes on from there with what `goOn` makes. */
  async goBackTo(
    length: number,
    goOn: (state: ChainState) => Promise<Entry[]> = async () => [],
  ): Promise<void> {
    const kept = this.#entries.slice(0, length);
    try {
      const state = await replay(kept, this.#replaying);
      const made = await goOn(state);
      await this.#journal?.append([{ t: 'cut', length }, ...made]);
      this.#entries = [...kept, ...made];
      this.#state = state;
    } catch (error) {
      throw asRpcError(error);
    }
  }

  async close(): Promise<void> {
    await this.#journal?.close();
  }
}

function asRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new RpcError(
    RPC_CODES.internal,
    `the chain could not write this down, so it did not happen: ${reason}`,
  );
}
