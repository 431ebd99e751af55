import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import {
  type Address,
  type ChainSettings,
  hasWrongChecksum,
  inOneSpelling,
} from '../chain/chain-settings.ts';
import { DEFAULT_FEE_LIMITS, type FeeLimits } from '../chain/transactions/transaction-fees.ts';
import { larger, smaller } from '../lib/bigints.ts';

/** A chain of production: `rpcUrl` is the first of `rpcUrls`. */
export interface ConfiguredChain extends Readonly<ChainSettings> {
  /** May carry a provider's key: never leaves the process. */
  readonly rpcUrls: readonly string[];
}

const Slug = Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$' });
const ChainAddress = Type.Unsafe<Address>(Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }));
const HttpUrl = Type.String({ pattern: '^https?://[^\\s/]+' });

/** Decimal text, because small tips have more digits than a JSON number is sure to keep. */
const Gwei = Type.String({ pattern: '^[0-9]{1,6}(\\.[0-9]{1,9})?$' });

const ChainsFile = Type.Array(
  Type.Object({
    slug: Slug,
    chain_id: Type.Integer({ minimum: 1 }),
    rpc_urls: Type.Array(HttpUrl, { minItems: 1 }),
    quorum: Type.Optional(Type.Integer({ minimum: 1 })),
    public_rpc_url: HttpUrl,
    explorer_url: Type.Optional(HttpUrl),
    confirmations: Type.Integer({ minimum: 1, maximum: 10_000 }),
    gas: Type.Optional(
      Type.Object(
        {
          max_fee_gwei: Type.Optional(Gwei),
          min_tip_gwei: Type.Optional(Gwei),
          max_tip_gwei: Type.Optional(Gwei),
        },
        { additionalProperties: false },
      ),
    ),
    contracts: Type.Object({
      safe_singleton: ChainAddress,
      safe_proxy_factory: ChainAddress,
      multi_send_call_only: ChainAddress,
      fallback_handler: ChainAddress,
      forwarder: ChainAddress,
      router: ChainAddress,
    }),
    tokens: Type.Array(
      Type.Object({
        code: Type.String({ pattern: '^(USDC|USDT|USDT0)$' }),
        address: ChainAddress,
        decimals: Type.Integer({ minimum: 0, maximum: 36 }),
      }),
      { minItems: 1 },
    ),
    treasury: ChainAddress,
  }),
  { minItems: 1 },
);

type ChainEntry = Static<typeof ChainsFile>[number];

export type ChainsFileResult =
  | { readonly chains: readonly ConfiguredChain[]; readonly problems?: undefined }
  | { readonly chains?: undefined; readonly problems: readonly [string, ...string[]] };

/** Reads the text of a chains file. Problems say where and what, never the value: addresses of nodes carry keys. */
export function parseChainsFile(text: string): ChainsFileResult {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return { problems: ['is not valid JSON'] };
  }
  const [first, ...others] = Value.Check(ChainsFile, content)
    ? contradictions(content)
    : Value.Errors(ChainsFile, content).map(
        ({ instancePath, message }) => `${instancePath || 'the file'} ${message}`,
      );
  if (first !== undefined) return { problems: [first, ...others] };
  return { chains: (content as ChainEntry[]).map(toConfiguredChain) };
}

/** The text of a chains file with this chain added, or put in the place of the entry with its slug. */
export function withChain(text: string | undefined, chain: ConfiguredChain): string {
  const entries: Readonly<Record<string, unknown>>[] = text === undefined ? [] : JSON.parse(text);
  const entry = toEntry(chain);
  const place = entries.findIndex(({ slug }) => slug === chain.slug);
  const merged = place < 0 ? [...entries, entry] : entries.with(place, { ...entries[place], ...entry });
  return `${JSON.stringify(merged, null, 2)}\n`;
}

const WRONG_CHECKSUM = 'with a wrong checksum (EIP-55): one of its characters is not what was meant';

/** Every address of an entry, by the name of its field. */
function addressesOf({ contracts, tokens, treasury }: ChainEntry): (readonly [field: string, Address])[] {
  return [
    ...Object.entries(contracts).map(([name, address]) => [`contracts.${name}`, address] as const),
    ...tokens.map(({ code, address }) => [`token ${code}`, address] as const),
    ['treasury', treasury],
  ];
}

