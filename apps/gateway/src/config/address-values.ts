import ipaddr from 'ipaddr.js';
import { isEmail } from '../lib/contact.ts';
import { asGiven, InvalidValue, listOf, PORT_MAX, passing, type ValueType, valueType } from './values.ts';

/** Values that say where something is: URLs, hosts, mailboxes. */

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const HTTP = ['http:', 'https:'];

function isUrl(given: string, protocols: readonly string[]): boolean {
  if (!URL.canParse(given)) return false;
  const { protocol, hostname } = new URL(given);
  return protocols.includes(protocol) && hostname !== '';
}

const urlOf = (protocols: readonly string[]) => passing((given) => isUrl(given, protocols));

/** An http(s) address, without the slash at its end so that paths can be appended. */
export const httpUrl: ValueType<string> = valueType(
  'http(s) address',
  urlOf(HTTP),
  'must be an address such as https://example.com',
  (given) => given.replace(/\/+$/, ''),
);

function isOrigin(given: string): boolean {
  if (!isUrl(given, HTTP)) return false;
  const { pathname, search, hash, username, password } = new URL(given);
  return pathname === '/' && [search, hash, username, password].every((part) => part === '');
}

/** Where this deployment is reached: an origin and nothing more, because every path begins with /api/v1. */
export const baseUrl: ValueType<string> = valueType(
  'http(s) address without a path',
  passing(isOrigin),
  'must be an address without path, query or user, such as https://pay.example.com',
  (given) => new URL(given).origin,
);

export const postgresUrl: ValueType<string> = valueType(
  'PostgreSQL address',
  urlOf(['postgres:', 'postgresql:']),
  'must be an address such as postgres://user:password@host:5432/causeway',
  asGiven,
);

export const mailUrl: ValueType<string> = valueType(
  'SMTP address',
  urlOf(['smtp:', 'smtps:']),
  'must be an address such as smtps://user:password@mail.example.com',
  asGiven,
);

export const mailAddress: ValueType<string> = valueType(
  'e-mail address',
  passing(isEmail),
  'must be an address such as no-reply@example.com',
  asGiven,
);

export interface ChainRpc {
  readonly slug: string;
  readonly rpcUrl: string;
}

function chainRpc(entry: string): ChainRpc {
  const [slug = '', ...rest] = entry.split('=');
  return { slug, rpcUrl: rest.join('=') };
}

const chainRpcs = listOf(
  'list of `slug=address`, comma between',
  passing((entry) => {
    const { slug, rpcUrl } = chainRpc(entry);
    return SLUG.test(slug) && isUrl(rpcUrl, HTTP);
  }),
  'must be slug=address, such as base-mainnet=http://127.0.0.1:8545',
  chainRpc,
);

export const chainRpcUrls: ValueType<readonly ChainRpc[]> = {
  ...chainRpcs,
  parse(given) {
    const chains = chainRpcs.parse(given);
    if (chains.length === 0) throw new InvalidValue('must name at least one chain');
    if (new Set(chains.map(({ slug }) => slug)).size < chains.length)
      throw new InvalidValue('names a chain twice');
    return chains;
  },
};

const isIpAddress = (given: string) =>
  ipaddr.IPv4.isValidFourPartDecimal(given) || ipaddr.IPv6.isValid(given);

export const addressRanges: ValueType<readonly string[]> = listOf(
  'list of CIDR ranges or addresses, comma between',
  passing((range) => ipaddr.isValidCIDR(range) || isIpAddress(range)),
  'must be an address or a range, such as 10.0.0.0/8',
  asGiven,
);

function isDnsServer(server: string): boolean {
  const [, bracketed, plain, given] = /^(?:\[([^\]]+)\]|([^:]+|[^[]+?))(?::(\d{1,5}))?$/.exec(server) ?? [];
  const isAddress =
    bracketed === undefined
      ? ipaddr.IPv4.isValidFourPartDecimal(plain ?? '') || ipaddr.IPv6.isValid(server)
      : ipaddr.IPv6.isValid(bracketed);
  return isAddress && Number(given ?? 53) <= PORT_MAX;
}

export const dnsServers: ValueType<readonly string[]> = listOf(
  'list of addresses, with a port or without, comma between',
  passing(isDnsServer),
  'must be an address, such as 10.0.0.2 or [2001:db8::53]:5353',
  asGiven,
);
