import { getAddress, isAddress, zeroAddress } from 'viem';

/**
 * Whether the text is an address in its EIP-55 spelling. An address in one case carries no checksum, so a slip of the pen
 * in it would go unnoticed; nobody holds the key of the zero address.
 */
export function isChecksumAddress(text: string): boolean {
  return isAddress(text, { strict: false }) && getAddress(text) === text && text !== zeroAddress;
}
