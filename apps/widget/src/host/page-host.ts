import {
  isWalletMethod,
  type WalletInfo,
  type WidgetSettings,
  type WidgetTheme,
} from '@causeway/protocol/widget';
import { findWallets, type WalletWindow } from '@causeway/widget/wallets';
import { type Host, isLeaveAddress, type WalletEventListener } from './host.ts';

/** What the address may say. What is personal is in the fragment, which browsers send to nobody. */
const QUERY = ['side', 'fiatCurrency', 'cryptoCurrency', 'amount', 'country', 'locale'] as const;
const FRAGMENT = ['wallet', 'userReference'] as const;
const MODES: readonly string[] = ['light', 'dark', 'auto'];

export interface PageView extends WalletWindow {
  readonly location: Pick<Location, 'search' | 'hash' | 'pathname'> & { assign(url: string): void };
  readonly history: Pick<History, 'replaceState'>;
}

/** On a page of its own: settings come from its address, wallets from its own window. */
export function connectPage(view: PageView = window): Host {
  const settings = readSettings(view);
  const walletListeners: ((wallets: readonly WalletInfo[]) => void)[] = [];
  const eventListeners: WalletEventListener[] = [];
  const wallets = findWallets(view, {
    changed: (list) => {
      for (const listener of walletListeners) listener(list);
    },
    event: (event, wallet, data) => {
      for (const listener of eventListeners) listener(event, wallet, data);
    },
  });
  return {
    kind: 'page',
    send: () => undefined,
    onSettings: (listener) => listener(settings),
    wallets: () => wallets.list(),
    onWallets: (listener) => void walletListeners.push(listener),
    request: (wallet, method, params) =>
      isWalletMethod(method)
        ? wallets.request(wallet, method, params)
        : Promise.reject(new TypeError(method)),
    onWalletEvent: (listener) => void eventListeners.push(listener),
    leave(url) {
      if (isLeaveAddress(url)) view.location.assign(url);
    },
  };
}

function readSettings({ location, history }: PageView): WidgetSettings {
  const query = new URLSearchParams(location.search);
  const settings: Record<string, unknown> = {};
  for (const name of QUERY) take(query, name, settings);
  const mode = query.get('theme');
  if (mode !== null && MODES.includes(mode)) settings.theme = { mode } as WidgetTheme;
  // The fragment of a server-made session is its code, which is read elsewhere.
  if (!query.has('session') && location.hash !== '') {
    const fragment = new URLSearchParams(location.hash.slice(1));
    for (const name of FRAGMENT) take(fragment, name, settings);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return settings;
}

function take(from: URLSearchParams, name: string, into: Record<string, unknown>): void {
  const value = from.get(name);
  if (value !== null && value !== '') into[name] = value;
}
