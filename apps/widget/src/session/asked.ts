import type { WidgetSettings } from '@causeway/protocol/widget';

/**
 * What the page asked for, as far as it can be told whether it asks for the same again. For whom is a digest: neither the
 * partner’s reference nor the wallet is kept for it.
 */
export interface Asked {
  readonly who: string;
  readonly what: string;
}

type Settings = Omit<WidgetSettings, 'theme' | 'locale'>;

/** The page says all of its settings at every update: what it has not changed itself, the customer may have. */
export function changedSettings(before: WidgetSettings, now: WidgetSettings): WidgetSettings {
  const names = Object.keys({ ...before, ...now }) as (keyof WidgetSettings)[];
  const isChanged = (name: keyof WidgetSettings) =>
    JSON.stringify(before[name]) !== JSON.stringify(now[name]);
  return Object.fromEntries(names.filter(isChanged).map((name) => [name, now[name]]));
}

export async function askedOf(settings: Settings, who?: string): Promise<Asked> {
  const { side, fiatCurrency, cryptoCurrency, amount, country } = settings;
  const what = JSON.stringify([side, fiatCurrency, cryptoCurrency, amount, country]);
  return { who: who ?? (await digest(settings)), what };
}

async function digest({ userReference, wallet }: Settings): Promise<string> {
  const text = JSON.stringify([userReference, wallet?.toLowerCase()]);
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return btoa(String.fromCharCode(...bytes));
}

/**
 * The hosted page takes what is personal out of its address, and so a reload no longer has it: the entry of the browser’s
 * history tells for whom it was opened. Another link is another entry, and tells nothing yet.
 */
export async function askedByPage(
  settings: Settings,
  history: Pick<History, 'state' | 'replaceState'>,
): Promise<Asked> {
  const isTold = settings.wallet !== undefined || settings.userReference !== undefined;
  const asked = await askedOf(settings, isTold ? undefined : whoOf(history));
  history.replaceState({ ...(history.state as object | null), who: asked.who }, '');
  return asked;
}

export function whoOf({ state }: Pick<History, 'state'>): string | undefined {
  const { who } = (state ?? {}) as { readonly who?: unknown };
  return typeof who === 'string' ? who : undefined;
}
