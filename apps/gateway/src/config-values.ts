import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { QUEUE_KINDS, QUEUE_TARGET_MINUTES, type QueueKind } from '@causeway/protocol/console';
import ipaddr from 'ipaddr.js';
import { type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { isEmail } from './lib/contact.ts';

/**
 * How the text of a variable becomes a value: a schema says which texts are taken, then the text is decoded. Messages of
 * `InvalidValue` say what is expected, never what was given.
 */
export interface ValueType<T> {
  /** The kind of value, for the reference. */
  readonly label: string;
  parse(text: string): T;
  /** Whether an empty text is a value of its own; elsewhere an empty variable counts as not set. */
  readonly emptyIsValue?: boolean;
}

export class InvalidValue extends Error {
  override readonly name = 'InvalidValue';
}

function valueType<T>(
  label: string,
  schema: TSchema,
  problem: string,
  decode: (text: string) => T,
): ValueType<T> {
  return {
    label,
    parse(given) {
      if (!Value.Check(schema, given)) throw new InvalidValue(problem);
      return decode(given);
    },
  };
}

/** Entries with commas between; of a wrong one its place is told, never its text. */
function listOf<T>(
  label: string,
  entry: TSchema,
  problem: string,
  decode: (entry: string) => T,
): ValueType<readonly T[]> {
  const list = Type.Array(entry);
  return {
    label,
    parse(given) {
      const entries = given
        .split(',')
        .map((text) => text.trim())
        .filter((text) => text !== '');
      const [wrong] = Value.Errors(list, entries);
      if (wrong === undefined) return entries.map(decode);
      throw new InvalidValue(`entry ${Number.parseInt(wrong.instancePath.slice(1), 10) + 1} ${problem}`);
    },
  };
}

const asGiven = (text: string): string => text;
const matching = (pattern: RegExp) => Type.String({ pattern });
const passing = (check: (text: string) => boolean) => Type.Refine(Type.String(), check);

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const PORT_MAX = 65_535;
const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export const text: ValueType<string> = valueType('text', Type.String(), 'must be text', asGiven);

export const path: ValueType<string> = valueType('path', Type.String(), 'must be a path', asGiven);

export const flag: ValueType<boolean> = valueType(
  '`true` or `false`',
  Type.Enum(['true', '1', 'false', '0']),
  'must be true or false',
  (given) => given === 'true' || given === '1',
);

export const onOrOff: ValueType<boolean> = valueType(
  '`on` or `off`',
  Type.Enum(['on', 'off']),
  'must be on or off',
  (given) => given === 'on',
);

export function oneOf<const T extends string>(...values: readonly T[]): ValueType<T> {
  const label = values.map((value) => `\`${value}\``).join(', ');
  return valueType(
    label,
    Type.Enum([...values]),
    `must be one of ${values.join(', ')}`,
    (given) => given as T,
  );
}

const digitsFrom = (min: number, max: number) =>
  Type.Refine(matching(/^\d{1,15}$/), (given) => Number(given) >= min && Number(given) <= max);

export function wholeNumber(min: number, max: number): ValueType<number> {
  const problem = `must be a whole number from ${min} to ${max}`;
  return valueType(`whole number, ${min} to ${max}`, digitsFrom(min, max), problem, Number);
}

const MOST_PROCESSES = 64;

/** A number, or one for each core. */
export const processCount: ValueType<number> = {
  label: `\`auto\` or a whole number, 1 to ${MOST_PROCESSES}`,
  parse: (given) =>
    given === 'auto'
      ? Math.min(availableParallelism(), MOST_PROCESSES)
      : wholeNumber(1, MOST_PROCESSES).parse(given),
};

const TARGET = new RegExp(`^(${QUEUE_KINDS.join('|')})=([1-9]\\d{0,5})$`);
const targets = listOf(
  'minutes by kind',
  matching(TARGET),
  'must be a kind of the queue, an equals sign and minutes',
  (entry) => entry.split('=') as [QueueKind, string],
);

/** Minutes by kind; what is not named keeps its default. */
export const queueTargets: ValueType<Readonly<Record<QueueKind, number>>> = {
  label: 'list of `kind=minutes`, comma between',
  emptyIsValue: true,
  parse: (given) => ({
    ...QUEUE_TARGET_MINUTES,
    ...Object.fromEntries(targets.parse(given).map(([kind, minutes]) => [kind, Number(minutes)])),
  }),
};

export const port: ValueType<number> = { ...wholeNumber(0, PORT_MAX), label: 'port, 0 takes any free one' };

export const portOrOff: ValueType<number | null> = {
  label: 'port, 0 takes any free one; `off` or empty for none',
  emptyIsValue: true,
  parse: (given) => (given === '' || given === 'off' ? null : port.parse(given)),
};

export const dollarsOrOff: ValueType<string | null> = {
  label: 'dollars, as a decimal; `off` for none',
  parse: (given) => {
    if (given === 'off') return null;
    if (!/^(?:0|[1-9]\d{0,14})(?:\.\d{1,6})?$/.test(given)) {
      throw new InvalidValue('must be dollars from 0, with at most 6 decimals, or off');
    }
    return given;
  },
};

const ports = listOf(
  'list of ports',
  digitsFrom(1, PORT_MAX),
  `must be a whole number from 1 to ${PORT_MAX}`,
  Number,
);

export const portsOrAny: ValueType<readonly number[] | 'any'> = {
  label: 'list of ports, comma between; `any` for all of them',
  parse(given) {
    if (given === 'any') return 'any';
    const named = ports.parse(given);
    if (named.length === 0) throw new InvalidValue('must name at least one port, or be any');
    return named;
  },
};

/** A percentage stays decimal text: no float ever touches it. */
export const percentage: ValueType<string> = valueType(
  'decimal, 0 or more and below 100, at most 6 decimals',
  matching(/^\d{1,2}(?:\.\d{1,6})?$/),
  'must be a decimal below 100 with at most 6 decimals, such as 0.5',
  asGiven,
);

export const score: ValueType<number> = valueType(
  'decimal above 0 and at most 1',
  Type.Refine(matching(/^[01](?:\.\d{1,4})?$/), (given) => Number(given) > 0 && Number(given) <= 1),
  'must be a decimal above 0 and at most 1',
  Number,
);

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

const hexKey = valueType(
  '`0x` and 64 hex digits',
  matching(/^0x[0-9a-f]{64}$/i),
  'must be 0x followed by 64 hex digits',
  (given) => given.toLowerCase() as `0x${string}`,
);

/** A secp256k1 private key as `0x` and 64 lower-case hex digits. */
export const privateKey: ValueType<`0x${string}`> = {
  ...hexKey,
  parse(given) {
    const key = hexKey.parse(given);
    const scalar = BigInt(key);
    if (scalar === 0n || scalar >= SECP256K1_ORDER)
      throw new InvalidValue('is not a private key of secp256k1');
    return key;
  },
};

const BYTES_HEX = /^(?:0x)?[0-9a-f]{64}$/i;
const BYTES_BASE64 = /^[\w+/-]{43}=?$/;

function bytesAsHex(given: string): string {
  if (BYTES_HEX.test(given)) return given.replace(/^0x/i, '').toLowerCase();
  return BYTES_BASE64.test(given) ? Buffer.from(given, 'base64').toString('hex') : '';
}

const isEncryptionKey = (given: string) => bytesAsHex(given).length === 64;
const ENCRYPTION_KEY_PROBLEM = 'must be 32 bytes in hex or base64; make one with: openssl rand -base64 32';

/** 32 bytes as 64 lower-case hex digits: text, because bytes cannot be frozen. */
export const encryptionKey: ValueType<string> = valueType(
  '32 bytes in hex or base64',
  passing(isEncryptionKey),
  ENCRYPTION_KEY_PROBLEM,
  bytesAsHex,
);

export const encryptionKeys: ValueType<readonly string[]> = listOf(
  'list of keys, comma between',
  passing(isEncryptionKey),
  ENCRYPTION_KEY_PROBLEM,
  bytesAsHex,
);

export const operatorKey: ValueType<string> = valueType(
  '`cw_operator_` and at least 32 letters and digits',
  matching(/^cw_operator_[0-9A-Za-z]{32,128}$/),
  'must be cw_operator_ followed by 32 to 128 letters and digits; make one with: echo "cw_operator_$(openssl rand -hex 24)"',
  asGiven,
);

/** Whether a secret is so uniform that it was typed rather than drawn: true random ones never come close to the limit. */
export function looksTyped(secret: string, distinctMin: number): boolean {
  return new Set(secret).size < distinctMin || /sandbox|example|changeme/i.test(secret);
}

// Start of the SHA-256 of each of the twenty accounts that development chains fund for everyone ("test test … junk").
const DEVELOPMENT_KEY_FINGERPRINTS = new Set([
  ...['bc1a50966c9e6486', '8335c55334821eef', 'b26ab6529d20ebeb', '64034b44c579b335', '4d3e46eec8244d1d'],
  ...['0aedba9d586f34f9', '28e543d3753fc9d1', 'f070994a85994785', '38e69fdd19aefeb4', '967f21586cdf1248'],
  ...['0b33e0132123e78d', '84bc109b3d59b017', '85bde548053aab4b', 'f1513114f60e5e95', '5330d388af894c9e'],
  ...['a2e06155cb1a424f', '4a67d7a0d8a16d6d', 'b08bdfde9930d920', 'cf1fc66f853151a4', '100546a8b020a55a'],
]);

/** Whether everyone knows this private key because development chains come with it. */
export function isDevelopmentKey(key: string): boolean {
  const digest = createHash('sha256').update(key.replace(/^0x/, '').toLowerCase()).digest('hex');
  return DEVELOPMENT_KEY_FINGERPRINTS.has(digest.slice(0, 16));
}

export type RateSourceName = 'simulated' | 'ecb' | 'kraken' | `http://${string}` | `https://${string}`;

const RATE_SOURCE = /^(?:simulated|ecb|kraken|https?:\/\/[^\s/]+.*)$/s;

const namedRateSources = listOf(
  'comma list of simulated, ecb, kraken and addresses of JSON feeds',
  matching(RATE_SOURCE),
  'must be simulated, ecb, kraken or the address of a JSON feed',
  (name) => name as RateSourceName,
);

export const rateSources: ValueType<readonly RateSourceName[]> = {
  ...namedRateSources,
  parse(given) {
    const named = namedRateSources.parse(given);
    if (named.length === 0) throw new InvalidValue('must name at least one source');
    return named;
  },
};
