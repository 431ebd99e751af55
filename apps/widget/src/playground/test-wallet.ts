import { privateKeySigner, type TypedData } from '@causeway/sdk/signing';
import { WalletError } from '@causeway/widget/wallets';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import type { PlaygroundChain } from './sandbox.ts';

/**
 * A wallet for a sandbox: it announces itself as an extension would (EIP-6963), signs with a key that this tab made up, and
 * asks nobody. What it signs is worth nothing outside the local chains.
 */
export interface TestWallet {
  readonly address: string;
  /** The next request is answered as by a customer who refuses. */
  refuseNext(): void;
}

type Rpc = (chain: string, method: string, params: readonly unknown[]) => Promise<unknown>;

export interface TestWalletOptions {
  readonly chains: readonly PlaygroundChain[];
  readonly rpc: Rpc;
  /** What it was asked for, and what it answered. */
  readonly asked: (method: string, outcome: string) => void;
}

const KEY = 'causeway-playground-wallet';
const ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><rect width='24' height='24' rx='6' fill='%230b6e4f'/><path d='M6 9h12v8H6z M6 9l9-3v3' fill='none' stroke='white' stroke-width='2'/></svg>";
const USER_REJECTED = 4001;
const CHAIN_UNKNOWN = 4902;
const UNSUPPORTED = 4200;

export function startTestWallet({ chains, rpc, asked }: TestWalletOptions): TestWallet {
  const key = keyOfTab();
  const signer = privateKeySigner(toHex(key));
  const listeners = new Map<string, Set<(data: unknown) => void>>();
  let [chain] = chains;
  let refuses = false;

  const methods: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    eth_accounts: () => [signer.address],
    eth_requestAccounts: () => [signer.address],
    eth_chainId: () => quantity(BigInt(chain?.chainId ?? 0)),
    wallet_switchEthereumChain: ([wanted]) => {
      const { chainId } = (wanted ?? {}) as { chainId?: string };
      const found = chains.find((one) => quantity(BigInt(one.chainId)) === chainId);
      if (found === undefined) throw new WalletError(CHAIN_UNKNOWN, 'The test wallet has no such chain.');
      chain = found;
      for (const listener of listeners.get('chainChanged') ?? []) listener(chainId);
      return null;
    },
    personal_sign: ([message]) => signMessage(String(message), key),
    eth_signTypedData_v4: async ([, data]) => {
      const typed = (typeof data === 'string' ? JSON.parse(data) : data) as TypedData;
      const signature = await signer.signTypedData(typed);
      return typeof signature === 'string' ? signature : toHex(signature);
    },
    eth_sendTransaction: ([transaction]) => {
      if (chain === undefined) throw new WalletError(CHAIN_UNKNOWN, 'There is no chain.');
      return sendTransaction(transaction as WalletTransaction, chain, signer.address, key, rpc);
    },
  };

  async function request({ method, params = [] }: { method: string; params?: readonly unknown[] }) {
    try {
      const run = methods[method];
      if (run === undefined) throw new WalletError(UNSUPPORTED, `The test wallet has no ${method}.`);
      if (refuses) {
        refuses = false;
        throw new WalletError(USER_REJECTED, 'User rejected the request.');
      }
      const result = await run(params);
      asked(method, typeof result === 'string' ? result : JSON.stringify(result));
      return result;
    } catch (error) {
      asked(method, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  const provider = {
    request,
    on(event: string, listener: (data: unknown) => void) {
      const known = listeners.get(event) ?? new Set();
      listeners.set(event, known.add(listener));
    },
    removeListener: (event: string, listener: (data: unknown) => void) =>
      void listeners.get(event)?.delete(listener),
  };
  const info = {
    uuid: crypto.randomUUID(),
    name: 'Sandbox test wallet',
    icon: ICON,
    rdns: 'causeway.sandbox.test-wallet',
  };
  const announce = () =>
    window.dispatchEvent(
      new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }),
    );
  window.addEventListener('eip6963:requestProvider', announce);
  announce();
  return {
    address: signer.address,
    refuseNext() {
      refuses = true;
    },
  };
}

