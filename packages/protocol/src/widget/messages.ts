/**
 * What the page that embeds the widget and the widget’s frame say to each other. The frame says hello by postMessage; the
 * page answers with `init` and a MessagePort, and everything else goes through that port. No dependency: the page loads it.
 */
export const WIDGET_PROTOCOL = 'causeway-widget';
export const WIDGET_PROTOCOL_VERSION = 1;

export type WidgetSide = 'onramp' | 'offramp';

/** CSS variables that a page may set, without the `--cw-` that they begin with in the frame. */
export const THEME_VARIABLES = [
  'accent',
  'accent-text',
  'background',
  'surface',
  'text',
  'muted',
  'border',
  'danger',
  'success',
  'radius',
  'font',
] as const;
export type ThemeVariable = (typeof THEME_VARIABLES)[number];

export interface WidgetTheme {
  readonly mode?: 'light' | 'dark' | 'auto';
  readonly variables?: Readonly<Partial<Record<ThemeVariable, string>>>;
}

/** What the page asked for. Personal data travels here, never in an address. */
export interface WidgetSettings {
  readonly side?: WidgetSide;
  readonly fiatCurrency?: string;
  readonly cryptoCurrency?: string;
  /** Decimal text, of the fiat currency. */
  readonly amount?: string;
  readonly country?: string;
  readonly wallet?: string;
  readonly userReference?: string;
  readonly theme?: WidgetTheme;
  readonly locale?: string;
}

export interface WalletInfo {
  /** Of this announcement; a page that loads again gives new ones. */
  readonly uuid: string;
  readonly name: string;
  /** A data: URI. */
  readonly icon: string;
  readonly rdns: string;
}

/** Nothing else is passed on to a wallet: no eth_sign, and nothing that reads more than the account. */
export const WALLET_METHODS = [
  'eth_accounts',
  'eth_requestAccounts',
  'eth_chainId',
  'wallet_switchEthereumChain',
  'personal_sign',
  'eth_signTypedData_v4',
  'eth_sendTransaction',
] as const;
export type WalletMethod = (typeof WALLET_METHODS)[number];

/** From the frame to the page. */
export type FrameMessage =
  | { readonly type: 'hello'; readonly channel: string }
  | { readonly type: 'ready' }
  | { readonly type: 'resize'; readonly height: number }
  | { readonly type: 'step'; readonly step: string }
  | { readonly type: 'trade_started'; readonly orderId: string; readonly side: WidgetSide }
  | { readonly type: 'trade_completed'; readonly orderId: string; readonly side: WidgetSide }
  | {
      readonly type: 'wallet_request';
      readonly id: string;
      readonly wallet: string;
      readonly method: WalletMethod;
      readonly params: readonly unknown[];
    }
  | { readonly type: 'close_request' }
  | { readonly type: 'error'; readonly code: string; readonly message: string };

/** From the page to the frame. */
export type HostMessage =
  | {
      readonly type: 'init';
      readonly channel: string;
      readonly settings: WidgetSettings;
      readonly wallets: readonly WalletInfo[];
    }
  | { readonly type: 'update'; readonly settings: WidgetSettings }
  | {
      readonly type: 'wallet_response';
      readonly id: string;
      readonly result?: unknown;
      readonly error?: { readonly code: number; readonly message: string };
    }
  | { readonly type: 'wallet_event'; readonly event: 'announced'; readonly wallets: readonly WalletInfo[] }
  | {
      readonly type: 'wallet_event';
      readonly event: 'accountsChanged' | 'chainChanged' | 'disconnect';
      readonly wallet: string;
      readonly data: unknown;
    }
  | { readonly type: 'close' };

export interface Envelope<Message> {
  readonly protocol: typeof WIDGET_PROTOCOL;
  readonly version: typeof WIDGET_PROTOCOL_VERSION;
  readonly message: Message;
}

export function envelope<Message extends FrameMessage | HostMessage>(message: Message): Envelope<Message> {
  return { protocol: WIDGET_PROTOCOL, version: WIDGET_PROTOCOL_VERSION, message };
}

type TypeOf<Message extends { readonly type: string }> = Message['type'];

/** The message of an envelope of this vocabulary and version, or undefined: whatever else arrives is not for us. */
function messageIn<Message extends { readonly type: string }>(
  data: unknown,
  kinds: Readonly<Record<TypeOf<Message>, Readonly<Record<string, string>>>>,
): Message | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const { protocol, version, message } = data as Partial<Envelope<Record<string, unknown>>>;
  if (protocol !== WIDGET_PROTOCOL || version !== WIDGET_PROTOCOL_VERSION) return undefined;
  if (typeof message !== 'object' || message === null || typeof message.type !== 'string') return undefined;
  const fields = Object.hasOwn(kinds, message.type) ? kinds[message.type as TypeOf<Message>] : undefined;
  if (fields === undefined) return undefined;
  const fits = Object.entries(fields).every(([name, kind]) =>
    kind === 'array' ? Array.isArray(message[name]) : typeof message[name] === kind && message[name] !== null,
  );
  return fits ? (message as unknown as Message) : undefined;
}

const FRAME_KINDS: Readonly<Record<FrameMessage['type'], Readonly<Record<string, string>>>> = {
  hello: { channel: 'string' },
  ready: {},
  resize: { height: 'number' },
  step: { step: 'string' },
  trade_started: { orderId: 'string', side: 'string' },
  trade_completed: { orderId: 'string', side: 'string' },
  wallet_request: { id: 'string', wallet: 'string', method: 'string', params: 'array' },
  close_request: {},
  error: { code: 'string', message: 'string' },
};

const HOST_KINDS: Readonly<Record<HostMessage['type'], Readonly<Record<string, string>>>> = {
  init: { channel: 'string', settings: 'object', wallets: 'array' },
  update: { settings: 'object' },
  wallet_response: { id: 'string' },
  wallet_event: { event: 'string' },
  close: {},
};

export const frameMessageIn = (data: unknown) => messageIn<FrameMessage>(data, FRAME_KINDS);
export const hostMessageIn = (data: unknown) => messageIn<HostMessage>(data, HOST_KINDS);

export function isWalletMethod(method: string): method is WalletMethod {
  return (WALLET_METHODS as readonly string[]).includes(method);
}
