/** What a delivery never reaches. */
export const BODY_LIMIT = 1024 * 1024;

/** The body of a request that Node has taken, or undefined where it is larger than a delivery can be. */
export async function readChunks(request: AsyncIterable<unknown>): Promise<Uint8Array | undefined> {
  const body = collector();
  const chunks = request[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await chunks.next();
    if (done) return body.whole();
    if (body.take(value)) continue;
    // `for await` would end here, and with it the connection, before the sender had its answer.
    void passOver(chunks).catch(() => {});
    return undefined;
  }
}

/** For as long as the server lets a request last. */
async function passOver(chunks: AsyncIterator<unknown>): Promise<void> {
  while (!(await chunks.next()).done);
}

/** The same of a `Request`; what it says of its length may be missing or wrong. */
export async function readRequest(request: Request): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > BODY_LIMIT) return undefined;
  // Some runtimes have no stream; a body that was read before is refused by its own error.
  if (request.bodyUsed || !request.body) return new Uint8Array(await request.arrayBuffer());
  const body = collector();
  const reader = request.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return body.whole();
      if (!body.take(value)) return undefined;
    }
  } finally {
    // Not cancelled: on Node that closes the connection before it is answered.
    reader.releaseLock();
  }
}

function collector() {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    /** Whether it is still small enough. */
    take(chunk: unknown): boolean {
      const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : (chunk as Uint8Array);
      size += bytes.length;
      chunks.push(bytes);
      return size <= BODY_LIMIT;
    },
    whole(): Uint8Array {
      const whole = new Uint8Array(size);
      let at = 0;
      for (const chunk of chunks) {
        whole.set(chunk, at);
        at += chunk.length;
      }
      return whole;
    },
  };
}
