import {
  envelope,
  type FrameMessage,
  frameMessageIn,
  type HostMessage,
  type WalletInfo,
  type WidgetSettings,
} from '@causeway/protocol/widget';
import { errorOf, findWallets, type WalletWindow } from './wallets.ts';

/** The page’s end of the channel to one frame. What the frame says is checked here, before anything acts on it. */
export interface FrameChannel {
  send(message: HostMessage): void;
  close(): void;
}

export interface ChannelOptions {
  /** The window of the page: where the frame’s hello arrives and where the wallets are. */
  readonly view: WalletWindow;
  /** The frame’s window, once it has one. */
  readonly frame: () => unknown;
  /** The service: no other origin is heard or spoken to. */
  readonly origin: string;
  /** Sent with `init`, as they are when the frame says hello. */
  readonly settings: () => WidgetSettings;
  /** Everything but hello and what concerns wallets. */
  readonly heard: (message: Exclude<FrameMessage, { type: 'hello' | 'wallet_request' }>) => void;
  readonly greeted?: () => void;
}

interface FrameWindow {
  postMessage(message: unknown, origin: string, transfer: Transferable[]): void;
}

/**
 * The frame says hello by postMessage: its window and its origin are checked, and it gets a MessagePort that nothing else
 * holds. A frame that loads again says hello again and gets another port; the old one is closed.
 */
export function openChannel({ view, frame, origin, settings, heard, greeted }: ChannelOptions): FrameChannel {
  let port: MessagePort | undefined;
  const send = (message: HostMessage) => port?.postMessage(envelope(message));
  const wallets = findWallets(view, {
    changed: (list: readonly WalletInfo[]) =>
      send({ type: 'wallet_event', event: 'announced', wallets: list }),
    event: (event, wallet, data) => send({ type: 'wallet_event', event, wallet, data }),
  });

  const relay = async (
    { id, wallet, method, params }: Extract<FrameMessage, { type: 'wallet_request' }>,
    through: MessagePort,
  ) => {
    const answer = await wallets.request(wallet, method, params).then(
      (result): HostMessage => ({ type: 'wallet_response', id, result }),
      (error: unknown): HostMessage => {
        const { code, message } = errorOf(error);
        return { type: 'wallet_response', id, error: { code, message } };
      },
    );
    // By the port that it came from: a frame that has loaded again since then did not ask for it.
    through.postMessage(envelope(answer));
  };

  const greet = (channel: string) => {
    port?.close();
    const pair = new MessageChannel();
    const own = pair.port1;
    port = own;
    own.onmessage = ({ data }: MessageEvent<unknown>) => {
      const message = frameMessageIn(data);
      if (message === undefined || message.type === 'hello') return;
      if (message.type === 'wallet_request') void relay(message, own);
      else heard(message);
    };
    (frame() as FrameWindow).postMessage(
      envelope({ type: 'init', channel, settings: settings(), wallets: wallets.list() }),
      origin,
      [pair.port2],
    );
    greeted?.();
  };

  const onMessage = (event: Event) => {
    const { source, origin: from, data } = event as MessageEvent<unknown>;
    if (source === null || source !== frame() || from !== origin) return;
    const message = frameMessageIn(data);
    if (message?.type === 'hello' && message.channel !== '') greet(message.channel);
  };
  view.addEventListener('message', onMessage);

  return {
    send,
    close() {
      view.removeEventListener('message', onMessage);
      wallets.stop();
      port?.close();
      port = undefined;
    },
  };
}
