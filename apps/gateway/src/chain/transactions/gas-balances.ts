import { Gauge, type Registry } from 'prom-client';
import type { Logger } from '../../lib/logger.ts';
import type { Address } from '../chain-settings.ts';
import type { ConnectedChain } from '../chains.ts';
import { answered } from './transaction-rpc.ts';
import { type HotWallet, paysOn } from './transactor.ts';

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

const DEFAULT_MINIMUM_WEI = 5n * 10n ** 16n;
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
