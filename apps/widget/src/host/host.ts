import type { FrameMessage, WalletInfo, WalletMethod, WidgetSettings } from '@causeway/protocol/widget';

/**
 * What is around the application: the page that embeds it, or the browser’s window where it is a page of its own. The two
 * differ in how they are told of trades and in where the wallets are; the screens need not know which it is.
 */
export interface Host {
  readonly kind: 'frame' | 'page';
  send(message: FrameMessage): void;
  /** What the page asked for, now and after each change. */
  onSettings(listener: (settings: WidgetSettings) => void): void;
  /** Wallets that announced themselves (EIP-6963). */
  wallets(): readonly WalletInfo[];
  onWallets(listener: (wallets: readonly WalletInfo[]) => void): void;
  request(wallet: string, method: WalletMethod, params: readonly unknown[]): Promise<unknown>;
  onWalletEvent(listener: WalletEventListener): void;
  /** To the partner’s address once all is done: this page goes there, a frame opens another one. https only. */
  leave(url: string): void;
}

export type WalletEventListener = (
  event: 'accountsChanged' | 'chainChanged' | 'disconnect',
  wallet: string,
  data: unknown,
) => void;

/** A place to send a customer to: no script, no file; http only on the developer’s own machine. */
export function isLeaveAddress(url: string): boolean {
  const address = parseAddress(url);
  if (address?.protocol === 'https:') return true;
  return address?.protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(address.hostname);
}

/** Null where it is none. */
export function parseAddress(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

let current: Host | null = null;

export function setHost(given: Host): void {
  current = given;
}

export function host(): Host {
  if (current === null) throw new Error('there is no host yet');
  return current;
}
