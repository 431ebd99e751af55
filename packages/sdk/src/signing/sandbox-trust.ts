import type { Address } from './bytes.ts';
import type { Trust } from './review.ts';

/** `sandbox.json` of a running sandbox, as far as signing needs it. */
export interface SandboxFile {
  readonly partners: readonly { readonly wallet_address: string }[];
  readonly chains: readonly ChainToTrust[];
}

/** A chain of a deployment, as its own files and pages write it. */
export interface ChainToTrust {
  readonly slug: string;
  readonly chain_id: number;
  readonly signing?: {
    readonly contracts: Readonly<Record<(typeof CONTRACTS)[keyof typeof CONTRACTS], string>>;
    readonly service_address: string;
    readonly treasury_address: string;
    readonly solver_address?: string;
    readonly tokens: readonly {
      readonly code: string;
      readonly address: string;
      readonly decimals: number;
    }[];
  };
}

const CONTRACTS = {
  forwarder: 'forwarder',
  router: 'router',
  safeSingleton: 'safe_singleton',
  safeProxyFactory: 'safe_proxy_factory',
  fallbackHandler: 'fallback_handler',
  multiSendCallOnly: 'multi_send_call_only',
} as const satisfies Record<keyof Trust['contracts'], string>;

/**
 * What a partner of a sandbox may trust: the file is written by the sandbox itself, and its signatures are worth nothing
 * elsewhere. On public chains you write `Trust` yourself.
 *
 * @example const trust = trustOfSandbox(JSON.parse(await readFile('.causeway/sandbox.json', 'utf8')));
 */
export function trustOfSandbox(
  { partners, chains }: SandboxFile,
  { partner = 0, chain }: { readonly partner?: number; readonly chain?: string } = {},
): Trust {
  const wallet = partners[partner]?.wallet_address;
  // Partners settle on the first chain.
  const found = chain === undefined ? chains[0] : chains.find(({ slug }) => slug === chain);
  if (wallet === undefined) throw new TypeError(`the sandbox has no partner ${partner}`);
  if (found === undefined) throw new TypeError(`the sandbox has no chain ${chain ?? ''}`);
  return trustOfChain(found, wallet);
}

/**
 * The same for any wallet: a vendor's, say.
 *
 * @example const trust = trustOfChain(sandbox.chains[0], '0x…');
 */
export function trustOfChain({ chain_id, signing }: ChainToTrust, wallet: string): Trust {
  if (signing === undefined)
    throw new TypeError('the sandbox is of a release that does not tell what it trusts');
  const { contracts, service_address, treasury_address, solver_address, tokens } = signing;
  const addresses = Object.entries(CONTRACTS).map(([name, written]) => [name, contracts[written] as Address]);
  return {
    chainId: chain_id,
    contracts: Object.fromEntries(addresses) as Trust['contracts'],
    wallet,
    service: service_address,
    treasury: treasury_address,
    bridgeSolvers: solver_address === undefined ? 'any' : [solver_address],
    tokens: Object.fromEntries(tokens.map(({ code, address, decimals }) => [code, { address, decimals }])),
  };
}
