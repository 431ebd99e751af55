import { Gauge, type Registry } from 'prom-client';
import { getAddress } from 'viem';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Address, ChainSettings } from '../chain-settings.ts';
import type { ConnectedChain } from '../chains.ts';
import type { Signer } from '../signers/keystore-signer.ts';
import { countOpen } from './transaction.store.ts';
import { answered } from './transaction-rpc.ts';

export interface HotWallet {
  readonly signer: Signer;
  /** Slugs of the chains it pays on; all of them where it names none. */
  readonly chains?: readonly string[];
}

export function paysOn({ chains }: HotWallet, slug: string): boolean {
  return chains === undefined || chains.includes(slug);
}

/** Wallets whose transactions a node has lately refused for want of funds. */
export interface DryWallets {
  note(chainId: number, wallet: Address): void;
  has(chainId: number, wallet: Address): boolean;
}

/** What a dry wallet has to send is refused again every few hundred milliseconds, so a filled one is soon forgotten. */
const DRY_MS = 10_000;

export function rememberDryWallets(clock: Clock): DryWallets {
  const refusedAt = new Map<string, number>();
  const keyOf = (chainId: number, wallet: Address) => `${chainId}/${getAddress(wallet)}`;
  return {
    note: (chainId, wallet) => void refusedAt.set(keyOf(chainId, wallet), clock.now()),
    has(chainId, wallet) {
      const at = refusedAt.get(keyOf(chainId, wallet));
      return at !== undefined && Math.abs(clock.now() - at) < DRY_MS;
    },
  };
}

/** A stuck transaction holds up only its own wallet, and a wallet that is dry gets no work while another has gas. */
export async function leastBusyWallet(
  db: Database,
  hotWallets: readonly HotWallet[],
  { slug, chainId }: Pick<ChainSettings, 'slug' | 'chainId'>,
  dry: DryWallets,
): Promise<Address> {
  const wallets = hotWallets
    .filter((wallet) => paysOn(wallet, slug))
    .map(({ signer }) => getAddress(signer.address));
  const [first, ...others] = wallets;
  if (first === undefined) throw new Error(`there is no hot wallet on ${slug}`);
  if (others.length === 0) return first;
  const open = await countOpen(db, chainId);
  const withGas = wallets.filter((wallet) => !dry.has(chainId, wallet));
  const usable = withGas.length > 0 ? withGas : wallets;
  return usable.reduce((best, wallet) => ((open.get(wallet) ?? 0) < (open.get(best) ?? 0) ? wallet : best));
}

/** Watches what the hot wallets have left to pay for gas, and says so before it is nothing. */
export interface GasBalances {
  /** Looks once; answers the wallets that have too little. */
  check(): Promise<readonly LowBalance[]>;
}

export interface LowBalance {
  readonly chain: string;
  readonly wallet: Address;
  readonly balanceWei: bigint;
}

export interface GasBalancesDeps {
  readonly chains: readonly ConnectedChain[];
  readonly wallets: readonly HotWallet[];
  readonly logger: Logger;
  readonly registry: Registry;
  /** Below this a wallet is reported. */
  readonly minimumWei?: bigint;
}

/** Below this a wallet is reported, where nothing else is said. */
export const DEFAULT_MINIMUM_WEI = 5n * 10n ** 16n;
const WEI_A_GWEI = 10n ** 9n;

export function watchGasBalances(deps: GasBalancesDeps): GasBalances {
  const { chains, wallets, logger, registry, minimumWei = DEFAULT_MINIMUM_WEI } = deps;
  const registers = [registry];
  const labelNames = ['chain', 'wallet'] as const;
  const balance = new Gauge({
    name: 'hot_wallet_balance_gwei',
    help: 'What a hot wallet has for gas.',
    labelNames,
    registers,
  });
  const low = new Gauge({
    name: 'hot_wallet_balance_low',
    help: 'Whether a hot wallet has too little for gas: 1 or 0.',
    labelNames,
    registers,
  });

  async function look(
    { settings, client }: ConnectedChain,
    wallet: Address,
  ): Promise<LowBalance | undefined> {
    const balanceWei = await answered(client.getBalance({ address: wallet }));
    const isLow = balanceWei < minimumWei;
    const labels = { chain: settings.slug, wallet };
    balance.set(labels, Number(balanceWei / WEI_A_GWEI));
    low.set(labels, isLow ? 1 : 0);
    if (!isLow) return undefined;
    logger.error({ ...labels, balance_wei: `${balanceWei}` }, 'a hot wallet is running out of gas');
    return { chain: settings.slug, wallet, balanceWei };
  }

  return {
    async check() {
      const looks = chains.flatMap((chain) =>
        wallets
          .filter((wallet) => paysOn(wallet, chain.settings.slug))
          .map(({ signer }) => look(chain, signer.address)),
      );
      // One chain out of reach must not keep the others from being looked at.
      const results = await Promise.allSettled(looks);
      return results.flatMap((result) =>
        result.status === 'fulfilled' && result.value !== undefined ? [result.value] : [],
      );
    },
  };
}
