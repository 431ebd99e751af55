import { createHash } from 'node:crypto';
import ipaddr from 'ipaddr.js';

/** How the text of a variable becomes a value. Messages of `InvalidValue` say what is expected, never what was given. */
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

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const PORT_MAX = 65_535;
const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export const text: ValueType<string> = { label: 'text', parse: (given) => given };

export const path: ValueType<string> = { label: 'path', parse: (given) => given };

export const flag: ValueType<boolean> = {
  label: '`true` or `false`',
  parse(given) {
    if (given === 'true' || given === '1') return true;
    if (given === 'false' || given === '0') return false;
    throw new InvalidValue('must be true or false');
  },
};

export const onOrOff: ValueType<boolean> = {
  label: '`on` or `off`',
  parse(given) {
    if (given !== 'on' && given !== 'off') throw new InvalidValue('must be on or off');
    return given === 'on';
  },
};

export function oneOf<const T extends string>(...values: readonly T[]): ValueType<T> {
  return {
    label: values.map((value) => `\`${value}\``).join(', '),
    parse(given) {
      const found = values.find((value) => value === given);
      if (found === undefined) throw new InvalidValue(`must be one of ${values.join(', ')}`);
      return found;
    },
  };
}

export function wholeNumber(min: number, max: number): ValueType<number> {
  return {
    label: `whole number, ${min} to ${max}`,
    parse(given) {
      const value = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
      if (!(value >= min && value <= max))
        throw new InvalidValue(`must be a whole number from ${min} to ${max}`);
      return value;
    },
  };
}

export const port: ValueType<number> = { ...wholeNumber(0, PORT_MAX), label: 'port, 0 takes any free one' };

export const portOrOff: ValueType<number | null> = {
  label: 'port, 0 takes any free one; `off` or empty for none',
  emptyIsValue: true,
  parse: (given) => (given === '' || given === 'off' ? null : port.parse(given)),
};

export const portsOrAny: ValueType<readonly number[] | 'any'> = {
  label: 'list of ports, comma between; `any` for all of them',
  parse(given) {
    if (given === 'any') return 'any';
    const ports = splitList(given).map((entry) => wholeNumber(1, PORT_MAX).parse(entry));
    if (ports.length === 0) throw new InvalidValue('must name at least one port, or be any');
    return ports;
  },
};

/** A percentage stays decimal text: no float ever touches it. */
export const percentage: ValueType<string> = {
  label: 'decimal, 0 or more and below 100, at most 6 decimals',
  parse(given) {
    if (!/^\d{1,2}(?:\.\d{1,6})?$/.test(given)) {
      throw new InvalidValue('must be a decimal below 100 with at most 6 decimals, such as 0.5');
    }
    return given;
  },
};

export const score: ValueType<number> = {
  label: 'decimal above 0 and at most 1',
  parse(given) {
    const value = /^[01](?:\.\d{1,4})?$/.test(given) ? Number(given) : Number.NaN;
    if (!(value > 0 && value <= 1)) throw new InvalidValue('must be a decimal above 0 and at most 1');
    return value;
  },
};

function parseUrl(given: string, protocols: readonly string[], example: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !protocols.includes(url.protocol) || url.hostname === '') {
    throw new InvalidValue(`must be an address such as ${example}`);
  }
  return url;
}

/** An http(s) address, without the slash at its end so that paths can be appended. */
export const httpUrl: ValueType<string> = {
  label: 'http(s) address',
  parse(given) {
    parseUrl(given, ['http:', 'https:'], 'https://example.com');
    return given.replace(/\/+$/, '');
  },
};

/** Where this deployment is reached: an origin and nothing more, because every path begins with /api/v1. */
export const baseUrl: ValueType<string> = {
  label: 'http(s) address without a path',
  parse(given) {
    const url = parseUrl(given, ['http:', 'https:'], 'https://pay.example.com');
    if (
      url.pathname !== '/' ||
      url.search !== '' ||
      url.hash !== '' ||
      url.username !== '' ||
      url.password !== ''
    ) {
      throw new InvalidValue(
        'must be an address without path, query or user, such as https://pay.example.com',
      );
    }
    return url.origin;
  },
};

export const postgresUrl: ValueType<string> = {
  label: 'PostgreSQL address',
  parse(given) {
    parseUrl(given, ['postgres:', 'postgresql:'], 'postgres://user:password@host:5432/causeway');
    return given;
  },
};

export interface ChainRpc {
  readonly slug: string;
  readonly rpcUrl: string;
}

