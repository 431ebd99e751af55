import type { WalletInfo, WalletMethod } from '@causeway/protocol/widget';
import { signal } from '@preact/signals';
import { host } from './host.ts';

/** The wallet that the customer has connected, on top of what the host passes on. */
export interface Connection {
  readonly wallet: WalletInfo;
  /** As the wallet spells it. */
  readonly address: string;
  readonly chainId: number | null;
}

export const wallets = signal<readonly WalletInfo[]>([]);
export const connection = signal<Connection | null>(null);

/** What a wallet refused, in the kinds that the screens have words for (`wallet.<kind>`). */
export type WalletProblem = 'rejected' | 'pending' | 'unknownChain' | 'noAccount' | 'failed';

export class WalletError extends Error {
  override readonly name = 'WalletError';
  readonly problem: WalletProblem;
  readonly wallet: string;

  constructor(problem: WalletProblem, wallet: string, message: string) {
    super(message);
    this.problem = problem;
    this.wallet = wallet;
  }
}

/** Numbers of EIP-1193 and of JSON-RPC that wallets agree on. */
const PROBLEMS: Readonly<Record<number, WalletProblem>> = {
  4001: 'rejected',
  4100: 'rejected',
  [-32002]: 'pending',
  4902: 'unknownChain',
};

export function walletErrorOf(thrown: unknown, { name }: Pick<WalletInfo, 'name'>): WalletError {
  if (thrown instanceof WalletError) return thrown;
  const { code, message, data } = (thrown ?? {}) as {
    readonly code?: unknown;
    readonly message?: unknown;
    readonly data?: { readonly originalError?: { readonly code?: unknown } };
  };
  // MetaMask on a phone wraps what was refused.
  const numbers = [code, data?.originalError?.code].map(Number);
  const problem = numbers.map((number) => PROBLEMS[number]).find((one) => one !== undefined) ?? 'failed';
  return new WalletError(problem, name, typeof message === 'string' ? message : String(thrown));
}

/** One request of a wallet; whatever it throws becomes a WalletError. */
export async function askWallet(
  wallet: WalletInfo,
  method: WalletMethod,
  params: readonly unknown[] = [],
): Promise<unknown> {
  try {
    return await host().request(wallet.uuid, method, params);
  } catch (thrown) {
    throw walletErrorOf(thrown, wallet);
  }
}

let isWatching = false;

/** Follows the wallets of the host, once; screens that show wallets call it when they appear. */
export function watchWallets(): void {
  if (isWatching) return;
  isWatching = true;
  const around = host();
  wallets.value = around.wallets();
  around.onWallets((found) => {
    wallets.value = found;
    const current = connection.value;
    if (current === null || found.some(({ uuid }) => uuid === current.wallet.uuid)) return;
    // A page that loads again announces the same wallet under another id. Wallets without a name are not told apart.
    const again = found.find(({ rdns }) => rdns !== '' && rdns === current.wallet.rdns);
    if (again !== undefined) connection.value = { ...current, wallet: again };
  });
  around.onWalletEvent((event, uuid, data) => {
    const current = connection.value;
    if (current === null || current.wallet.uuid !== uuid) return;
    if (event === 'disconnect') connection.value = null;
    if (event === 'chainChanged') connection.value = { ...current, chainId: chainIdOf(data) };
    if (event === 'accountsChanged') {
      const address = firstAccount(data);
      connection.value = address === undefined ? null : { ...current, address };
    }
  });
}

function firstAccount(accounts: unknown): string | undefined {
  const [first] = Array.isArray(accounts) ? (accounts as unknown[]) : [];
  return typeof first === 'string' && /^0x[0-9a-fA-F]{40}$/.test(first) ? first : undefined;
}

function chainIdOf(answer: unknown): number | null {
  const id = Number(answer);
  return Number.isSafeInteger(id) && id > 0 ? id : null;
}

/** Asks the wallet which account it gives; the customer agrees in the wallet. */
export async function connectWallet(wallet: WalletInfo): Promise<Connection> {
  const address = firstAccount(await askWallet(wallet, 'eth_requestAccounts'));
  if (address === undefined) throw new WalletError('noAccount', wallet.name, 'the wallet gave no account');
  const chainId = await askWallet(wallet, 'eth_chainId').then(chainIdOf, () => null);
  const connected = { wallet, address, chainId };
  connection.value = connected;
  return connected;
}

/** Asks the wallet to change to the chain of the session. */
export async function switchChain({ wallet }: Connection, chainId: number): Promise<void> {
  await askWallet(wallet, 'wallet_switchEthereumChain', [{ chainId: `0x${chainId.toString(16)}` }]);
  const now = await askWallet(wallet, 'eth_chainId').then(chainIdOf, () => null);
  if (connection.value?.wallet.uuid === wallet.uuid) connection.value = { ...connection.value, chainId: now };
}

export function forgetWallet(): void {
  connection.value = null;
}