/** The same key for as long as the tab is open, so that an order goes on after a reload. */
function keyOfTab(): Uint8Array {
  const kept = sessionStorage.getItem(KEY);
  if (kept !== null && /^[0-9a-f]{64}$/.test(kept)) return fromHex(kept);
  const made = secp256k1.utils.randomSecretKey();
  sessionStorage.setItem(KEY, toHex(made).slice(2));
  return made;
}

function sign(digest: Uint8Array, key: Uint8Array): { r: bigint; s: bigint; recovery: number } {
  const signed = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' });
  const number = (bytes: Uint8Array) => BigInt(toHex(bytes));
  return { recovery: signed[0] ?? 0, r: number(signed.subarray(1, 33)), s: number(signed.subarray(33)) };
}

function signMessage(message: string, key: Uint8Array): string {
  const bytes = /^0x([0-9a-f]{2})*$/i.test(message) ? fromHex(message.slice(2)) : encode(message);
  const { r, s, recovery } = sign(
    keccak_256(join([encode(`\u0019Ethereum Signed Message:\n${bytes.length}`), bytes])),
    key,
  );
  return `0x${word(r)}${word(s)}${(27 + recovery).toString(16)}`;
}

interface WalletTransaction {
  readonly to: string;
  readonly data?: string;
  readonly value?: string;
}

/** A legacy transaction with the chain’s id in its signature (EIP-155): every chain takes it. */
async function sendTransaction(
  { to, data = '0x', value = '0x0' }: WalletTransaction,
  { slug, chainId }: PlaygroundChain,
  from: string,
  key: Uint8Array,
  rpc: Rpc,
): Promise<unknown> {
  const call = { from, to, data, value: quantity(BigInt(value)) };
  const [nonce, gasPrice, gas] = await Promise.all([
    rpc(slug, 'eth_getTransactionCount', [from, 'pending']),
    rpc(slug, 'eth_gasPrice', []),
    rpc(slug, 'eth_estimateGas', [call]),
  ]);
  const fields = [
    numberBytes(BigInt(String(nonce))),
    numberBytes(BigInt(String(gasPrice)) * 2n),
    numberBytes((BigInt(String(gas)) * 12n) / 10n),
    fromHex(to.slice(2)),
    numberBytes(BigInt(value)),
    fromHex(data.slice(2)),
  ];
  const id = BigInt(chainId);
  const digest = keccak_256(rlpList([...fields, numberBytes(id), numberBytes(0n), numberBytes(0n)]));
  const { r, s, recovery } = sign(digest, key);
  const raw = rlpList([
    ...fields,
    numberBytes(id * 2n + 35n + BigInt(recovery)),
    numberBytes(r),
    numberBytes(s),
  ]);
  return rpc(slug, 'eth_sendRawTransaction', [toHex(raw)]);
}

function rlpList(items: readonly Uint8Array[]): Uint8Array {
  const body = join(items.map(rlpBytes));
  return join([rlpHead(body.length, 0xc0), body]);
}

function rlpBytes(bytes: Uint8Array): Uint8Array {
  const [first] = bytes;
  if (bytes.length === 1 && first !== undefined && first < 0x80) return bytes;
  return join([rlpHead(bytes.length, 0x80), bytes]);
}

function rlpHead(length: number, offset: number): Uint8Array {
  if (length < 56) return Uint8Array.of(offset + length);
  const size = numberBytes(BigInt(length));
  return join([Uint8Array.of(offset + 55 + size.length), size]);
}

function numberBytes(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array();
  const digits = value.toString(16);
  return fromHex(digits.length % 2 === 0 ? digits : `0${digits}`);
}

const quantity = (value: bigint) => `0x${value.toString(16)}`;
const word = (value: bigint) => value.toString(16).padStart(64, '0');
const encode = (text: string) => new TextEncoder().encode(text);
const fromHex = (digits: string) =>
  Uint8Array.from(digits.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
const toHex = (bytes: Uint8Array): `0x${string}` =>
  `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;

function join(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
