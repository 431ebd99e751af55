import type { Causeway } from '@causeway/sdk';
import { flag, type Invocation } from '../command.ts';
import { CommandError, EXIT } from '../exit.ts';
import { createDocs } from './docs.ts';
import { createPeer, readLines } from './rpc.ts';
import { isPartnerKey } from './sandbox-check.ts';
import { createMcp } from './server.ts';

/** Far more than any tool takes. */
export const LONGEST_MESSAGE = 1024 * 1024;
const MOST_IN_FLIGHT = 16;
/** For what is still being worked on when the client has gone. */
const LAST_ANSWERS_MS = 5_000;

/** `causeway mcp`: stdout carries the protocol and nothing else. */
export async function run(invocation: Invocation): Promise<void> {
  const { output, signal } = invocation;
  const { name, baseUrl, keys } = await invocation.profile();
  const causeway = await invocation.client('partner');
  const apiKey = keys.partner ?? '';
  if (!isPartnerKey(apiKey)) {
    throw new CommandError('causeway mcp takes a partner’s secret key only (cw_test_… or cw_live_…).', {
      exitCode: EXIT.unauthorized,
      hint: 'causeway login adds one.',
    });
  }
  const readOnly = flag(invocation, 'read-only');
  output.note(
    `MCP on stdio: ${baseUrl}, profile ${name}${readOnly ? ', read-only' : ''}. Waiting for a client.`,
  );
  await serveMcp({
    input: process.stdin,
    write: (line) => void process.stdout.write(`${line}\n`),
    onFault: (error) => output.error(error instanceof Error ? (error.stack ?? error.message) : String(error)),
    ...{ causeway, baseUrl, apiKey, readOnly, signal },
  });
}

export interface ServeOptions {
  readonly input: AsyncIterable<Uint8Array | string> & { destroy(): unknown };
  readonly write: (line: string) => void;
  readonly onFault: (error: unknown) => void;
  readonly causeway: Causeway;
  /** Of the deployment, whose documentation is read. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly readOnly: boolean;
  readonly signal: AbortSignal;
}

/** Serves one client until it closes its end, or until `signal`. */
export async function serveMcp({ input, write, onFault, signal, ...options }: ServeOptions): Promise<void> {
  const { baseUrl, ...deployment } = options;
  const mcp = createMcp({ ...deployment, docs: createDocs(baseUrl) });
  const peer = createPeer({ write, handle: mcp.handle, onFault, maxInFlight: MOST_IN_FLIGHT });
  const working = new Set<Promise<void>>();
  const stop = () => {
    peer.abort();
    input.destroy();
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    for await (const line of readLines(input, LONGEST_MESSAGE)) {
      if (line === undefined) {
        peer.refuseLong(LONGEST_MESSAGE);
        continue;
      }
      const work = peer.receive(line).catch(onFault);
      working.add(work);
      void work.then(() => working.delete(work));
    }
  } catch (error) {
    // A stream that was destroyed says so.
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    const timer = setTimeout(() => peer.abort(), LAST_ANSWERS_MS);
    await Promise.all(working);
    clearTimeout(timer);
  }
}
