import { request } from 'undici';

/** One JSON question to a service outside. What goes wrong is told without its address, its token or its answer. */
export interface JsonExchange {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly accessToken?: string | undefined;
  /** The whole Authorization header, where the service does not take bearer tokens. */
  readonly authorization?: string | undefined;
  readonly body?: object;
  readonly timeoutMs: number;
  readonly maxAnswerBytes?: number;
}

export class ExchangeFailedError extends Error {
  override readonly name = 'ExchangeFailedError';
  /** What it answered, where it answered at all. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

const MAX_ANSWER_BYTES = 65_536;

export async function exchangeJson(exchange: JsonExchange): Promise<unknown> {
  const { status, text } = await send(exchange);
  if (status !== 200) throw new ExchangeFailedError(`answered ${status}`, status);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ExchangeFailedError('answered something unreadable', status);
  }
}

async function send(exchange: JsonExchange) {
  const { url, method, accessToken, body, timeoutMs, maxAnswerBytes = MAX_ANSWER_BYTES } = exchange;
  const authorization = accessToken === undefined ? exchange.authorization : `Bearer ${accessToken}`;
  try {
    const answer = await request(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(authorization === undefined ? {} : { authorization }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: answer.statusCode, text: await capped(answer.body, maxAnswerBytes) };
  } catch (error) {
    if (error instanceof ExchangeFailedError) throw error;
    throw new ExchangeFailedError(`does not answer (${codeOf(error)})`);
  }
}

async function capped(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new ExchangeFailedError('answered too much');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
