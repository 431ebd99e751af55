import type { Input } from './command.ts';
import { CommandError, EXIT } from './exit.ts';
import type { Output } from './output.ts';
import { unlessAborted } from './signals.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const ERASING = ['\u0008', '\u007f'];

/** Lines from a terminal, one reader for all of them: what was typed ahead belongs to the next question. */
export interface Prompt {
  ask(question: string): Promise<string>;
  /** As `ask`, without showing what is typed. */
  askHidden(question: string): Promise<string>;
  close(): Promise<void>;
}

export function createPrompt(stdin: Input, output: Output, signal: AbortSignal): Prompt {
  const chunks = stdin[Symbol.asyncIterator]();
  let waiting = '';

  async function character(): Promise<string | undefined> {
    while (waiting === '') {
      const { done, value } = await unlessAborted(chunks.next(), signal);
      if (done === true) return undefined;
      waiting = typeof value === 'string' ? value : Buffer.from(value).toString('utf8');
    }
    const [first = ''] = waiting;
    waiting = waiting.slice(first.length);
    return first;
  }

  async function line(): Promise<string> {
    let typed = '';
    for (;;) {
      const next = await character();
      if (next === CTRL_C) throw new CommandError('Stopped.', { exitCode: EXIT.interrupted });
      if (next === undefined || next === CTRL_D || next === '\n' || next === '\r') return typed.trim();
      typed = ERASING.includes(next) ? typed.slice(0, -1) : typed + next;
    }
  }

  return {
    ask(question) {
      output.ask(question);
      return line();
    },
    async askHidden(question) {
      output.ask(question);
      stdin.setRawMode?.(true);
      try {
        return await line();
      } finally {
        stdin.setRawMode?.(false);
        output.ask('\n');
      }
    },
    async close() {
      // Behind a read that still waits for a key it would wait as well.
      const closed = Promise.resolve(chunks.return?.());
      await unlessAborted(closed, signal).catch(() => {});
    },
  };
}

/** All of a pipe. */
export async function readAll(stdin: Input, signal: AbortSignal): Promise<string> {
  const parts: Buffer[] = [];
  const chunks = stdin[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await unlessAborted(chunks.next(), signal);
    if (done === true) break;
    parts.push(Buffer.from(value));
  }
  return Buffer.concat(parts).toString('utf8').trim();
}
