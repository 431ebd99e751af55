import { THEME_VARIABLES, type WidgetSettings, type WidgetSide } from '@causeway/protocol/widget';

/** The `order_id` of the API and of webhooks. A callback is for the page; what counts is the webhook. */
export interface Trade {
  readonly orderId: string;
  readonly side: WidgetSide;
}

export interface WidgetFailure {
  readonly code: string;
  readonly message: string;
}

export interface Callbacks {
  readonly onReady?: () => void;
  readonly onTradeStarted?: (trade: Trade) => void;
  readonly onTradeCompleted?: (trade: Trade) => void;
  readonly onError?: (failure: WidgetFailure) => void;
  readonly onClose?: () => void;
  readonly onStep?: (step: string) => void;
}

export interface MountOptions extends WidgetSettings, Callbacks {
  /** The publishable key, `cw_widget_…`; or else `session`. */
  readonly widgetKey?: string;
  /** The `url` of a session that your server has made (`POST /api/v1/partner/widget-sessions`). */
  readonly session?: string;
  /** The service, `https://ramp.example`. Known where the script tag or `session` tells it. */
  readonly baseUrl?: string;
  /** Windows narrower than this many pixels show the widget full screen; 480 unless given, 0 for never. */
  readonly fullScreenBelow?: number;
  /** What a screen reader calls the frame. */
  readonly title?: string;
}

let scriptOrigin: string | undefined;

/** Where the script tag came from is where the frame comes from. */
export function setScriptOrigin(origin: string | undefined): void {
  scriptOrigin = origin;
}

const LOCAL = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

function addressOf(text: string, name: string): URL {
  let address: URL;
  try {
    address = new URL(text);
  } catch {
    throw new TypeError(`Causeway: ${name} is not an address: it begins with https://`);
  }
  if (address.protocol === 'https:') return address;
  if (address.protocol === 'http:' && LOCAL.test(address.hostname)) return address;
  throw new TypeError(`Causeway: ${name} must be https (http only on localhost)`);
}

/** What the frame loads. The code of a server-made session is in the fragment, which no server sees. */
export function frameAddress(options: MountOptions, instance: number): URL {
  const { widgetKey, session, baseUrl } = options;
  if ((widgetKey === undefined) === (session === undefined)) {
    throw new TypeError('Causeway: give either widgetKey or session');
  }
  const made = session === undefined ? undefined : addressOf(session, 'session');
  const base = baseUrl ?? made?.origin ?? scriptOrigin;
  if (base === undefined) {
    throw new TypeError('Causeway: baseUrl is missing: the address of the service, https://ramp.example');
  }
  const frame = new URL('/widget/frame', addressOf(base, 'baseUrl'));
  if (made === undefined) frame.searchParams.set('key', widgetKey ?? '');
  else {
    const id = made.searchParams.get('session');
    if (id === null || made.hash === '' || made.origin !== frame.origin) {
      throw new TypeError('Causeway: session is not the url of a widget session of this service');
    }
    frame.searchParams.set('session', id);
    frame.hash = made.hash;
  }
  // Two widgets of a tab share its storage; each keeps its place under a number of its own.
  if (instance > 0) frame.searchParams.set('instance', String(instance));
  return frame;
}

const TEXTS = [
  'side',
  'fiatCurrency',
  'cryptoCurrency',
  'amount',
  'country',
  'wallet',
  'userReference',
  'locale',
] as const;

/** What of the options the frame is told: nothing that a message cannot carry, and nothing that is not for it. */
export function settingsOf(options: MountOptions): WidgetSettings {
  const settings: Record<string, unknown> = {};
  for (const name of TEXTS) {
    const value: unknown = options[name];
    if (value !== undefined && value !== null && value !== '') settings[name] = String(value);
  }
  const { theme } = options;
  if (theme !== undefined && theme !== null) {
    const variables: Record<string, string> = {};
    for (const name of THEME_VARIABLES) {
      const value = theme.variables?.[name];
      if (value !== undefined) variables[name] = String(value);
    }
    settings.theme = { ...(theme.mode === undefined ? {} : { mode: theme.mode }), variables };
  }
  return settings;
}
