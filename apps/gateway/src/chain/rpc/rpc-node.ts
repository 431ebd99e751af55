import { request } from 'undici';
import { BaseError, RpcRequestError } from 'viem';
import type { Json } from '../../engine/intent.ts';

/** One node's JSON-RPC. Its address may hold a provider's key, so no error of this file names it. */
export interface RpcNode {
  /** How it is called in logs and errors: its place in the configuration. */
  readonly name: string;
  /** Throws `NodeUnavailableError` where another node might do better, `RpcRequestError` where it would say the same. */
  call(method: string, params: unknown, limits?: CallLimits): Promise<unknown>;
}

export interface CallLimits {
  readonly timeoutMs?: number | undefined;
  /** A longer answer is not read to its end. */
  readonly maxAnswerBytes?: number | undefined;
}

/** The node did not answer, or not with an answer to the question. */
export class NodeUnavailableError extends BaseError {
  constructor(node: string, reason: string) {
    super(`${node} is unavailable (${reason})`, { name: 'NodeUnavailableError' });
  }
}

/** The node answers with more than is taken: asking for less helps. */
export class AnswerTooLongError extends BaseError {
  constructor(node: string) {
    super(`${node} answers with too much`, { name: 'AnswerTooLongError' });
  }
}

interface RpcAnswer {
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Codes by which nodes say "not now" or "not here": rate limits, and methods or states they do not serve. */
const BUSY_CODES: readonly number[] = [-32_005, -32_007, 429, -32_002, -32_601, -32_004];
/** Some use the same codes for "too much": that is no matter of another moment or another node. */
const ABOUT_SIZE = /\b(results?|logs|range|size)\b/i;

export function rpcNode(name: string, url: string): RpcNode {
  let nextId = 1;
  return {
    name,
    async call(method, params, limits = {}) {
      const body = { jsonrpc: '2.0', id: nextId++, method, params: params ?? [] };
      const { result, error } = await exchange(name, url, JSON.stringify(body), limits);
      if (error === undefined) return result;
      const isTooMuch = method === 'eth_getLogs' && ABOUT_SIZE.test(error.message);
      if (BUSY_CODES.includes(error.code) && !isTooMuch)
        throw new NodeUnavailableError(name, `code ${error.code}`);
      throw new RpcRequestError({ body: { method }, error, url: name });
    },
  };
}

async function exchange(
  name: string,
  url: string,
  body: string,
  { timeoutMs = TIMEOUT_MS, maxAnswerBytes = MAX_ANSWER_BYTES }: CallLimits,
): Promise<RpcAnswer> {
  let status: number;
  let text: string | undefined;
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    status = answer.statusCode;
    text = await capped(answer.body, maxAnswerBytes);
  } catch (error) {
    throw new NodeUnavailableError(name, codeOf(error));
  }
  if (text === undefined) throw new AnswerTooLongError(name);
  const answer = parsed(text);
  // Some nodes put a verdict into an answer with an error status; it is still their verdict.
  if (answer === undefined) throw new NodeUnavailableError(name, `status ${status}`);
  return answer;
}

/** Undefined where it is longer than that. */
async function capped(body: AsyncIterable<Buffer>, maxBytes: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): RpcAnswer | undefined {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof content !== 'object' || content === null) return undefined;
  const { error, result } = content as RpcAnswer;
  const isVerdict = typeof error?.code === 'number' && typeof error.message === 'string';
  return isVerdict || (error == null && result !== undefined) ? ({ result, error } as RpcAnswer) : undefined;
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
