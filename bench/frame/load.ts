import { fork } from 'node:child_process';

export interface LoadRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export interface LoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly durationSeconds: number;
  readonly request?: LoadRequest | undefined;
}

export interface LoadResult {
  /** Only 2xx answers count. */
  readonly requestsPerSecond: number;
  readonly succeeded: number;
  /** Other answers, broken connections and time-outs. */
  readonly failed: number;
  readonly latencyMs: { readonly p50: number; readonly p99: number; readonly max: number };
}

export type LoadReply =
  | { readonly ok: true; readonly result: LoadResult }
  | { readonly ok: false; readonly message: string };

/** Loads a server from a process of its own, so that generator and server never share an event loop. */
export async function generateLoad(options: LoadOptions): Promise<LoadResult> {
  const reply = await askProcess<LoadReply>(new URL('./load-generator.ts', import.meta.url), options);
  if (!reply.ok) throw new Error(`load generator: ${reply.message}`);
  return reply.result;
}

/** One message in, one message out: what the script, in a process of its own, answers. */
export function askProcess<Reply>(script: URL, question: object): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const child = fork(script, { execArgv: [] });
    child.once('error', reject);
    child.once('message', (reply) => resolve(reply as Reply));
    child.once('exit', (code) => reject(new Error(`load generator ended early with code ${code}`)));
    child.send(question);
  });
}
