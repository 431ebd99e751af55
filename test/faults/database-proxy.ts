import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** PostgreSQL behind a wire that a test can listen to: named statements are seen as they pass. */
export interface DatabaseProxy {
  readonly url: string;
  /** Called before bytes that name the statement go to the server, and when the server has answered them. */
  onStatement: (text: string, moment: 'before' | 'after') => 'pass' | 'cut';
  close(): Promise<void>;
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const { hostname, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    let unanswered = '';
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        upstream.destroy();
        sockets.delete(socket);
      });
    }
    const cut = () => {
      client.destroy();
      upstream.destroy();
    };
    client.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      if (proxy.onStatement(text, 'before') === 'cut') return cut();
      unanswered += text;
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      const text = unanswered;
      unanswered = '';
      if (text !== '' && proxy.onStatement(text, 'after') === 'cut') return cut();
      client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.port = String((server.address() as AddressInfo).port);
  const proxy: DatabaseProxy = {
    url: url.href,
    onStatement: () => 'pass',
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return proxy;
}