export const chainRpcUrls: ValueType<readonly ChainRpc[]> = {
  label: 'list of `slug=address`, comma between',
  parse(given) {
    const chains = splitList(given).map((entry, index): ChainRpc => {
      const [slug = '', ...rest] = entry.split('=');
      if (!SLUG.test(slug) || rest.length === 0) {
        throw new InvalidValue(
          `entry ${index + 1} must be slug=address, such as base-mainnet=http://127.0.0.1:8545`,
        );
      }
      parseUrl(rest.join('='), ['http:', 'https:'], `${slug}=http://127.0.0.1:8545`);
      return { slug, rpcUrl: rest.join('=') };
    });
    if (chains.length === 0) throw new InvalidValue('must name at least one chain');
    if (new Set(chains.map(({ slug }) => slug)).size < chains.length)
      throw new InvalidValue('names a chain twice');
    return chains;
  },
};

export const addressRanges: ValueType<readonly string[]> = {
  label: 'list of CIDR ranges or addresses, comma between',
  parse(given) {
    const ranges = splitList(given);
    ranges.forEach((range, index) => {
      if (
        !ipaddr.isValidCIDR(range) &&
        !(ipaddr.IPv4.isValidFourPartDecimal(range) || ipaddr.IPv6.isValid(range))
      ) {
        throw new InvalidValue(`entry ${index + 1} must be an address or a range, such as 10.0.0.0/8`);
      }
    });
    return ranges;
  },
};

export const dnsServers: ValueType<readonly string[]> = {
  label: 'list of addresses, with a port or without, comma between',
  parse(given) {
    const servers = splitList(given);
    servers.forEach((server, index) => {
      const [, bracketed, plain, given] =
        /^(?:\[([^\]]+)\]|([^:]+|[^[]+?))(?::(\d{1,5}))?$/.exec(server) ?? [];
      const isAddress =
        bracketed === undefined
          ? ipaddr.IPv4.isValidFourPartDecimal(plain ?? '') || ipaddr.IPv6.isValid(server)
          : ipaddr.IPv6.isValid(bracketed);
      if (!isAddress || Number(given ?? 53) > PORT_MAX) {
        throw new InvalidValue(
          `entry ${index + 1} must be an address, such as 10.0.0.2 or [2001:db8::53]:5353`,
        );
      }
    });
    return servers;
  },
};

function splitList(given: string): string[] {
  return given
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** A secp256k1 private key as `0x` and 64 lower-case hex digits. */
export const privateKey: ValueType<`0x${string}`> = {
  label: '`0x` and 64 hex digits',
  parse(given) {
    const key = given.toLowerCase();
    if (!/^0x[0-9a-f]{64}$/.test(key)) throw new InvalidValue('must be 0x followed by 64 hex digits');
    const scalar = BigInt(key);
    if (scalar === 0n || scalar >= SECP256K1_ORDER)
      throw new InvalidValue('is not a private key of secp256k1');
    return key as `0x${string}`;
  },
};

/** 32 bytes as 64 lower-case hex digits: text, because bytes cannot be frozen. */
export const encryptionKey: ValueType<string> = {
  label: '32 bytes in hex or base64',
  parse(given) {
    const hex = given.replace(/^0x/i, '');
    if (/^[0-9a-fA-F]{64}$/.test(hex)) return hex.toLowerCase();
    const bytes = /^[\w+/-]{43}=?$/.test(given) ? Buffer.from(given, 'base64') : Buffer.alloc(0);
    if (bytes.length !== 32) {
      throw new InvalidValue('must be 32 bytes in hex or base64; make one with: openssl rand -base64 32');
    }
    return bytes.toString('hex');
  },
};

export const encryptionKeys: ValueType<readonly string[]> = {
  label: 'list of keys, comma between',
  parse: (given) => splitList(given).map((key) => encryptionKey.parse(key)),
};

export const operatorKey: ValueType<string> = {
  label: '`cw_operator_` and at least 32 letters and digits',
  parse(given) {
    if (!/^cw_operator_[0-9A-Za-z]{32,128}$/.test(given)) {
      throw new InvalidValue(
        'must be cw_operator_ followed by 32 to 128 letters and digits; make one with: echo "cw_operator_$(openssl rand -hex 24)"',
      );
    }
    return given;
  },
};

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

export const rateSources: ValueType<readonly RateSourceName[]> = {
  label: 'comma list of simulated, ecb, kraken and addresses of JSON feeds',
  parse: (given) =>
    given.split(',').map((part) => {
      const name = part.trim();
      if (name === 'simulated' || name === 'ecb' || name === 'kraken') return name;
      if (/^https?:\/\/[^\s/]+/.test(name)) return name as RateSourceName;
      throw new InvalidValue('must be a comma list of simulated, ecb, kraken and addresses of JSON feeds');
    }),
};
