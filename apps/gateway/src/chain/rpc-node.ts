import { request } from 'undici';
import { BaseError, RpcRequestError } from 'viem';
import type { Json } from '../engine/intent.ts';

/** One node's JSON-RPC. Its address may hold a provider's key, so no error of this file names it. */
export interface RpcNode {
  /** How it is called in logs and errors: its place in the configuration. */
  readonly name: string;
  /** Throws `NodeUnavailableError` where another node might do better, `RpcRequestError` where it would say the same. */
  call(method: string, params: unknown, timeoutMs?: number): Promise<unknown>;
}

/** The node did not answer, or not with an answer to the question. */
export class NodeUnavailableError extends BaseError {
  constructor(node: string, reason: string) {
    super(`${node} is unavailable (${reason})`, { name: 'NodeUnavailableError' });
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

export function rpcNode(name: string, url: string): RpcNode {
  let nextId = 1;
  return {
    name,
    async call(method, params, timeoutMs = TIMEOUT_MS) {
      const body = { jsonrpc: '2.0', id: nextId++, method, params: params ?? [] };
      const { result, error } = await exchange(name, url, JSON.stringify(body), timeoutMs);
      if (error === undefined) return result;
      if (BUSY_CODES.includes(error.code)) throw new NodeUnavailableError(name, `code ${error.code}`);
      throw new RpcRequestError({ body: { method }, error, url: name });
    },
  };
}

async function exchange(name: string, url: string, body: string, timeoutMs: number): Promise<RpcAnswer> {
  let status: number;
  let text: string;
  try {
    const answer = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    });
    status = answer.statusCode;
    text = await capped(answer.body);
  } catch (error) {
    throw new NodeUnavailableError(name, codeOf(error));
  }
  const answer = parsed(text);
  // Some nodes put a verdict into an answer with an error status; it is still their verdict.
  if (answer === undefined) throw new NodeUnavailableError(name, `status ${status}`);
  return answer;
}

async function capped(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error('answer too long');
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
