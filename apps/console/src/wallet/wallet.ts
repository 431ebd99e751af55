import type { WalletMethod } from '@causeway/protocol/widget';
import { errorOf, findWallets, type Wallets } from '@causeway/widget/wallets';
import { useSyncExternalStore } from 'react';

/**
 * The wallets of this browser (EIP-6963, or the one at `window.ethereum`) and the one that the user has connected. One for all
 * pages, so that a wallet is connected once.
 */
export type FoundWallet = ReturnType<Wallets['list']>[number];

export interface Connection {
  readonly wallet: FoundWallet;
  readonly address: string;
  readonly chainId: number | null;
}

interface WalletState {
  readonly wallets: readonly FoundWallet[];
  readonly connection: Connection | null;
}

let state: WalletState = { wallets: [], connection: null };
let found: Wallets | null = null;
const listeners = new Set<() => void>();

function change(changes: Partial<WalletState>): void {
  state = { ...state, ...changes };
  for (const listener of listeners) listener();
}

function walletsOfWindow(): Wallets {
  found ??= findWallets(window, {
    changed: (wallets) => change({ wallets }),
    event: (event, uuid, data) => {
      const { connection } = state;
      if (connection === null || connection.wallet.uuid !== uuid) return;
      if (event === 'disconnect') change({ connection: null });
      if (event === 'chainChanged') change({ connection: { ...connection, chainId: chainIdOf(data) } });
      if (event === 'accountsChanged') {
        const address = firstAccount(data);
        change({ connection: address === undefined ? null : { ...connection, address } });
      }
    },
  });
  return found;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  const wallets = walletsOfWindow().list();
  if (wallets.length !== state.wallets.length) change({ wallets });
  return () => listeners.delete(listener);
}

export function useWallets(): WalletState {
  return useSyncExternalStore(subscribe, () => state);
}

/** What a wallet refused, with words for the person at it. */
export class WalletProblem extends Error {
  override readonly name = 'WalletProblem';
}

const WORDS: Readonly<Record<number, string>> = {
  4001: 'You refused it in the wallet. Nothing was signed.',
  4100: 'The wallet does not allow this page. Connect it again.',
  4902: 'The wallet does not know this network. Add it there, then try again.',
  [-32002]: 'The wallet is already asking you something. Open it and answer there.',
};

export async function askWallet(
  { wallet }: Pick<Connection, 'wallet'>,
  method: WalletMethod,
  params: readonly unknown[] = [],
): Promise<unknown> {
  try {
    return await walletsOfWindow().request(wallet.uuid, method, params);
  } catch (thrown) {
    const { code, message } = errorOf(thrown);
    throw new WalletProblem(WORDS[code] ?? `${wallet.name}: ${message}`);
  }
}

/** The person agrees in the wallet. */
export async function connectWallet(wallet: FoundWallet): Promise<void> {
  const address = firstAccount(await askWallet({ wallet }, 'eth_requestAccounts'));
  if (address === undefined) throw new WalletProblem('The wallet gave no account. Unlock it and try again.');
  const chainId = await askWallet({ wallet }, 'eth_chainId').then(chainIdOf, () => null);
  change({ connection: { wallet, address, chainId } });
}

export async function switchChain(connection: Connection, chainId: number): Promise<void> {
  await askWallet(connection, 'wallet_switchEthereumChain', [{ chainId: `0x${chainId.toString(16)}` }]);
  const now = await askWallet(connection, 'eth_chainId').then(chainIdOf, () => null);
  if (state.connection?.wallet.uuid === connection.wallet.uuid)
    change({ connection: { ...state.connection, chainId: now } });
}

export function forgetWallet(): void {
  change({ connection: null });
}

function firstAccount(accounts: unknown): string | undefined {
  const [first] = Array.isArray(accounts) ? (accounts as unknown[]) : [];
  return typeof first === 'string' && /^0x[0-9a-fA-F]{40}$/.test(first) ? first : undefined;
}

function chainIdOf(answer: unknown): number | null {
  const id = Number(answer);
  return Number.isSafeInteger(id) && id > 0 ? id : null;
}
