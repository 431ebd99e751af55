import type { Input } from './command.ts';
import { CommandError, EXIT } from './exit.ts';
import type { Output } from './output.ts';

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

export function createPrompt(stdin: Input, output: Output): Prompt {
  const chunks = stdin[Symbol.asyncIterator]();
  let waiting = '';

  async function character(): Promise<string | undefined> {
    while (waiting === '') {
      const { done, value } = await chunks.next();
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
      await chunks.return?.();
    },
  };
}

/** All of a pipe. */
export async function readAll(stdin: Input): Promise<string> {
  const parts: Buffer[] = [];
  for await (const chunk of stdin) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts).toString('utf8').trim();
}
