import { type ChildProcess, fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setPriority } from 'node:os';

/** One call of a client that keeps its connections; fetch would cost more than what is measured. */
export interface LoadAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as the wire has them
  readonly body: any;
}

export type LoadCall = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<LoadAnswer>;

export function loadClient(baseUrl: string, apiKey: string): LoadCall {
  const agent = new Agent({ keepAlive: true });
  return (method, path, body, headers) =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const sent = request(
        new URL(`/api/v1${path}`, baseUrl),
        {
          agent,
          method,
          headers: {
            'x-api-key': apiKey,
            ...(text === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const status = response.statusCode ?? 0;
            resolve({ status, body: JSON.parse(Buffer.concat(chunks).toString()) });
          });
        },
      );
      sent.on('error', reject);
      sent.end(text);
    });
}

/** For what must succeed, such as preparations. */
export async function expectSuccess(answer: Promise<LoadAnswer>): Promise<LoadAnswer['body']> {
  const { status, body } = await answer;
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body.data;
}

/** Answers the parent's questions, one at a time, by the function of that name, and ends with the parent. */
export function answerParent(answers: Record<string, (given: never) => Promise<unknown>>): void {
  process.on('disconnect', () => process.exit());
  process.on('message', ({ ask, given }: { ask: string; given: unknown }) => {
    void Promise.resolve(answers[ask]?.(given as never))
      .then((value) => ({ value: value ?? null }))
      .catch((error: unknown) => ({
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }))
      .then((reply) => process.send?.(reply));
  });
}

const LAST = 19;

export interface LoadProcess {
  readonly child: ChildProcess;
  /**
   * For what would be another machine: it shall not take the processor from the deployment. `onlyIdle`: it runs where a core
   * is idle and nowhere else, as far as the system knows how; on a machine that is never idle it would not answer.
   */
  yieldProcessor(options?: { readonly onlyIdle?: boolean }): void;
  ask<T>(question: string, given?: unknown): Promise<T>;
  stop(): Promise<void>;
}

export function startLoadProcess(script: string): LoadProcess {
  const child = fork(new URL(script, import.meta.url), { execArgv: [] });
  const ended = once(child, 'exit');
  return {
    child,
    yieldProcessor({ onlyIdle = false } = {}) {
      if (child.pid === undefined) return;
      setPriority(child.pid, LAST);
      if (!onlyIdle) return;
      // A process of low priority still ends its slice of 4 ms before another is let in; an idle one is stopped at once.
      spawnSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(child.pid)]);
    },
    async ask<T>(question: string, given: unknown = null) {
      const reply = once(child, 'message');
      child.send({ ask: question, given });
      const [message] = await Promise.race([
        reply,
        ended.then(([code]) => Promise.reject(new Error(`${script} ended with ${code}`))),
      ]);
      const { value, error } = message as { value?: T; error?: string };
      if (error !== undefined) throw new Error(`${script}: ${error}`);
      return value as T;
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
