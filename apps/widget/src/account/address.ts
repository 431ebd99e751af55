import { checksumAddress } from '@causeway/sdk/signing';

/** Why a pasted text is not an address that something can be sent to; each has words of its own (`wallet.<kind>`). */
export type AddressProblem = 'required' | 'ens' | 'otherNetwork' | 'invalid' | 'checksum' | 'zero' | 'token';

export type AddressReading =
  | { readonly ok: false; readonly problem: AddressProblem }
  /** `isChecked`: its capital letters are a checksum, and they fit. */
  | { readonly ok: true; readonly address: string; readonly isChecked: boolean };

const ADDRESS = /^0x[0-9a-fA-F]{40}$/i;
const NAME = /^[^\s/:@]+\.[a-z][a-z0-9-]*$/i;
/** Bitcoin, Tron and Solana, the three that people mix up with ours. */
const OTHER_NETWORKS = [/^(?:bc1|tb1)[02-9ac-hj-np-z]{11,71}$/i, /^[13T][1-9A-HJ-NP-Za-km-z]{25,43}$/];
const SOLANA = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/**
 * What a person pasted, as an address with its EIP-55 checksum. An address in one case has no checksum: it is taken, and the
 * screen says so. One in mixed case that does not fit has a typing mistake.
 */
export function readAddress(text: string, tokens: readonly string[] = []): AddressReading {
  const pasted = fromPaymentLink(text.trim());
  if (pasted === '') return { ok: false, problem: 'required' };
  if (!ADDRESS.test(pasted)) return { ok: false, problem: problemOfText(pasted) };
  const digits = pasted.slice(2);
  const address = checksumAddress(`0x${digits}`);
  if (/^0+$/.test(digits)) return { ok: false, problem: 'zero' };
  const isOneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  if (!isOneCase && address.slice(2) !== digits) return { ok: false, problem: 'checksum' };
  if (tokens.some((token) => token.toLowerCase() === address.toLowerCase())) {
    return { ok: false, problem: 'token' };
  }
  // Digits alone are the same in every case, and so are their own checksum.
  return { ok: true, address, isChecked: address.slice(2) === digits };
}

/** Wallets show a QR code of `ethereum:0x…@8453`; people paste that too. */
function fromPaymentLink(text: string): string {
  return /^ethereum:(?:pay-)?(0x[0-9a-fA-F]{40})(?:@\d+)?$/i.exec(text)?.[1] ?? text;
}

function problemOfText(text: string): AddressProblem {
  if (NAME.test(text)) return 'ens';
  if (OTHER_NETWORKS.some((pattern) => pattern.test(text)) || SOLANA.test(text)) return 'otherNetwork';
  return 'invalid';
}

/** In groups of four, as one compares it with what a wallet shows. */
export function addressGroups(address: string): readonly string[] {
  return ['0x', ...(address.slice(2).match(/.{1,4}/g) ?? [])];
}
