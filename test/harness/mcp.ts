import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { Causeway } from '@causeway/sdk';
import { Client, type Transport } from '@modelcontextprotocol/client';
import { serveMcp } from '../../packages/cli/src/mcp/mcp.ts';

const MAIN = new URL('../../packages/cli/src/main.ts', import.meta.url).pathname;

/** A server of `causeway mcp`, seen line by line. */
export interface McpServer {
  /** Everything it has written so far, a parsed message each. */
  // biome-ignore lint/suspicious/noExplicitAny: read as a client reads it.
  readonly messages: any[];
  /** What was written that is no message of the protocol: nothing may be. */
  readonly strays: string[];
  /** Sends a line as it is. */
  write(line: string): void;
  /** Sends a request and waits for its answer. */
  // biome-ignore lint/suspicious/noExplicitAny: read as a client reads it.
  ask(method: string, params?: object): Promise<any>;
  /** The next message that is fit. */
  // biome-ignore lint/suspicious/noExplicitAny: read as a client reads it.
  next(fits: (message: any) => boolean): Promise<any>;
  /** For the client of the protocol's own SDK. */
  transport(): Transport;
  stop(): Promise<void>;
}

export interface InProcessOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly readOnly?: boolean;
  readonly onFault?: (error: unknown) => void;
}

/** The server in this process: nothing but its streams is different. */
export function serveInProcess({
  readOnly = false,
  onFault = () => {},
  ...where
}: InProcessOptions): McpServer {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const controller = new AbortController();
  const served = serveMcp({
    causeway: new Causeway(where),
    ...{ ...where, input, readOnly, onFault, signal: controller.signal },
    write: (line) => void output.write(`${line}\n`),
  });
  return watch(input, output, async () => {
    controller.abort();
    await served;
  });
}

export interface SpawnedMcp extends McpServer {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  stderr(): string;
  /** Closes its input and waits for its exit code. */
  end(): Promise<number | string>;
}

/** The program as a client starts it. */
export function spawnMcp(env: Readonly<Record<string, string>>, args: readonly string[] = []): SpawnedMcp {
  const child = spawn(process.execPath, [MAIN, 'mcp', ...args], {
    env: { PATH: process.env.PATH ?? '', CAUSEWAY_CONFIG_DIR: '/nonexistent', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const errors: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk.toString()));
  const exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string);
  const end = () => {
    child.stdin.end();
    return exited;
  };
  const server = watch(child.stdin, child.stdout, async () => {
    child.kill();
    await exited;
  });
  return Object.assign(server, { child, stderr: () => errors.join(''), end });
}

function watch(input: Writable, output: Readable, stop: () => Promise<void>): McpServer {
  const messages: unknown[] = [];
  const strays: string[] = [];
  const listeners = new Set<(message: unknown) => void>();
  let rest = '';
  let lastId = 0;
  output.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      let message: unknown;
      try {
        message = JSON.parse(line);
      } catch {
        strays.push(line);
        continue;
      }
      messages.push(message);
      for (const listener of [...listeners]) listener(message);
    }
  });
  const write = (line: string) => void input.write(`${line}\n`);
  const next: McpServer['next'] = (fits) =>
    new Promise((resolve) => {
      const look = (message: unknown) => {
        if (!fits(message)) return;
        listeners.delete(look);
        resolve(message);
      };
      listeners.add(look);
    });
  const ask: McpServer['ask'] = async (method, params) => {
    lastId += 1;
    const id = `ask-${lastId}`;
    const answered = next((message) => message.id === id);
    write(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) }));
    return answered;
  };
  return { messages, strays, write, ask, next, transport: () => transportOf({ write, listeners }), stop };
}

function transportOf({
  write,
  listeners,
}: {
  write: (line: string) => void;
  listeners: Set<(message: unknown) => void>;
}): Transport {
  const transport: Transport = {
    async start() {
      listeners.add((message) => transport.onmessage?.(message as never));
    },
    send: async (message) => write(JSON.stringify(message)),
    close: async () => transport.onclose?.(),
  };
  return transport;
}

/** The protocol's own client, in one of its two ways to begin. */
export async function connect(server: McpServer, version: 'handshake' | 'stateless'): Promise<Client> {
  const client = new Client(
    { name: 'causeway-tests', version: '1.0.0' },
    { versionNegotiation: { mode: version === 'handshake' ? 'legacy' : { pin: '2026-07-28' } } },
  );
  await client.connect(server.transport());
  return client;
}
