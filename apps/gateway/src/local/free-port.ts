import { once } from 'node:events';
import { createServer } from 'node:net';

/** The preferred port if it is free, otherwise one the system picks. Loopback only. */
export async function pickPort(preferred: number | undefined): Promise<number> {
  if (preferred !== undefined && (await canListen(preferred)) !== undefined) return preferred;
  const port = await canListen(0);
  if (port === undefined) throw new Error('No free port on 127.0.0.1.');
  return port;
}

async function canListen(port: number): Promise<number | undefined> {
  const server = createServer();
  try {
    server.listen({ host: '127.0.0.1', port, exclusive: true });
    await once(server, 'listening');
  } catch {
    return undefined;
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : undefined;
}
