import { isWalletMethod, type WalletInfo } from '@causeway/protocol/widget';

/**
 * The wallets of one window: those that announce themselves (EIP-6963), or else the one at `window.ethereum`. The loader uses
 * it on the page that embeds the widget, and the hosted page for its own window.
 */
export interface Wallets {
  list(): readonly WalletInfo[];
  /** Passes on what is on the list of methods, to a wallet that has announced itself; anything else is refused here. */
  request(wallet: string, method: string, params: readonly unknown[]): Promise<unknown>;
  stop(): void;
}

export type WalletEvent = 'accountsChanged' | 'chainChanged' | 'disconnect';

export interface WalletListener {
  changed(wallets: readonly WalletInfo[]): void;
  event(event: WalletEvent, wallet: string, data: unknown): void;
}

interface Provider {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
  on?(event: string, listener: (data: unknown) => void): unknown;
  removeListener?(event: string, listener: (data: unknown) => void): unknown;
}

export interface WalletWindow extends EventTarget {
  readonly ethereum?: unknown;
}

/** As EIP-1193 has it: a code that programs read and words that people read. */
export class WalletError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = 'WalletError';
    this.code = code;
  }
}

/** EIP-1193: the wallet does not support this method. */
const UNSUPPORTED_METHOD = 4200;
const INVALID_PARAMETERS = -32602;
const INTERNAL_ERROR = -32603;
const EVENTS: readonly WalletEvent[] = ['accountsChanged', 'chainChanged', 'disconnect'];
const MAX_WALLETS = 50;
const MAX_ICON_CHARACTERS = 200_000;
/** The wallet at `window.ethereum`, which has no name of its own. */
const INJECTED: WalletInfo = {
  uuid: 'injected',
  name: 'Browser wallet',
  icon: "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='%23666' stroke-width='2'><rect x='3' y='6' width='18' height='13' rx='2'/><path d='M16 12h5'/></svg>",
  rdns: 'injected',
};

export function findWallets(view: WalletWindow, listener: WalletListener): Wallets {
  const announced = new Map<string, { readonly info: WalletInfo; readonly provider: Provider }>();
  const followed = new Map<string, () => void>();

  const onAnnounce = (event: Event) => {
    const detail = (event as CustomEvent<unknown>).detail;
    const found = readAnnouncement(detail);
    if (found === undefined || announced.has(found.info.uuid) || announced.size >= MAX_WALLETS) return;
    announced.set(found.info.uuid, found);
    listener.changed(list());
  };

  function list(): readonly WalletInfo[] {
    if (announced.size > 0) return [...announced.values()].map(({ info }) => info);
    return isProvider(view.ethereum) ? [INJECTED] : [];
  }

  function providerOf(wallet: string): Provider | undefined {
    if (wallet === INJECTED.uuid && isProvider(view.ethereum)) return view.ethereum;
    return announced.get(wallet)?.provider;
  }

  /** A wallet is listened to once it has been asked for something: the others are no business of ours. */
  function follow(wallet: string, provider: Provider): void {
    if (followed.has(wallet) || provider.on === undefined) return;
    const listeners = EVENTS.map((event) => {
      const relay = (data: unknown) => listener.event(event, wallet, plain(data));
      provider.on?.(event, relay);
      return () => provider.removeListener?.(event, relay);
    });
    followed.set(wallet, () => {
      for (const stop of listeners) stop();
    });
  }

  view.addEventListener('eip6963:announceProvider', onAnnounce);
  view.dispatchEvent(new Event('eip6963:requestProvider'));

  return {
    list,
    async request(wallet, method, params) {
      if (!isWalletMethod(method)) {
        throw new WalletError(UNSUPPORTED_METHOD, `The widget passes no ${method.slice(0, 60)} on.`);
      }
      const provider = providerOf(wallet);
      if (provider === undefined) throw new WalletError(INVALID_PARAMETERS, 'There is no such wallet.');
      follow(wallet, provider);
      try {
        return plain(await provider.request({ method, params }));
      } catch (error) {
        throw errorOf(error);
      }
    },
    stop() {
      view.removeEventListener('eip6963:announceProvider', onAnnounce);
      for (const stop of followed.values()) stop();
      followed.clear();
      announced.clear();
    },
  };
}

function isProvider(value: unknown): value is Provider {
  return typeof (value as Provider | undefined)?.request === 'function';
}

/** What an extension says of itself is text of others: only what fits is taken, and an icon only as an image in itself. */
function readAnnouncement(detail: unknown): { info: WalletInfo; provider: Provider } | undefined {
  const { info, provider } = (detail ?? {}) as { info?: Partial<WalletInfo>; provider?: unknown };
  if (!isProvider(provider) || typeof info?.uuid !== 'string' || typeof info.name !== 'string')
    return undefined;
  const { uuid, name } = info;
  const rdns = typeof info.rdns === 'string' ? info.rdns : '';
  const icon = typeof info.icon === 'string' ? info.icon : '';
  const isImage = icon.startsWith('data:image/') && icon.length <= MAX_ICON_CHARACTERS;
  return {
    info: {
      uuid: uuid.slice(0, 100),
      name: name.slice(0, 100),
      icon: isImage ? icon : INJECTED.icon,
      rdns: rdns.slice(0, 200),
    },
    provider,
  };
}

/** Wallets give proxies and the like, which no message can carry. */
function plain(value: unknown): unknown {
  return value === undefined ? null : JSON.parse(JSON.stringify(value));
}

export function errorOf(error: unknown): WalletError {
  if (error instanceof WalletError) return error;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return new WalletError(
    typeof code === 'number' ? code : INTERNAL_ERROR,
    typeof message === 'string' ? message.slice(0, 500) : 'The wallet did not answer.',
  );
}
