import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** What a network does to a link; the names are those of Toxiproxy. */
export type Toxic =
  /** Every piece arrives this much later. */
  | { readonly kind: 'latency'; readonly ms: number }
  /** Nothing listens, and what was connected is cut. */
  | { readonly kind: 'down' }
  | { readonly kind: 'bandwidth'; readonly bytesPerSecond: number }
  /** An end is told to the other side this much later. */
  | { readonly kind: 'slow_close'; readonly ms: number }
  /** A black hole: bytes vanish, without an end, also after the toxic is gone. New connections meet it while it is there. */
  | { readonly kind: 'timeout' }
  /** Reset (RST) after this time. */
  | { readonly kind: 'reset_peer'; readonly ms: number }
  /** Pieces of so many bytes, with a pause after each. */
  | { readonly kind: 'slicer'; readonly bytes: number; readonly pauseMs: number }
  /** Closed after so many bytes from the server. */
  | { readonly kind: 'limit_data'; readonly bytes: number };

/** Sees what passes and may change it; undefined cuts the connection. */
export interface Tap {
  toServer(chunk: Buffer): Buffer | undefined;
  toClient(chunk: Buffer): Buffer | undefined;
}

export interface ToxicProxy {
  /** The target's address, with this port. */
  readonly url: string;
  /** From now on, for the connections there are and for new ones; undefined heals the link. */
  poison(toxic: Toxic | undefined): Promise<void>;
  close(): Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Once swallowed, bytes cannot be made up for: the rest is of no use either. */
  isBlack: boolean;
  received: number;
}

const HOST = '127.0.0.1';

/** TCP through a port of this process, on which a toxic can be put. */
export async function startToxicProxy(targetUrl: string, tapOf?: () => Tap): Promise<ToxicProxy> {
  const { hostname, port: targetPort } = new URL(targetUrl);
  const links = new Set<Link>();
  let toxic: Toxic | undefined;
  let server: Server | undefined;
  let port = 0;

  function accept(client: Socket): void {
    const upstream = connect({ port: Number(targetPort), host: hostname, allowHalfOpen: true });
    const link: Link = { client, upstream, isBlack: false, received: 0 };
    links.add(link);
    for (const socket of [client, upstream]) {
      socket.on('error', () => cut(link));
      socket.on('close', () => {
        if (client.destroyed && upstream.destroyed) links.delete(link);
      });
    }
    const tap = tapOf?.();
    void pump(link, client, upstream, tap?.toServer);
    void pump(link, upstream, client, tap?.toClient);
    resetIfToxic(link);
  }

  async function pump(link: Link, from: Socket, to: Socket, see?: Tap['toServer']): Promise<void> {
    try {
      for await (const chunk of from as AsyncIterable<Buffer>) {
        const passed = see === undefined ? chunk : see(chunk);
        if (passed === undefined) return cut(link);
        await pass(link, passed, to, from === link.upstream);
      }
      if (toxic?.kind === 'slow_close') await sleep(toxic.ms, undefined, { ref: false });
      if (!link.isBlack) to.end();
    } catch {
      if (toxic?.kind === 'slow_close') await sleep(toxic.ms, undefined, { ref: false });
      if (!link.isBlack) cut(link);
    }
  }

  async function pass(link: Link, chunk: Buffer, to: Socket, isAnswer: boolean): Promise<void> {
    const current = toxic;
    if (current?.kind === 'timeout') link.isBlack = true;
    if (link.isBlack) return;
    switch (current?.kind) {
      case 'latency':
        await sleep(current.ms, undefined, { ref: false });
        break;
      case 'bandwidth':
        await sleep((chunk.length / current.bytesPerSecond) * 1_000, undefined, { ref: false });
        break;
      case 'slicer':
        for (let start = 0; start < chunk.length; start += current.bytes) {
          await write(to, chunk.subarray(start, start + current.bytes));
          await sleep(current.pauseMs, undefined, { ref: false });
        }
        return;
      case 'limit_data': {
        const left = current.bytes - link.received;
        if (isAnswer) link.received += chunk.length;
        if (isAnswer && chunk.length > left) {
          if (left > 0) await write(to, chunk.subarray(0, left));
          return cut(link);
        }
        break;
      }
      default:
    }
    await write(to, chunk);
  }

  function resetIfToxic(link: Link): void {
    if (toxic?.kind !== 'reset_peer') return;
    setTimeout(() => {
      link.client.resetAndDestroy();
      link.upstream.resetAndDestroy();
    }, toxic.ms).unref();
  }

  async function listen(): Promise<void> {
    server = createServer({ allowHalfOpen: true }, accept);
    server.listen(port, HOST);
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  }

  async function stopListening(): Promise<void> {
    const closed = new Promise((resolve) => server?.close(resolve));
    for (const link of links) cut(link);
    await closed;
    server = undefined;
  }

  await listen();
  const url = new URL(targetUrl);
  url.port = String(port);
  return {
    url: url.href.replace(/\/$/, ''),
    async poison(next) {
      toxic = next;
      if (next?.kind === 'down') await stopListening();
      else if (server === undefined) await listen();
      for (const link of links) {
        link.received = 0;
        resetIfToxic(link);
      }
    },
    async close() {
      if (server !== undefined) await stopListening();
    },
  };
}

function cut({ client, upstream }: Link): void {
  client.destroy();
  upstream.destroy();
}

async function write(to: Socket, bytes: Buffer): Promise<void> {
  if (to.destroyed || !to.writable) return;
  if (!to.write(bytes)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
}
