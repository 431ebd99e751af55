import { Agent, type IncomingMessage, request } from 'node:http';

/** A request as bytes: fetch would mend paths and headers that are to arrive broken. */
export interface WireRequest {
  readonly method: string;
  /** With the query, as it is sent. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface WireAnswer {
  /** 0 where the connection was closed before an answer. */
  readonly status: number;
  readonly contentType: string;
  readonly requestId: string | undefined;
  /** Empty for a stream of events, which does not end by itself. */
  readonly text: string;
}

export interface Wire {
  send(asked: WireRequest): Promise<WireAnswer>;
  close(): void;
}

export function openWire(baseUrl: string): Wire {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const { hostname, port } = new URL(baseUrl);

  return {
    send: ({ method, path, headers, body }) =>
      new Promise((resolve) => {
        const length = body === undefined ? {} : { 'content-length': `${Buffer.byteLength(body)}` };
        const asked = request(
          { agent, hostname, port, method, path, headers: { ...headers, ...length } },
          (answer) => void read(answer).then(resolve),
        );
        asked.once('error', (error) =>
          resolve({ status: 0, contentType: '', requestId: undefined, text: error.message }),
        );
        asked.end(body);
      }),
    close: () => agent.destroy(),
  };
}

async function read(answer: IncomingMessage): Promise<WireAnswer> {
  const contentType = answer.headers['content-type'] ?? '';
  const [requestId] = [answer.headers['x-request-id']].flat();
  const status = answer.statusCode ?? 0;
  if (contentType.startsWith('text/event-stream')) {
    answer.destroy();
    return { status, contentType, requestId, text: '' };
  }
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of answer) chunks.push(chunk as Buffer);
  } catch {
    // Cut off in the middle: what has come is judged, and is no JSON.
  }
  return { status, contentType, requestId, text: Buffer.concat(chunks).toString() };
}
