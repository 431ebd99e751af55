import { createHmac, randomUUID } from 'node:crypto';
import { type Dispatcher, request } from 'undici';
import { KycProviderError } from '../../../ports/kyc-provider.ts';
import { parseObject } from './callbacks.ts';

export interface SumsubClientOptions {
  readonly baseUrl: string;
  readonly appToken: string;
  readonly secretKey: string;
  /** The wall clock: Sumsub refuses a signature whose time is not now, so a moved business clock must not sign. */
  readonly unixSeconds: () => number;
  readonly timeoutMs?: number;
  readonly dispatcher?: Dispatcher;
}

export interface SumsubAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface SumsubBody {
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

export interface SumsubClient {
  /** Answers of 2xx, and of the statuses the caller can deal with; any other is a `KycProviderError`. */
  call(
    method: 'GET' | 'POST',
    path: string,
    body?: SumsubBody,
    expected?: readonly number[],
  ): Promise<SumsubAnswer>;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 1024 * 1024;
const LOOPBACK = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** Signed requests: HMAC-SHA256 over time, method, path with query, and the exact bytes of the body. */
export function createSumsubClient(options: SumsubClientOptions): SumsubClient {
  const { appToken, secretKey, unixSeconds, timeoutMs = DEFAULT_TIMEOUT_MS, dispatcher } = options;
  const base = new URL(options.baseUrl);
  // Personal data and documents leave by this address.
  if (base.protocol !== 'https:' && !LOOPBACK.has(base.hostname)) {
    throw new KycProviderError('misconfigured', 'the address of the KYC provider has to be https');
  }

  function signedHeaders(method: string, path: string, body: SumsubBody | undefined): Record<string, string> {
    const timestamp = String(Math.floor(unixSeconds()));
    const signature = createHmac('sha256', secretKey).update(timestamp + method + path);
    if (body !== undefined) signature.update(body.bytes);
    return {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': body.contentType }),
      'X-App-Token': appToken,
      'X-App-Access-Ts': timestamp,
      'X-App-Access-Sig': signature.digest('hex'),
    };
  }

  return {
    async call(method, path, body, expected = []) {
      const answer = await send(`${base.origin}${path}`, {
        method,
        headers: signedHeaders(method, path, body),
        body: body?.bytes ?? null,
        signal: AbortSignal.timeout(timeoutMs),
        ...(dispatcher && { dispatcher }),
      });
      const good = answer.status >= 200 && answer.status < 300;
      if (good || expected.includes(answer.status)) return answer;
      throw failureOf(answer.status, answer.retryAfter);
    },
  };
}

async function send(
  url: string,
  options: Parameters<typeof request>[1],
): Promise<SumsubAnswer & { retryAfter: string | undefined }> {
  try {
    const { statusCode, headers, body } = await request(url, options);
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of body) {
      const bytes = chunk as Uint8Array;
      length += bytes.length;
      if (length > MAX_ANSWER_BYTES) throw new RangeError('the answer is too long');
      chunks.push(bytes);
    }
    const retryAfter = headers['retry-after'];
    return {
      status: statusCode,
      body: parseObject(Buffer.concat(chunks)) ?? {},
      retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
    };
  } catch {
    // Refused, reset or timed out: every call may be repeated, so it does not matter whether it arrived.
    throw new KycProviderError('unavailable', 'the KYC provider did not answer');
  }
}

function failureOf(status: number, retryAfter: string | undefined): KycProviderError {
  const message = `the KYC provider answered ${status}`;
  if (status === 401 || status === 403) return new KycProviderError('misconfigured', message);
  if (status === 408 || status === 429 || status >= 500) {
    const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : undefined;
    return new KycProviderError('unavailable', message, seconds);
  }
  return new KycProviderError('refused', message);
}

export function jsonBody(value: object): SumsubBody {
  return { contentType: 'application/json', bytes: Buffer.from(JSON.stringify(value)) };
}

export interface FilePart {
  readonly fileName: string;
  readonly contentType: string;
  readonly content: Uint8Array;
}

/** A form of a JSON field and a file, made here because the signature covers its very bytes. */
export function documentForm(metadata: object, file: FilePart): SumsubBody {
  const boundary = `causeway-${randomUUID()}`;
  const head = [
    `--${boundary}`,
    'content-disposition: form-data; name="metadata"',
    '',
    JSON.stringify(metadata),
    `--${boundary}`,
    `content-disposition: form-data; name="content"; filename="${file.fileName}"`,
    `content-type: ${file.contentType}`,
    '',
    '',
  ].join('\r\n');
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: Buffer.concat([Buffer.from(head), file.content, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}
