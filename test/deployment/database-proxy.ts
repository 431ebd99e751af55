import { startToxicProxy } from './toxic-proxy.ts';

/** PostgreSQL behind a wire that a test can listen to: named statements are seen as they pass. */
export interface DatabaseProxy {
  readonly url: string;
  /** Called before bytes that name the statement go to the server, and when the server has answered them. */
  onStatement: (text: string, moment: 'before' | 'after') => 'pass' | 'cut';
  close(): Promise<void>;
}

export interface ProxyConduct {
  /** Start every session without the options the client asked for, as poolers may. */
  readonly dropStartupOptions?: boolean;
  /** What the client reads in place of the server's bytes; as many as there were. */
  readonly rewrite?: (answer: string) => string;
}

export async function startDatabaseProxy(
  databaseUrl: string,
  { dropStartupOptions = false, rewrite }: ProxyConduct = {},
): Promise<DatabaseProxy> {
  const link = await startToxicProxy(databaseUrl, () => {
    let unanswered = '';
    let started = !dropStartupOptions;
    return {
      toServer(chunk) {
        const text = chunk.toString('latin1');
        if (proxy.onStatement(text, 'before') === 'cut') return undefined;
        unanswered += text;
        const sent = started ? chunk : withoutOptions(chunk);
        started = true;
        return sent;
      },
      toClient(chunk) {
        const text = unanswered;
        unanswered = '';
        if (text !== '' && proxy.onStatement(text, 'after') === 'cut') return undefined;
        return rewrite === undefined ? chunk : Buffer.from(rewrite(chunk.toString('latin1')), 'latin1');
      },
    };
  });
  const proxy: DatabaseProxy = {
    url: link.url,
    onStatement: () => 'pass',
    close: () => link.close(),
  };
  return proxy;
}

/** A startup message: its length, the protocol's version, then names and values, each ended by a zero byte. */
function withoutOptions(message: Buffer): Buffer {
  const words = message.subarray(8).toString('latin1').split('\0');
  const kept: string[] = [];
  for (let i = 0; i + 1 < words.length && words[i] !== ''; i += 2) {
    if (words[i] !== 'options') kept.push(words[i] as string, words[i + 1] as string);
  }
  const body = Buffer.from(`${kept.map((word) => `${word}\0`).join('')}\0`, 'latin1');
  const head = Buffer.from(message.subarray(0, 8));
  head.writeInt32BE(8 + body.length);
  return Buffer.concat([head, body]);
}
