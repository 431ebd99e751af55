import { isAddress, word } from './bytes.ts';
import { encodeCall } from './escrow.ts';

export interface NonceRequest {
  /** A node of your own choice: the service's answer is what is to be checked. */
  readonly rpcUrl: string;
  readonly forwarder: string;
  readonly wallet: string;
  readonly fetch?: typeof globalThis.fetch;
  readonly signal?: AbortSignal;
}

/**
 * The wallet's next nonce, from the chain itself: what `signTransfer` and `signBridge` compare as `nonce`.
 *
 * @example
 * const nonce = await readForwarderNonce({ rpcUrl, forwarder: trust.contracts.forwarder, wallet: trust.wallet });
 * await signTransfer({ order, parameters, owners, trust, nonce }, signer);
 */
export async function readForwarderNonce(request: NonceRequest): Promise<bigint> {
  const { rpcUrl, forwarder, wallet, fetch = globalThis.fetch, signal } = request;
  if (!isAddress(forwarder) || !isAddress(wallet)) throw new TypeError('an address has 20 bytes');
  const call = { to: forwarder, data: encodeCall('nonces(address)', word(wallet)) };
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_call', params: [call, 'latest'] }),
    ...(signal === undefined ? {} : { signal }),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message?: string } };
  // An address without code answers nothing, which is not zero.
  if (typeof result !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(result)) {
    throw new Error(
      `the node did not tell the nonce: ${error?.message ?? 'there is no forwarder at this address'}`,
    );
  }
  return BigInt(result);
}
