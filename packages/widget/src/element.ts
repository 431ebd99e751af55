import type { WidgetTheme } from '@causeway/protocol/widget';
import { mount, type WidgetHandle } from './mount.ts';
import type { MountOptions } from './options.ts';

/** Attribute by option. `theme` is a mode, or JSON with `mode` and `variables`. */
const ATTRIBUTES = {
  'widget-key': 'widgetKey',
  session: 'session',
  'base-url': 'baseUrl',
  side: 'side',
  'fiat-currency': 'fiatCurrency',
  'crypto-currency': 'cryptoCurrency',
  amount: 'amount',
  country: 'country',
  wallet: 'wallet',
  'user-reference': 'userReference',
  locale: 'locale',
  theme: 'theme',
  'full-screen-below': 'fullScreenBelow',
  'frame-title': 'title',
} as const;

const TAG = 'causeway-ramp';

// On a server there are no elements; importing this must not fail there.
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement;

/**
 * `<causeway-ramp widget-key="…" side="onramp">`: attributes may change at any time, and what happens comes as events
 * (`causeway:ready`, `causeway:tradestarted` …) whose `detail` is what the callbacks of `mount` get.
 */
export class CausewayRamp extends Base {
  static get observedAttributes(): string[] {
    return Object.keys(ATTRIBUTES);
  }

  #handle: WidgetHandle | undefined;
  #isWaiting = false;

  connectedCallback(): void {
    this.#refresh();
  }

  disconnectedCallback(): void {
    this.#handle?.destroy();
    this.#handle = undefined;
  }

  /** Moved by `moveBefore`, the frame stays as it is. */
  connectedMoveCallback(): void {}

  attributeChangedCallback(): void {
    this.#refresh();
  }

  /** Shows the widget again after the customer has closed it. */
  open(): void {
    this.#handle?.open();
  }

  close(): void {
    this.#handle?.close();
  }

  /** Attributes set one after the other are one change. */
  #refresh(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    queueMicrotask(() => {
      this.#isWaiting = false;
      if (this.isConnected) this.#apply();
    });
  }

  #apply(): void {
    const options = optionsOf(this);
    // It says who it is for first: a script may set that last.
    if (options.widgetKey === undefined && options.session === undefined) return;
    try {
      if (this.#handle === undefined) {
        if (!this.style.display) this.style.display = 'block';
        this.#handle = mount(this, options);
      } else this.#handle.update(options);
    } catch (error) {
      const detail = { code: 'INVALID_OPTIONS', message: error instanceof Error ? error.message : '' };
      this.dispatchEvent(new CustomEvent('causeway:error', { detail, bubbles: true, composed: true }));
      console.error(error);
    }
  }
}

function optionsOf(element: Element): MountOptions {
  const options: Record<string, unknown> = {};
  for (const [attribute, name] of Object.entries(ATTRIBUTES)) {
    const value = element.getAttribute(attribute) ?? undefined;
    options[name] = value === undefined ? undefined : read(name, value);
  }
  return options as MountOptions;
}

function read(name: string, value: string): unknown {
  if (name === 'fullScreenBelow') return Number(value) || 0;
  return name === 'theme' ? readTheme(value) : value;
}

function readTheme(value: string): WidgetTheme {
  if (!value.startsWith('{')) return { mode: value as NonNullable<WidgetTheme['mode']> };
  try {
    return JSON.parse(value) as WidgetTheme;
  } catch {
    return {};
  }
}

/** Makes `<causeway-ramp>` known; once is enough, and twice does no harm. */
export function defineElement(): void {
  const registry = globalThis.customElements;
  if (registry !== undefined && registry.get(TAG) === undefined) registry.define(TAG, CausewayRamp);
}
