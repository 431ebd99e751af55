import { getAddress, isAddress, zeroAddress } from 'viem';
import type { Address } from './chain-settings.ts';

/**
 * Whether the text is an address in its EIP-55 spelling. An address in one case carries no checksum, so a slip of the pen
 * in it would go unnoticed; nobody holds the key of the zero address.
 */
export function isChecksumAddress(text: string): boolean {
  return isAddress(text, { strict: false }) && getAddress(text) === text && text !== zeroAddress;
}

/** The EIP-55 spelling of an address in one case; undefined for anything else, also for one whose checksum is wrong. */
export function toChecksumAddress(text: string): Address | undefined {
  if (isChecksumAddress(text)) return text as Address;
  const isInOneCase = text === text.toLowerCase() && isAddress(text) && text !== zeroAddress;
  return isInOneCase ? getAddress(text) : undefined;
}
