import { type FileHandle, open } from 'node:fs/promises';
import type { Genesis, Hex } from './evm-engine.ts';

/**
 * What happened on a chain, as lines of JSON in a file that only grows: played into a fresh engine they give the same chain,
 * and each block's hash proves it. A line is on file before the client is answered.
 */

/** A transaction as it was signed, or the fields of one that was sent for an impersonated account. */
export type SentTransaction = { readonly raw: Hex } | { readonly call: Readonly<Record<string, unknown>> };

export type Entry =
  | ({ readonly t: 'genesis'; readonly version: number } & Genesis)
  /** A change without a block: a balance set by hand, an account impersonated. */
  | { readonly t: 'set'; readonly method: string; readonly params: readonly unknown[] }
  | ({ readonly t: 'tx' } & SentTransaction)
  | {
      readonly t: 'block';
      readonly number: number;
      readonly hash: Hex;
      readonly time: number;
      readonly randao: Hex;
    }
  /** How far the chain's clock is ahead of the machine's, in seconds. */
  | { readonly t: 'clock'; readonly offset: number };

/** Everything after this many entries was undone. */
interface Cut {
  readonly t: 'cut';
  readonly length: number;
}

export type Line = Entry | Cut;

export const JOURNAL_VERSION = 1;

export interface OpenedJournal {
  readonly journal: Journal;
  /** What stands after everything that was undone. Empty for a new chain. */
  readonly entries: Entry[];
  /** The bytes of an unfinished last line, which was not acknowledged. */
  readonly tornBytes: number;
}

const PRIVATE_FILE = 0o600;

export class Journal {
  readonly #file: FileHandle;
  readonly #durable: boolean;
  #length: number;
  /** Part of a failed write may stand behind `#length`. */
  #hasDebris = false;
  #closing: Promise<void> | undefined;

  private constructor(file: FileHandle, length: number, durable: boolean) {
    this.#file = file;
    this.#length = length;
    this.#durable = durable;
  }

  /** With `durable` a line survives a power cut as well; without it, the end of every process. */
  static async open(path: string, { durable }: { readonly durable: boolean }): Promise<OpenedJournal> {
    // Created if it does not exist, never emptied.
    const file = await open(path, 'a+', PRIVATE_FILE).then(async (created) => {
      await created.close();
      return open(path, 'r+');
    });
    try {
      const content = await file.readFile();
      const { lines, length } = readLines(content, path);
      const journal = new Journal(file, length, durable);
      if (length < content.length) await file.truncate(length);
      return { journal, entries: withoutUndone(lines), tornBytes: content.length - length };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** All of these lines or none: what could not be written whole is taken away again. */
  async append(lines: readonly Line[]): Promise<void> {
    if (lines.length === 0) return;
    if (this.#hasDebris) await this.#removeDebris();
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    try {
      for (let written = 0; written < bytes.length; ) {
        const position = this.#length + written;
        const { bytesWritten } = await this.#file.write(bytes, written, bytes.length - written, position);
        written += bytesWritten;
      }
      if (this.#durable) await this.#file.datasync();
    } catch (error) {
      this.#hasDebris = true;
      await this.#removeDebris().catch(() => undefined);
      throw error;
    }
    this.#length += bytes.length;
  }

  close(): Promise<void> {
    this.#closing ??= this.#file.close();
    return this.#closing;
  }

  async #removeDebris(): Promise<void> {
    await this.#file.truncate(this.#length);
    this.#hasDebris = false;
  }
}

/** A crash can leave one unfinished line, the last. Anything else that cannot be read is damage, and no chain may be made of it. */
function readLines(content: Buffer, path: string): { lines: Line[]; length: number } {
  const lines: Line[] = [];
  let length = 0;
  while (length < content.length) {
    const end = content.indexOf('\n', length);
    if (end < 0) break;
    try {
      lines.push(JSON.parse(content.toString('utf8', length, end)) as Line);
    } catch {
      if (end === content.length - 1) break;
      throw new Error(`Line ${lines.length + 1} of ${path} is damaged.`);
    }
    length = end + 1;
  }
  return { lines, length };
}

function withoutUndone(lines: readonly Line[]): Entry[] {
  const entries: Entry[] = [];
  for (const line of lines) {
    if (line.t === 'cut') entries.length = line.length;
    else entries.push(line);
  }
  return entries;
}
