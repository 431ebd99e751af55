import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort } from 'node:worker_threads';

/** In a thread of its own: a receiver is another machine. Says when an event arrived; /hang never answers. */
const server = createServer((request, response) => {
  const at = performance.timeOrigin + performance.now();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const path = request.url ?? '';
    if (path.startsWith('/hang')) return;
    if (path.startsWith('/timed')) {
      parentPort?.postMessage({ id: JSON.parse(Buffer.concat(chunks).toString()).data.id, at });
    }
    response.end('{}');
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  parentPort?.postMessage({ port: (server.address() as AddressInfo).port });
});
