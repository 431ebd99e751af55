import {
  envelope,
  type FrameMessage,
  type HostMessage,
  hostMessageIn,
  type WalletInfo,
  type WidgetSettings,
} from '@causeway/protocol/widget';
import { WalletError } from '@causeway/widget/wallets';
import { type Host, isLeaveAddress, type WalletEventListener } from './host.ts';
import { isAllowedOrigin } from './origins.ts';

/** What connectFrame needs of the window it is in; a test gives one of its own. */
export interface FrameView {
  readonly parent: { postMessage(message: unknown, origin: string): void };
  readonly location: { readonly origin: string };
  addEventListener(type: 'message', listener: (event: MessageEvent<unknown>) => void): void;
  removeEventListener(type: 'message', listener: (event: MessageEvent<unknown>) => void): void;
  open(url: string, target: string, features: string): unknown;
}

type Init = Extract<HostMessage, { type: 'init' }>;

/**
 * In a frame: the page that embeds it, once it has answered the hello. The hello goes to any origin and says nothing but the
 * number of the channel; everything after it goes through the port that came with `init` from an allowed origin.
 */
export function connectFrame(origins: readonly string[], view: FrameView = window): Promise<Host> {
  const channel = crypto.randomUUID();
  return new Promise((resolve) => {
    const onMessage = (event: MessageEvent<unknown>) => {
      if (event.source !== view.parent || !isAllowedOrigin(event.origin, origins, view.location.origin))
        return;
      const message = hostMessageIn(event.data);
      const [port] = event.ports;
      if (message?.type !== 'init' || message.channel !== channel || port === undefined) return;
      // Once: whoever answers later takes nothing over.
      view.removeEventListener('message', onMessage);
      resolve(frameHost(port, message, view));
    };
    view.addEventListener('message', onMessage);
    view.parent.postMessage(envelope({ type: 'hello', channel }), '*');
  });
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

function frameHost(port: MessagePort, init: Init, view: FrameView): Host {
  let settings = init.settings;
  let wallets: readonly WalletInfo[] = init.wallets;
  const settingsListeners: ((settings: WidgetSettings) => void)[] = [];
  const walletListeners: ((wallets: readonly WalletInfo[]) => void)[] = [];
  const eventListeners: WalletEventListener[] = [];
  const waiting = new Map<string, Waiting>();
  const send = (message: FrameMessage) => port.postMessage(envelope(message));

  const settle = ({ id, result, error }: Extract<HostMessage, { type: 'wallet_response' }>) => {
    const asked = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) asked?.resolve(result);
    else asked?.reject(new WalletError(error.code, error.message));
  };
  const onWalletEvent = (message: Extract<HostMessage, { type: 'wallet_event' }>) => {
    if (message.event === 'announced') {
      if (!Array.isArray(message.wallets)) return;
      wallets = message.wallets;
      for (const listener of walletListeners) listener(wallets);
    } else {
      const { event, wallet, data } = message;
      for (const listener of eventListeners) listener(event, wallet, data);
    }
  };

  port.onmessage = ({ data }: MessageEvent<unknown>) => {
    const message = hostMessageIn(data);
    if (message?.type === 'update') {
      settings = message.settings;
      for (const listener of settingsListeners) listener(settings);
    } else if (message?.type === 'wallet_response') settle(message);
    else if (message?.type === 'wallet_event') onWalletEvent(message);
  };

  return {
    kind: 'frame',
    send,
    onSettings(listener) {
      settingsListeners.push(listener);
      listener(settings);
    },
    wallets: () => wallets,
    onWallets: (listener) => void walletListeners.push(listener),
    request: (wallet, method, params) =>
      new Promise((resolve, reject) => {
        const id = crypto.randomUUID();
        waiting.set(id, { resolve, reject });
        send({ type: 'wallet_request', id, wallet, method, params });
      }),
    onWalletEvent: (listener) => void eventListeners.push(listener),
    leave(url) {
      // The page around it stays where it is.
      if (isLeaveAddress(url)) view.open(url, '_blank', 'noopener,noreferrer');
    },
  };
}

/** Tells the page how high the content is, whenever that changes. */
export function reportHeight(content: Element, host: Host): void {
  let told = 0;
  const observer = new ResizeObserver(() => {
    const height = Math.ceil(content.getBoundingClientRect().height);
    if (height === told) return;
    told = height;
    host.send({ type: 'resize', height });
  });
  observer.observe(content);
}
