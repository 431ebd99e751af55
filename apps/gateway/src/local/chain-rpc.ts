/** Long, because a reorganisation plays the whole chain again before anything else is answered. */
const DEFAULT_TIMEOUT_MS = 60_000;

interface RpcAnswer {
  readonly result?: unknown;
  readonly error?: { readonly message?: string };
}

/** One JSON-RPC call to a local node. Not viem: this folder must stand without the chain adapters. */
export async function callRpc(
  rpcUrl: string,
  method: string,
  params: readonly unknown[] = [],
  timeoutMs = DEFAULT_TIMEOUT_MS,
): Promise<unknown> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  const answer = (await response.json()) as RpcAnswer;
  if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message ?? 'refused'}`);
  return answer.result;
}

/** For answers that are a hexadecimal quantity small enough to count with: block numbers, ids, lengths. */
export async function callRpcForNumber(
  rpcUrl: string,
  method: string,
  params: readonly unknown[] = [],
): Promise<number> {
  const result = await callRpc(rpcUrl, method, params);
  const number = typeof result === 'string' && /^0x[0-9a-f]+$/i.test(result) ? Number(result) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw new Error(`${method}: not a quantity`);
  return number;
}

export function toQuantity(value: number): string {
  return `0x${value.toString(16)}`;
}
