import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A node between the gateway and a real chain whose answers a test can bend, break or hold back. */
export interface RpcProxy {
  readonly url: string;
  /** Methods asked so far, oldest first. */
  readonly asked: string[];
  /**
   * Called for every question: `undefined` passes it on to the real chain, a number is an HTTP status without an
   * answer, 'drop' cuts the connection, an object is the answer itself.
   */
  intercept: (question: RpcQuestion) => Interception | Promise<Interception>;
  close(): Promise<void>;
}

export interface RpcQuestion {
  readonly method: string;
  readonly params: readonly unknown[];
  /** What the real chain says to it. */
  passOn(): Promise<{ result?: unknown; error?: unknown }>;
}

type Interception = undefined | number | 'drop' | { result?: unknown; error?: unknown };

export async function startRpcProxy(upstream: string): Promise<RpcProxy> {
  async function answerTo(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    const {
      id,
      method,
      params = [],
    } = JSON.parse(body) as {
      id: number;
      method: string;
      params?: unknown[];
    };
    proxy.asked.push(method);
    const passOn = async () => {
      const answer = await fetch(upstream, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      return (await answer.json()) as { result?: unknown; error?: unknown };
    };
    const decided = await proxy.intercept({ method, params, passOn });
    if (decided === 'drop') {
      request.socket.destroy();
      return;
    }
    if (typeof decided === 'number') {
      response.writeHead(decided).end('no');
      return;
    }
    const answer = decided ?? (await passOn());
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', ...answer, id }));
  }
  const server = createServer((request, response) => {
    // Whoever asked, or the chain, is gone.
    answerTo(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: RpcProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/provider-key`,
    asked: [],
    intercept: () => undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return proxy;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
