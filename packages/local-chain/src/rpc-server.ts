import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RPC_CODES, RpcError } from './evm-engine.ts';
import type { LocalChain } from './local-chain.ts';

/** JSON-RPC over HTTP on the loopback address, for wallets, scripts and the gateway alike. */
export interface RpcServer {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 10 * 1024 * 1024;
const MAX_BATCH = 1_000;
/** Longer than clients keep an idle connection, so that none is closed under a request. */
const KEEP_ALIVE_MS = 120_000;
const CLOSE_TIMEOUT_MS = 1_000;
const LOOPBACK_HOST = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

/** On the preferred port, or on a free one where that is taken. */
export async function serveRpc(
  chain: Pick<LocalChain, 'request'>,
  options: { readonly preferredPort?: number | undefined } = {},
): Promise<RpcServer> {
  const server = createServer((request, response) => {
    void answerHttp(chain, request, response);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await listen(server, options.preferredPort ?? 0).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    return listen(server, 0);
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${HOST}:${port}`,
    async close() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      // Answers under way are still sent.
      const cutOff = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT_MS);
      await closed;
      clearTimeout(cutOff);
    },
  };
}

async function listen(server: Server, port: number): Promise<void> {
  const listening = once(server, 'listening');
  server.listen({ host: HOST, port, exclusive: true });
  await listening;
}

async function answerHttp(
  chain: Pick<LocalChain, 'request'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refuse = (status: number, message: string) =>
    send(response, status, { jsonrpc: '2.0', id: null, error: { code: RPC_CODES.invalidRequest, message } });
  // Web pages have no business with a node that hands out money on request; wallets are extensions or programs.
  if (/^https?:/i.test(request.headers.origin ?? '') || !LOOPBACK_HOST.test(request.headers.host ?? '')) {
    return refuse(403, 'not for web pages');
  }
  if (request.method !== 'POST') return refuse(405, 'JSON-RPC is sent by POST');
  let body: string | undefined;
  try {
    body = await readBody(request);
  } catch {
    // The client went away in the middle of its request.
    response.destroy();
    return;
  }
  if (body === undefined) return refuse(413, `a request has at most ${MAX_BODY_BYTES} bytes`);
  const answer = await answerBody(chain, body);
  if (answer === undefined) response.writeHead(204).end();
  else send(response, 200, answer);
}

/** Undefined for a body that is too long, of which the rest is read and dropped so that the client hears the answer. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  let chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) chunks = [];
    else chunks.push(chunk);
  }
  return length > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    .end(text);
}

interface RpcAnswer {
  readonly jsonrpc: '2.0';
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Undefined where nothing is to be said: every call was a notification. */
async function answerBody(
  chain: Pick<LocalChain, 'request'>,
  body: string,
): Promise<RpcAnswer | RpcAnswer[] | undefined> {
  let asked: unknown;
  try {
    asked = JSON.parse(body);
  } catch {
    return failure(null, new RpcError(RPC_CODES.parse, 'not JSON'));
  }
  if (!Array.isArray(asked)) return answerOne(chain, asked);
  if (asked.length === 0 || asked.length > MAX_BATCH) {
    return failure(null, new RpcError(RPC_CODES.invalidRequest, `a batch has 1 to ${MAX_BATCH} calls`));
  }
  const answers = await Promise.all(asked.map((each) => answerOne(chain, each)));
  const said = answers.filter((answer) => answer !== undefined);
  return said.length === 0 ? undefined : said;
}

async function answerOne(chain: Pick<LocalChain, 'request'>, asked: unknown): Promise<RpcAnswer | undefined> {
  const { id, method, params } = (asked ?? {}) as { id?: unknown; method?: unknown; params?: unknown };
  if (typeof method !== 'string' || (params !== undefined && !Array.isArray(params))) {
    return failure(
      id ?? null,
      new RpcError(RPC_CODES.invalidRequest, 'a call has a method and an array of params'),
    );
  }
  const answer = await chain.request(method, params).then(
    (result): RpcAnswer => ({ jsonrpc: '2.0', id, result: result ?? null }),
    (error: unknown) => failure(id, error),
  );
  return id === undefined ? undefined : answer;
}

function failure(id: unknown, error: unknown): RpcAnswer {
  const { code, message, data } =
    error instanceof RpcError ? error : new RpcError(RPC_CODES.internal, String(error));
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}
