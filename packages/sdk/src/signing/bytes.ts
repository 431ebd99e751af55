import { keccak_256 } from '@noble/hashes/sha3.js';

/** Bytes as chains write them: hexadecimal text, words of 32 bytes. */
export type Hex = `0x${string}`;
export type Address = Hex;

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const HEX = /^0x(?:[0-9a-fA-F]{2})*$/;

export function isAddress(value: unknown): value is Address {
  return typeof value === 'string' && ADDRESS.test(value);
}

export function isHex(value: unknown): value is Hex {
  return typeof value === 'string' && HEX.test(value);
}

export function sameAddress(left: unknown, right: unknown): boolean {
  return isAddress(left) && isAddress(right) && left.toLowerCase() === right.toLowerCase();
}

export function hexToBytes(hex: Hex): Uint8Array {
  if (!isHex(hex)) throw new TypeError('bytes are written as 0x and pairs of hexadecimal digits');
  return Uint8Array.from(hex.slice(2).match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

export function bytesToHex(bytes: Uint8Array): Hex {
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

export function keccak(hex: Hex): Hex {
  return bytesToHex(keccak_256(hexToBytes(hex)));
}

export function keccakText(text: string): Hex {
  return bytesToHex(keccak_256(new TextEncoder().encode(text)));
}

export function concat(...parts: readonly Hex[]): Hex {
  return `0x${parts.map((part) => part.slice(2)).join('')}`;
}

/** A number or an address as a word. */
export function word(value: bigint | number | Address): Hex {
  const digits = typeof value === 'string' ? value.slice(2).toLowerCase() : value.toString(16);
  if (digits.startsWith('-') || digits.length > 64) throw new RangeError('it does not fit into 32 bytes');
  return `0x${digits.padStart(64, '0')}`;
}

/** EIP-55: the spelling whose letters are its checksum. */
export function checksumAddress(address: Address): Address {
  const digits = address.slice(2).toLowerCase();
  const hash = keccakText(digits).slice(2);
  const spelt = [...digits].map((digit, at) =>
    Number.parseInt(hash[at] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${spelt.join('')}`;
}

/** A decimal text in the smallest units of a token; undefined where it is none, or finer than the token. */
export function toAtomic(text: unknown, decimals: number): bigint | undefined {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(typeof text === 'string' ? text : '') ?? [];
  if (whole === undefined || fraction.replace(/0+$/, '').length > decimals) return undefined;
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
}
