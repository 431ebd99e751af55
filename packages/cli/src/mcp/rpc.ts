/** JSON-RPC 2.0 over lines: one message a line, requests answered as they finish. Nothing here knows what is asked. */

export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Of ours: more requests at a time than are served. */
  busy: -32000,
} as const;

/** A refusal that the caller is told as it stands. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export type Params = Readonly<Record<string, unknown>>;
type Id = string | number;

export interface PeerOptions {
  /** Writes one line. */
  readonly write: (line: string) => void;
  readonly handle: (method: string, params: Params, signal: AbortSignal) => Promise<object>;
  /** A request failed for a reason that is none of the caller's. */
  readonly onFault: (error: unknown) => void;
  readonly maxInFlight: number;
}

export interface Peer {
  /** Takes one line; resolves when it has been answered, or needs no answer. */
  receive(line: string): Promise<void>;
  /** A line that was too long to be kept. */
  refuseLong(maxBytes: number): void;
  /** Gives up whatever is still being worked on. */
  abort(): void;
}

export function createPeer({ write, handle, onFault, maxInFlight }: PeerOptions): Peer {
  const inFlight = new Map<Id, AbortController>();
  const send = (message: object) => write(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const refuse = (id: Id | null, { code, message, data }: RpcError) =>
    send({ id, error: { code, message, ...(data === undefined ? {} : { data }) } });

  async function answer(id: Id, method: string, params: Params): Promise<void> {
    const controller = new AbortController();
    inFlight.set(id, controller);
    let reply: () => void;
    try {
      const result = await handle(method, params, controller.signal);
      reply = () => send({ id, result });
    } catch (error) {
      if (!(error instanceof RpcError) && !controller.signal.aborted) onFault(error);
      const told =
        error instanceof RpcError
          ? error
          : new RpcError(RPC.internalError, 'The server failed; see its log.');
      reply = () => refuse(id, told);
    }
    inFlight.delete(id);
    // A cancelled request is not waited for any more.
    if (!controller.signal.aborted) reply();
  }

  function cancel({ requestId }: Params): void {
    if (typeof requestId === 'string' || typeof requestId === 'number') inFlight.get(requestId)?.abort();
  }

  async function receive(line: string): Promise<void> {
    if (line.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      refuse(null, new RpcError(RPC.parseError, 'The line is no JSON.'));
      return;
    }
    if (!isObject(message) || message.jsonrpc !== '2.0') {
      refuse(
        null,
        new RpcError(RPC.invalidRequest, 'A line is one JSON-RPC 2.0 message; batches are not taken.'),
      );
      return;
    }
    const { id, method, params = {} } = message;
    // Answers to requests of ours: there are none.
    if (method === undefined && ('result' in message || 'error' in message)) return;
    const isNotification = !('id' in message);
    if (!isNotification && !isId(id)) {
      refuse(null, new RpcError(RPC.invalidRequest, 'id is a string or an integer.'));
      return;
    }
    if (typeof method !== 'string') {
      refuse(isId(id) ? id : null, new RpcError(RPC.invalidRequest, 'method is missing.'));
      return;
    }
    if (!isId(id)) {
      if (method === 'notifications/cancelled' && isObject(params)) cancel(params);
      return;
    }
    if (!isObject(params)) refuse(id, new RpcError(RPC.invalidParams, 'params is an object.'));
    else if (inFlight.has(id)) refuse(id, new RpcError(RPC.invalidRequest, 'This id is in use.'));
    else if (inFlight.size >= maxInFlight)
      refuse(id, new RpcError(RPC.busy, `At most ${maxInFlight} requests are served at a time; try again.`));
    else await answer(id, method, params);
  }

  return {
    receive,
    refuseLong: (maxBytes) =>
      refuse(null, new RpcError(RPC.parseError, `A message has at most ${maxBytes} bytes.`)),
    abort() {
      for (const controller of inFlight.values()) controller.abort();
    },
  };
}

/** Lines of a stream of bytes; undefined in place of one that is longer, of which no more than that is kept. */
export async function* readLines(
  input: AsyncIterable<Uint8Array | string>,
  maxBytes: number,
): AsyncGenerator<string | undefined, void, void> {
  let held: Buffer[] = [];
  let size = 0;
  const take = (part: Buffer) => {
    size += part.length;
    if (size <= maxBytes) held.push(part);
    else held = [];
  };
  const end = () => {
    const line = size > maxBytes ? undefined : Buffer.concat(held).toString('utf8');
    [held, size] = [[], 0];
    return line;
  };
  for await (const chunk of input) {
    let rest = typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk);
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      take(rest.subarray(0, at));
      yield end();
      rest = rest.subarray(at + 1);
    }
    take(rest);
  }
  if (size > 0) yield end();
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || Number.isSafeInteger(value);
}
