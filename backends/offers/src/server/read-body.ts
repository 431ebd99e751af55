import type { IncomingMessage } from 'node:http';

export const MAX_BODY_BYTES = 1_024 * 1_024;

/** Undefined where the body is larger than allowed. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop must not destroy the socket that the refusal is written to.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
