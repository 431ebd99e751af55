import { getAddress, isAddress, zeroAddress } from 'viem';
import type { FeeLimits } from './transactions/transaction-fees.ts';

/** What the gateway knows about one EVM network. Comes from configuration, or from a local deployment in a sandbox. */

export type Address = `0x${string}`;
export type Hex = `0x${string}`;

export interface ChainContracts {
  safeSingleton: Address;
  safeProxyFactory: Address;
  multiSendCallOnly: Address;
  fallbackHandler: Address;
  forwarder: Address;
  router: Address;
}

export interface ChainToken {
  code: string;
  address: Address;
  decimals: number;
}

export interface ChainSettings {
  slug: string;
  chainId: number;
  /** May carry a provider's key: never leaves the process. */
  rpcUrl: string;
  /** All nodes of the chain where there are several, the preferred one first. */
  rpcUrls?: readonly string[];
  /** How many of them must say the same before money moves on it; more than half of those that answer by default. */
  quorum?: number;
  /** The address partners are shown. */
  publicRpcUrl: string;
  /** Where people look at its transactions, without a slash at the end; not every chain has one. */
  explorerUrl?: string;
  /** How many blocks, its own included, a transaction needs before anything depends on it. */
  confirmations: number;
  /** What its transactions may offer for gas; the defaults of `transaction-fees.ts` where it says nothing. */
  fees?: FeeLimits;
  contracts: ChainContracts;
  tokens: readonly ChainToken[];
  treasury: Address;
}

/** A call to a contract, ready to be carried by any transaction. */
export interface ContractCall {
  to: Address;
  data: Hex;
  value: bigint;
}

/** One movement of tokens, in atomic units. */
export interface TokenTransfer {
  token: Address;
  to: Address;
  amount: bigint;
}

export function tokenByCode(settings: Pick<ChainSettings, 'slug' | 'tokens'>, code: string): ChainToken {
  const token = settings.tokens.find((candidate) => candidate.code === code);
  if (token === undefined) throw new Error(`${settings.slug} has no token ${code}`);
  return token;
}

/**
 * Whether the text is an address in its EIP-55 spelling. An address in one case carries no checksum, so a slip of the pen
 * in it would go unnoticed; the zero address has no key.
 */
export function isChecksumAddress(text: string): boolean {
  return isAddress(text, { strict: false }) && getAddress(text) === text && text !== zeroAddress;
}

/** An address in mixed case whose case is not that of EIP-55: a character of it was mistyped, or lost in a copy. */
export function hasWrongChecksum(address: Address): boolean {
  return !isInOneCase(address) && getAddress(address) !== address;
}

/**
 * Libraries refuse an address in upper case, so it gets its checksum. One in lower case stays as it is: nonces of a
 * forwarder are kept under the spelling that the chains file had.
 */
export function inOneSpelling(address: Address): Address {
  return address === address.toLowerCase() ? address : getAddress(address);
}

function isInOneCase(text: string): boolean {
  const digits = text.slice(2);
  return digits === digits.toLowerCase() || digits === digits.toUpperCase();
}

/** The EIP-55 spelling of an address in one case; undefined for anything else, also for one whose checksum is wrong. */
export function toChecksumAddress(text: string): Address | undefined {
  if (isChecksumAddress(text)) return text as Address;
  if (!isInOneCase(text) || !isAddress(text, { strict: false }) || text === zeroAddress) return undefined;
  return getAddress(text);
}
