import { connect, type Socket } from 'node:net';

/**
 * HTTP/1.1 over connections that are kept, as many as there are requests under way, up to a bound. It reads no more of an
 * answer than it must: a generator that costs as much as the server would measure itself. All connections are used in turn,
 * so that none is idle for so long that the server closes it.
 */
export interface RawAnswer {
  readonly status: number;
  /** As it came, with the status line. */
  readonly head: string;
  readonly body: string;
}

export interface Connections {
  /** The whole request as text. Rejects where the connection is lost or no answer comes in time. */
  request(text: string, timeoutMs: number): Promise<RawAnswer>;
  /** Opens all of them, each by a request, so that none is opened while something is measured. */
  openAll(text: string, timeoutMs: number): Promise<void>;
  close(): void;
}

interface Asked {
  readonly text: string;
  readonly resolve: (answer: RawAnswer) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const END_OF_HEAD = '\r\n\r\n';

export function openConnections(address: { host: string; port: number }, most: number): Connections {
  const free: Socket[] = [];
  const all = new Map<Socket, Asked | undefined>();
  const waiting: Asked[] = [];

  function open(): Socket {
    const socket = connect({ ...address, noDelay: true });
    let received = '';
    socket.setEncoding('latin1');
    all.set(socket, undefined);
    socket.on('data', (chunk) => {
      received += chunk;
      const answer = readAnswer(received);
      if (answer === undefined) return;
      received = '';
      const asked = all.get(socket);
      clearTimeout(asked?.timer);
      all.set(socket, undefined);
      asked?.resolve(answer);
      next(socket);
    });
    const lose = (error?: Error) => {
      const asked = all.get(socket);
      all.delete(socket);
      const place = free.indexOf(socket);
      if (place >= 0) free.splice(place, 1);
      clearTimeout(asked?.timer);
      asked?.reject(error ?? new Error('the connection was closed'));
    };
    socket.once('error', lose);
    socket.once('close', () => lose());
    return socket;
  }

  function next(socket: Socket): void {
    const asked = waiting.shift();
    if (asked === undefined) free.push(socket);
    else send(socket, asked);
  }

  function send(socket: Socket, asked: Asked): void {
    all.set(socket, asked);
    socket.write(asked.text, 'latin1');
  }

  /** Not answered in time: its connection is given up, because the answer may still come. */
  function giveUp(asked: Asked): void {
    const place = waiting.indexOf(asked);
    if (place >= 0) waiting.splice(place, 1);
    asked.reject(new Error('no answer in time'));
    for (const [socket, current] of all) {
      if (current !== asked) continue;
      all.set(socket, undefined);
      socket.destroy();
    }
  }

  function ask(text: string, timeoutMs: number, choose: () => Socket | undefined): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      const asked: Asked = { text, resolve, reject, timer: setTimeout(() => giveUp(asked), timeoutMs) };
      const socket = choose();
      if (socket === undefined) waiting.push(asked);
      else send(socket, asked);
    });
  }

  return {
    request: (text, timeoutMs) =>
      ask(text, timeoutMs, () => free.shift() ?? (all.size < most ? open() : undefined)),
    async openAll(text, timeoutMs) {
      while (all.size < most) await ask(text, timeoutMs, open);
    },
    close() {
      for (const socket of all.keys()) socket.destroy();
    },
  };
}

/** Undefined while there is more to come. Bytes are read as characters one by one, so lengths are lengths. */
function readAnswer(received: string): RawAnswer | undefined {
  const end = received.indexOf(END_OF_HEAD);
  if (end < 0) return undefined;
  const head = received.slice(0, end);
  const length = Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0);
  const from = end + END_OF_HEAD.length;
  if (received.length < from + length) return undefined;
  return { status: Number(head.slice(9, 12)), head, body: received.slice(from, from + length) };
}
