import type { ServerResponse } from 'node:http';
import { Readable, type Writable } from 'node:stream';
import type { Fault } from './webhook-sink-types.ts';

/** Carries out a fault on a request that has been read and recorded. */
export function answer(fault: Fault, response: ServerResponse, reset: () => void): void {
  switch (fault.kind) {
    case 'none':
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"received":true}');
      break;
    case 'status':
      response.writeHead(fault.status, fault.headers).end();
      break;
    case 'redirect':
      response.writeHead(fault.status ?? 301, { location: fault.location }).end();
      break;
    case 'slow':
      response.writeHead(200, { 'content-length': fault.bytes }).flushHeaders();
      drip(Buffer.alloc(fault.bytes, '.'), fault.intervalMs, response);
      break;
    case 'slow-headers': {
      const head = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';
      if (response.socket) drip(Buffer.from(head), fault.intervalMs, response.socket);
      break;
    }
    case 'reset':
      reset();
      break;
    case 'truncated':
      response.writeHead(200, { 'content-length': 1000 });
      response.write('{"received":', () => response.destroy());
      break;
    case 'huge':
      response.writeHead(200, { 'content-length': fault.bytes });
      Readable.from(zeroes(fault.bytes)).pipe(response);
      break;
    case 'hang':
    case 'by-delivery': // resolved before it comes here
      break;
  }
}

/** Writes a byte at a time and stops when the other side is gone. */
function drip(bytes: Buffer, intervalMs: number, to: Writable): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < bytes.length) to.write(bytes.subarray(sent, ++sent));
    if (sent < bytes.length) return;
    clearInterval(timer);
    to.end();
  }, intervalMs);
  to.on('close', () => clearInterval(timer));
}

function* zeroes(bytes: number): Generator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024, '0');
  for (let left = bytes; left > 0; left -= chunk.length)
    yield chunk.subarray(0, Math.min(left, chunk.length));
}
