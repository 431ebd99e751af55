import { formatFixed, formatShortest } from '@causeway/protocol';
import { getAddress } from 'viem';
import type { Database } from '../../db/database.ts';
import { smaller } from '../../lib/bigints.ts';
import type { Address } from '../chain-settings.ts';
import type { ConnectedChain } from '../chains.ts';
import { tokenBalance } from '../token-reads.ts';
import { DEFAULT_MINIMUM_WEI, type HotWallet, paysOn } from './hot-wallets.ts';
import { gasPerOrder, listSenders, type OpenTransaction, openTransactions } from './transaction.store.ts';
import { DEFAULT_FEE_LIMITS } from './transaction-fees.ts';
import { currentFees, nonceAt } from './transaction-rpc.ts';

/** What a node said about one wallet, and when. */
interface Look {
  readonly at: number;
  readonly balanceWei: bigint;
  readonly tokens: readonly bigint[];
  readonly chainNonce: number;
  readonly feePerGas: bigint;
}

export interface HotWalletReportDeps {
  readonly db: Database;
  readonly chains: { readonly all: readonly ConnectedChain[] };
  readonly hotWallets: readonly HotWallet[];
  /** Machine time: how old a look is has nothing to do with a moved clock. */
  readonly wall: () => number;
  /** A node that takes longer is shown as it was last seen. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 2_000;
/** What a release, its escrow’s deployment included, needs before there is anything to measure. */
const USUAL_GAS = 600_000n;
const WEI_DECIMALS = 18;
const GWEI_DECIMALS = 9;

export interface HotWalletReport {
  readonly chain: ConnectedChain['settings'];
  readonly address: Address;
  readonly state: 'ok' | 'low' | 'unknown';
  readonly says: string;
  readonly balance: string | null;
  readonly minimumBalance: string;
  readonly tokens: readonly { code: string; address: Address; balance: string | null }[];
  readonly gasPriceGwei: string | null;
  readonly gasPerOrder: { gas: number; cost: string | null; measuredOrders: number };
  readonly ordersLeft: number | null;
  readonly nextNonce: number;
  readonly chainNonce: number | null;
  readonly pending: readonly OpenTransaction[];
  readonly readAt: number | null;
  readonly reachable: boolean;
}

/** Reads all hot wallets; what a silent node said before is remembered with its age. */
export function createHotWalletReports(deps: HotWalletReportDeps): () => Promise<HotWalletReport[]> {
  const remembered = new Map<string, Look>();

  async function lookAt(chain: ConnectedChain, wallet: Address): Promise<Look | undefined> {
    const key = `${chain.settings.slug}/${wallet}`;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), deps.timeoutMs ?? TIMEOUT_MS);
    });
    const look = ask(chain, wallet, deps.wall).then((seen) => {
      remembered.set(key, seen);
      return seen;
    });
    // One that comes late is still remembered; one that fails is not worth more than the last.
    look.catch(() => undefined);
    try {
      return await Promise.race([look, timeout]);
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  return async () => {
    const wallets = deps.chains.all.flatMap((chain) =>
      deps.hotWallets
        .filter((wallet) => paysOn(wallet, chain.settings.slug))
        .map(({ signer }) => ({ chain, address: getAddress(signer.address) })),
    );
    return Promise.all(
      wallets.map(async ({ chain, address }) => {
        const { slug, chainId } = chain.settings;
        const [fresh, senders, pending, usual] = await Promise.all([
          lookAt(chain, address),
          listSenders(deps.db, chainId),
          openTransactions(deps.db, chainId, address),
          gasPerOrder(deps.db, chainId),
        ]);
        const look = fresh ?? remembered.get(`${slug}/${address}`);
        const nextNonce =
          senders.find(({ sender }) => sender === address)?.nextNonce ?? look?.chainNonce ?? 0;
        return reportOf(chain, address, { look, reachable: fresh !== undefined, nextNonce, pending, usual });
      }),
    );
  };
}

async function ask({ settings, client }: ConnectedChain, wallet: Address, wall: () => number): Promise<Look> {
  const [balanceWei, chainNonce, fees, ...tokens] = await Promise.all([
    client.getBalance({ address: wallet }),
    nonceAt(client, wallet, { blockTag: 'pending' }),
    currentFees(client, settings.fees ?? DEFAULT_FEE_LIMITS),
    ...settings.tokens.map(({ address }) => tokenBalance(client, address, wallet)),
  ]);
  return { at: wall(), balanceWei, tokens, chainNonce, feePerGas: fees.maxFeePerGas };
}

interface Known {
  readonly look: Look | undefined;
  readonly reachable: boolean;
  readonly nextNonce: number;
  readonly pending: readonly OpenTransaction[];
  readonly usual: { readonly gas: bigint; readonly orders: number };
}

function reportOf({ settings }: ConnectedChain, address: Address, known: Known): HotWalletReport {
  const { look, reachable, nextNonce, pending, usual } = known;
  const gas = usual.orders === 0 ? USUAL_GAS : usual.gas / BigInt(usual.orders);
  const cost = look === undefined ? undefined : gas * look.feePerGas;
  const isLow = look !== undefined && look.balanceWei < DEFAULT_MINIMUM_WEI;
  const ordersLeft =
    look === undefined || cost === undefined || cost === 0n
      ? null
      : Number(smaller(look.balanceWei / cost, BigInt(Number.MAX_SAFE_INTEGER)));
  return {
    chain: settings,
    address,
    state: look === undefined ? 'unknown' : isLow ? 'low' : 'ok',
    says: saysOf(look, reachable, isLow, ordersLeft),
    balance: look === undefined ? null : formatShortest(look.balanceWei, WEI_DECIMALS),
    minimumBalance: formatShortest(DEFAULT_MINIMUM_WEI, WEI_DECIMALS),
    tokens: settings.tokens.map(({ code, address: token, decimals }, index) => {
      const held = look?.tokens[index];
      return { code, address: token, balance: held === undefined ? null : formatFixed(held, decimals) };
    }),
    gasPriceGwei: look === undefined ? null : formatShortest(look.feePerGas, GWEI_DECIMALS),
    gasPerOrder: {
      gas: Number(gas),
      cost: cost === undefined ? null : formatShortest(cost, WEI_DECIMALS),
      measuredOrders: usual.orders,
    },
    ordersLeft,
    nextNonce,
    chainNonce: look?.chainNonce ?? null,
    pending,
    readAt: look?.at ?? null,
    reachable,
  };
}

function saysOf(
  look: Look | undefined,
  reachable: boolean,
  isLow: boolean,
  ordersLeft: number | null,
): string {
  if (look === undefined) return 'No node of this chain has answered yet: check its address and its status.';
  const enough = ordersLeft === null ? '' : ` It pays for about ${ordersLeft} more orders.`;
  const standing = isLow
    ? `Below the minimum: send it more of the chain’s own coin.${enough}`
    : `Enough to pay for gas.${enough}`;
  return reachable ? standing : `No node answers now; this is what was last seen. ${standing}`;
}
