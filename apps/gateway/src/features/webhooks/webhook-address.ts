import type { LookupFunction } from 'node:net';
import { CausewayError, type DetailsOf } from '@causeway/protocol';
import ipaddr from 'ipaddr.js';
import { type NameResolver, TooManyLookups } from '../../lib/name-resolver.ts';

/**
 * Where webhooks may go: HTTPS to a public address. The address is judged when the connection is made, on what the
 * name resolved to at that moment, so a name that changes its mind in between gains nothing. A sandbox may also
 * reach this machine itself, with or without TLS, because that is where its users develop.
 */
export interface AddressPolicy {
  readonly allowLoopback: boolean;
  /** Ports of public hosts; a webhook is not a way to knock at databases and mail servers. 443 and 8443 by default. */
  readonly ports?: readonly number[] | 'any';
}

export type UrlProblem = DetailsOf<'INVALID_WEBHOOK_URL'>['cause'];

/** Answers every address of a name. */
export type Resolver = NameResolver['lookup'];

const MAX_URL_LENGTH = 2048;
// A URL parser passes over these in silence. The text is kept and told again as it came.
const NOT_IN_A_URL = /[\p{Cc}\p{Cs}\s]/u;
const DEFAULT_PORTS = [443, 8443];

export const ADDRESS_NOT_ALLOWED = 'the host leads to an address that is not allowed';

export function judgeUrl(text: string, policy: AddressPolicy): { url: URL } | { problem: UrlProblem } {
  if (text.length > MAX_URL_LENGTH || NOT_IN_A_URL.test(text) || !URL.canParse(text)) {
    return { problem: 'not_a_url' };
  }
  const url = new URL(text);
  const loopback = isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback && policy.allowLoopback)) {
    return { problem: 'https_required' };
  }
  if (url.username !== '' || url.password !== '') return { problem: 'credentials' };
  const literal = literalAddress(url.hostname);
  if (literal !== undefined && !isAllowedAddress(literal, policy)) return { problem: 'address_not_allowed' };
  if (loopback) return policy.allowLoopback ? { url } : { problem: 'address_not_allowed' };
  return isAllowedPort(url.port === '' ? 443 : Number(url.port), policy)
    ? { url }
    : { problem: 'port_not_allowed' };
}

const SAYS: Readonly<Record<UrlProblem, string>> = {
  not_a_url: 'The webhook URL is not an absolute URL of at most 2048 characters.',
  https_required: 'The webhook URL must begin with https://.',
  credentials: 'The webhook URL must not carry a user name or password.',
  port_not_allowed: 'The webhook URL names a port that is not allowed.',
  address_not_allowed: 'The host of the webhook URL does not lead to a public address.',
};

/** Which rule the URL breaks, and no more: not where a name leads, nor whether anything answers there. */
export function invalidUrl(cause: UrlProblem): CausewayError {
  return new CausewayError('INVALID_WEBHOOK_URL', { message: SAYS[cause], details: { cause } });
}

function isAllowedPort(port: number, { ports = DEFAULT_PORTS }: AddressPolicy): boolean {
  return ports === 'any' ? port > 0 : ports.includes(port);
}

/** URL parsing has already turned decimal, octal and hexadecimal hosts into dotted form. */
function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return ipaddr.isValid(bare) ? bare : undefined;
}

export function isLoopbackHost(hostname: string): boolean {
  // A final dot only says that the name is complete.
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  const literal = literalAddress(hostname);
  return literal !== undefined && ipaddr.process(literal).range() === 'loopback';
}

// Answers only inside a cloud's own network, although the address looks public.
const AZURE_METADATA = '168.63.129.16';
// All that is handed out as global unicast; what lies outside leads to translators, tunnels and local networks.
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

export function isAllowedAddress(address: string, policy: AddressPolicy): boolean {
  if (!ipaddr.isValid(address)) return false;
  // `process` unwraps IPv4 inside IPv6, which would otherwise hide a private address.
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range === 'loopback') return policy.allowLoopback;
  if (range !== 'unicast') return false;
  if (parsed.kind() === 'ipv6') return (parsed as ipaddr.IPv6).match(GLOBAL_IPV6);
  return parsed.toString() !== AZURE_METADATA;
}

/** A resolver for connections that refuses names leading to an address that is not allowed. */
export function guardedLookup(policy: AddressPolicy, resolve: Resolver): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, (error, addresses) => {
      if (error) return done(error, [] as never, 0);
      // One bad address among good ones is enough: the name is not to be trusted.
      const refused = addresses.some(({ address }) => !isAllowedAddress(address, policy));
      const [first] = addresses;
      if (refused || first === undefined) return done(new Error(ADDRESS_NOT_ALLOWED), [] as never, 0);
      return options.all
        ? done(null, addresses as never, 0)
        : done(null, first.address as never, first.family);
    });
  };
}

/**
 * Whether the name is known to lead somewhere forbidden now. A name that does not resolve, or not in time, is not held
 * against the partner: it may be published later, and every connection is judged anew. A partner that has many such
 * questions open is told to wait.
 */
export async function leadsToForbiddenAddress(
  url: URL,
  policy: AddressPolicy,
  names: Pick<NameResolver, 'lookupFor'>,
  partnerId: string,
): Promise<boolean> {
  if (literalAddress(url.hostname) !== undefined) return false;
  const addresses = await names.lookupFor(partnerId, url.hostname).catch((error: unknown) => {
    if (error instanceof TooManyLookups) throw error;
    return [];
  });
  return addresses.some(({ address }) => !isAllowedAddress(address, policy));
}
