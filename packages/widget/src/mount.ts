import type { FrameMessage } from '@causeway/protocol/widget';
import { type FrameChannel, openChannel } from './channel.ts';
import { frameAddress, type MountOptions, settingsOf, type Trade } from './options.ts';

/** One widget on a page. */
export interface WidgetHandle {
  /** Changes the options that are given and keeps the others. Another key, session or service loads the frame anew. */
  update(options: MountOptions): void;
  /** Shows it again after it was closed; the customer goes on where it was. */
  open(): void;
  close(): void;
  /** Closes it without a word and forgets it. */
  destroy(): void;
}

/** Reserved before anything is known of the content, and about as high as the first screen, so that the page does not jump. */
const RESERVED_HEIGHT_PX = 880;
const MAX_HEIGHT_PX = 5_000;
const FULL_SCREEN_BELOW_PX = 480;
/** A frame that has loaded and says nothing is not ours: the browser has refused it, or the service is away. */
const HELLO_TIMEOUT_MS = 10_000;
/** No way to the page’s own address and no downloads. Modals are for printing a receipt; popups for a hosted verification. */
const SANDBOX =
  'allow-scripts allow-same-origin allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox';

const instances = new Set<number>();
/** Puts each shown frame into its place. Full screen is for one alone: of several, one would hide the others. */
const shownFrames = new Set<() => void>();

function takeInstance(): number {
  let free = 0;
  while (instances.has(free)) free++;
  instances.add(free);
  return free;
}

/** Shows the widget in an element of the page. */
export function mount(element: Element, options: MountOptions): WidgetHandle {
  if (!(element instanceof Element)) throw new TypeError('Causeway: mount needs an element of the page');
  const instance = takeInstance();
  let current = { ...options };
  let shown: ShownFrame | undefined;
  try {
    shown = show();
  } catch (error) {
    instances.delete(instance);
    throw error;
  }

  function show(): ShownFrame {
    const address = frameAddress(current, instance);
    return showFrame(element, address, () => current, hear);
  }

  function hear(message: Heard): void {
    if (message.type === 'ready') tell('ready', undefined, current.onReady);
    else if (message.type === 'step') tell('step', message.step, current.onStep);
    else if (message.type === 'trade_started') tell('tradestarted', tradeOf(message), current.onTradeStarted);
    else if (message.type === 'trade_completed')
      tell('tradecompleted', tradeOf(message), current.onTradeCompleted);
    else if (message.type === 'error')
      tell('error', { code: message.code, message: message.message }, current.onError);
    else if (message.type === 'close_request') handle.close();
  }

  /** What a page’s own code throws is the page’s: the widget goes on. */
  function tell<T>(name: string, detail: T, callback: ((detail: T) => void) | undefined): void {
    element.dispatchEvent(new CustomEvent(`causeway:${name}`, { detail, bubbles: true, composed: true }));
    try {
      callback?.(detail);
    } catch (error) {
      setTimeout(() => {
        throw error;
      });
    }
  }

  const handle: WidgetHandle = {
    update(changed) {
      const next = { ...current, ...changed };
      const address = frameAddress(next, instance);
      current = next;
      if (shown === undefined) return;
      if (shown.address.href === address.href) return shown.refresh();
      shown.remove();
      shown = show();
    },
    open() {
      shown ??= show();
      instances.add(instance);
    },
    close() {
      if (shown === undefined) return;
      shown.remove();
      shown = undefined;
      tell('close', undefined, current.onClose);
    },
    destroy() {
      shown?.remove();
      shown = undefined;
      instances.delete(instance);
    },
  };
  return handle;
}

function tradeOf({ orderId, side }: Trade): Trade {
  return { orderId, side };
}

type Heard = Exclude<FrameMessage, { type: 'hello' | 'wallet_request' }>;

interface ShownFrame {
  readonly address: URL;
  /** The options have changed. */
  refresh(): void;
  remove(): void;
}

function showFrame(
  element: Element,
  address: URL,
  options: () => MountOptions,
  hear: (message: Heard) => void,
): ShownFrame {
  const page = element.ownerDocument;
  const view = page.defaultView ?? window;
  const iframe = page.createElement('iframe');
  iframe.title = options().title ?? 'Buy and sell crypto';
  iframe.allow = 'camera; clipboard-write';
  iframe.referrerPolicy = 'no-referrer';
  iframe.setAttribute('sandbox', SANDBOX);
  iframe.src = address.href;

  let height = RESERVED_HEIGHT_PX;
  /** A frame that is silent, which may be a browser’s error page, has no way out: it never covers the page. */
  let isAlive = false;
  const place = () => {
    const below = options().fullScreenBelow ?? FULL_SCREEN_BELOW_PX;
    placeFrame(iframe, isAlive && view.innerWidth < below && shownFrames.size === 1, height);
  };
  let sent = '';
  /** What is loading has said hello already; as a rule it does before it has loaded. */
  let isGreetedEarly = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const channel: FrameChannel = openChannel({
    view,
    frame: () => iframe.contentWindow,
    origin: address.origin,
    settings: () => {
      const settings = settingsOf(options());
      sent = JSON.stringify(settings);
      return settings;
    },
    greeted: () => {
      isGreetedEarly = timer === undefined;
      clearTimeout(timer);
      timer = undefined;
      isAlive = true;
      place();
    },
    heard: (message) => {
      if (message.type === 'resize') {
        // Never below what was reserved: what stands under it stays where it is.
        height = Math.min(Math.max(Math.ceil(message.height) || 0, RESERVED_HEIGHT_PX), MAX_HEIGHT_PX);
        place();
      } else hear(message);
    },
  });
  iframe.addEventListener('load', () => {
    clearTimeout(timer);
    timer = undefined;
    // A frame may load again by itself, and find the service away.
    if (isGreetedEarly) {
      isGreetedEarly = false;
      return;
    }
    timer = setTimeout(() => {
      timer = undefined;
      isAlive = false;
      place();
      hear(silence(address.origin, view.location.origin));
    }, HELLO_TIMEOUT_MS);
  });
  shownFrames.add(place);
  for (const placeEach of shownFrames) placeEach();
  view.addEventListener('resize', place);
  element.append(iframe);

  return {
    address,
    refresh() {
      place();
      const settings = settingsOf(options());
      const text = JSON.stringify(settings);
      if (text === sent) return;
      sent = text;
      channel.send({ type: 'update', settings });
    },
    remove() {
      clearTimeout(timer);
      view.removeEventListener('resize', place);
      shownFrames.delete(place);
      for (const placeEach of shownFrames) placeEach();
      channel.send({ type: 'close' });
      channel.close();
      iframe.remove();
    },
  };
}

/** By properties, not by an attribute: a page whose policy allows no inline styles shows it all the same. */
function placeFrame(iframe: HTMLIFrameElement, isFullScreen: boolean, height: number): void {
  const { style } = iframe;
  style.display = 'block';
  style.border = '0';
  style.inlineSize = '100%';
  style.position = isFullScreen ? 'fixed' : 'static';
  style.inset = isFullScreen ? '0' : 'auto';
  style.zIndex = isFullScreen ? '2147483647' : 'auto';
  style.blockSize = isFullScreen ? '100%' : `${height}px`;
}

function silence(service: string, page: string): Heard {
  return {
    type: 'error',
    code: 'FRAME_UNAVAILABLE',
    message: `${service} did not answer. If it is up, ${page} may not be among the partner’s widget origins, or this page’s Content-Security-Policy does not allow frame-src ${service}.`,
  };
}
