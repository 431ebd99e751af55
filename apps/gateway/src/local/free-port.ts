import { once } from 'node:events';
import { createServer } from 'node:net';
import { threadId } from 'node:worker_threads';

/**
 * Below the ports that systems give to outgoing connections: one of those could be taken by any client between the moment it is
 * picked and the moment it is listened on.
 */
const LOWEST = 15_000;
const ABOVE = 32_000;
const TRIES = 50;
/** Ports that a process looks at before those of the next: two that start at once do not pick the same one. */
const OF_A_PROCESS = 16;
let next = (process.pid + threadId) * OF_A_PROCESS;

/** The preferred port if it is free, otherwise another one. Loopback only. */
export async function pickPort(preferred: number | undefined): Promise<number> {
  if (preferred !== undefined && (await canListen(preferred)) !== undefined) return preferred;
  for (let tried = 0; tried < TRIES; tried++) {
    const port = await canListen(LOWEST + (next++ % (ABOVE - LOWEST)));
    if (port !== undefined) return port;
  }
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
