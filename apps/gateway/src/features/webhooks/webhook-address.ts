import { lookup as dnsLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Where webhooks may go: HTTPS to a public address. The address is judged when the connection is made, on what the
 * name resolved to at that moment, so a name that changes its mind in between gains nothing. A sandbox may also
 * reach this machine itself, with or without TLS, because that is where its users develop.
 */
export interface AddressPolicy {
  readonly allowLoopback: boolean;
}

export type UrlProblem = 'not_a_url' | 'https_required' | 'credentials' | 'address_not_allowed';

const MAX_URL_LENGTH = 2048;

export function judgeUrl(text: string, policy: AddressPolicy): { url: URL } | { problem: UrlProblem } {
  if (text.length > MAX_URL_LENGTH || !URL.canParse(text)) return { problem: 'not_a_url' };
  const url = new URL(text);
  const loopback = isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback && policy.allowLoopback)) {
    return { problem: 'https_required' };
  }
  if (url.username !== '' || url.password !== '') return { problem: 'credentials' };
  const literal = literalAddress(url.hostname);
  if (literal !== undefined && !isAllowedAddress(literal, policy)) return { problem: 'address_not_allowed' };
  if (loopback && !policy.allowLoopback) return { problem: 'address_not_allowed' };
  return { url };
}

/** URL parsing has already turned decimal, octal and hexadecimal hosts into dotted form. */
function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return ipaddr.isValid(bare) ? bare : undefined;
}

export function isLoopbackHost(hostname: string): boolean {
  if (hostname === 'localhost' || hostname.endsWith('.localhost')) return true;
  const literal = literalAddress(hostname);
  return literal !== undefined && ipaddr.process(literal).range() === 'loopback';
}

export function isAllowedAddress(address: string, policy: AddressPolicy): boolean {
  // `process` unwraps IPv4 inside IPv6, which would otherwise hide a private address.
  const range = ipaddr.process(address).range();
  return range === 'unicast' || (range === 'loopback' && policy.allowLoopback);
}

/** A resolver that refuses names leading to an address that is not allowed. */
export function guardedLookup(policy: AddressPolicy): LookupFunction {
  return (hostname, options, done) => {
    dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, [] as never, 0);
      const refused = addresses.find(({ address }) => !isAllowedAddress(address, policy));
      if (refused !== undefined || addresses.length === 0) {
        return done(new Error('the host resolves to an address that is not allowed'), [] as never, 0);
      }
      const [first] = addresses;
      return options.all
        ? done(null, addresses as never, 0)
        : done(null, first?.address as never, first?.family ?? 4);
    });
  };
}