function contradictions(entries: readonly ChainEntry[]): string[] {
  const problems: string[] = [];
  const unique = (what: string, keys: readonly (string | number)[]) => {
    if (new Set(keys).size < keys.length) problems.push(`names a ${what} twice`);
  };
  unique(
    'slug',
    entries.map(({ slug }) => slug),
  );
  unique(
    'chain_id',
    entries.map(({ chain_id }) => chain_id),
  );
  for (const entry of entries) {
    for (const [field, address] of addressesOf(entry)) {
      if (/^0x0+$/.test(address)) problems.push(`has the zero address as ${field} of ${entry.slug}`);
      if (hasWrongChecksum(address)) problems.push(`has a ${field} of ${entry.slug} ${WRONG_CHECKSUM}`);
    }
  }
  for (const { slug, quorum = 1, rpc_urls } of entries) {
    if (quorum > rpc_urls.length) problems.push(`asks for a quorum of more nodes than ${slug} has`);
  }
  for (const { slug, gas } of entries) {
    const { maxFeePerGas, minPriorityFeePerGas, maxPriorityFeePerGas } = feesOf(gas);
    if (maxFeePerGas === 0n) problems.push(`lets no transaction of ${slug} offer anything for gas`);
    if (minPriorityFeePerGas > maxPriorityFeePerGas) {
      problems.push(`has a min_tip_gwei of ${slug} above its max_tip_gwei`);
    }
    if (maxPriorityFeePerGas > maxFeePerGas) problems.push(`has a tip of ${slug} above its max_fee_gwei`);
  }
  for (const { slug, tokens } of entries)
    unique(
      `token of ${slug}`,
      tokens.map(({ code }) => code),
    );
  return problems;
}

/** What is not said follows from what is: a low limit lowers the tip, a tip that must be paid is allowed. */
function feesOf(gas: ChainEntry['gas'] = {}): FeeLimits {
  const wei = (gwei: string | undefined) => (gwei === undefined ? undefined : weiOf(gwei));
  const maxFeePerGas = wei(gas.max_fee_gwei) ?? DEFAULT_FEE_LIMITS.maxFeePerGas;
  const minPriorityFeePerGas = wei(gas.min_tip_gwei) ?? DEFAULT_FEE_LIMITS.minPriorityFeePerGas;
  const usualTip = smaller(DEFAULT_FEE_LIMITS.maxPriorityFeePerGas, maxFeePerGas);
  const maxPriorityFeePerGas = wei(gas.max_tip_gwei) ?? larger(usualTip, minPriorityFeePerGas);
  return { maxFeePerGas, minPriorityFeePerGas, maxPriorityFeePerGas };
}

function weiOf(gwei: string): bigint {
  const [whole = '0', fraction = ''] = gwei.split('.');
  return BigInt(whole) * 10n ** 9n + BigInt(fraction.padEnd(9, '0'));
}

function toConfiguredChain(entry: ChainEntry): ConfiguredChain {
  const { contracts } = entry;
  return {
    slug: entry.slug,
    chainId: entry.chain_id,
    rpcUrl: entry.rpc_urls[0] ?? '',
    rpcUrls: entry.rpc_urls,
    ...(entry.quorum === undefined ? {} : { quorum: entry.quorum }),
    publicRpcUrl: entry.public_rpc_url,
    ...(entry.explorer_url === undefined ? {} : { explorerUrl: entry.explorer_url.replace(/\/+$/, '') }),
    confirmations: entry.confirmations,
    fees: feesOf(entry.gas),
    contracts: {
      safeSingleton: inOneSpelling(contracts.safe_singleton),
      safeProxyFactory: inOneSpelling(contracts.safe_proxy_factory),
      multiSendCallOnly: inOneSpelling(contracts.multi_send_call_only),
      fallbackHandler: inOneSpelling(contracts.fallback_handler),
      forwarder: inOneSpelling(contracts.forwarder),
      router: inOneSpelling(contracts.router),
    },
    tokens: entry.tokens.map(({ code, address, decimals }) => ({
      code,
      address: inOneSpelling(address),
      decimals,
    })),
    treasury: inOneSpelling(entry.treasury),
  };
}

function toEntry({ contracts, ...chain }: ConfiguredChain): ChainEntry {
  return {
    slug: chain.slug,
    chain_id: chain.chainId,
    rpc_urls: [...chain.rpcUrls],
    ...(chain.quorum === undefined ? {} : { quorum: chain.quorum }),
    public_rpc_url: chain.publicRpcUrl,
    ...(chain.explorerUrl === undefined ? {} : { explorer_url: chain.explorerUrl }),
    confirmations: chain.confirmations,
    contracts: {
      safe_singleton: contracts.safeSingleton,
      safe_proxy_factory: contracts.safeProxyFactory,
      multi_send_call_only: contracts.multiSendCallOnly,
      fallback_handler: contracts.fallbackHandler,
      forwarder: contracts.forwarder,
      router: contracts.router,
    },
    tokens: chain.tokens.map(({ code, address, decimals }) => ({ code, address, decimals })),
    treasury: chain.treasury,
  };
}
