import type { WidgetLocale } from '@causeway/protocol';
import { computed, signal } from '@preact/signals';
import { formatMessage, isRightToLeft, type Message, type Values } from './message.ts';
import en from './messages/en/index.ts';

/** Every key of the English files; the other languages have the same ones or the build fails. */
export type MessageKey = keyof typeof en;
/** The files hold ICU text; what arrives here is their compiled form (message-catalogue.ts). */
type Loaded = Readonly<Record<MessageKey, unknown>>;

/** English comes with the application: it is there when the file of another language cannot be fetched. */
const LOADERS: Readonly<Record<WidgetLocale, () => Promise<Loaded>>> = {
  en: async () => en,
  fr: () => import('./messages/fr/index.ts').then((file) => file.default),
  es: () => import('./messages/es/index.ts').then((file) => file.default),
  pt: () => import('./messages/pt/index.ts').then((file) => file.default),
  ar: () => import('./messages/ar/index.ts').then((file) => file.default),
  hi: () => import('./messages/hi/index.ts').then((file) => file.default),
  zh: () => import('./messages/zh/index.ts').then((file) => file.default),
  sw: () => import('./messages/sw/index.ts').then((file) => file.default),
};

/** Languages by their own names, for the picker. */
export const LOCALES: Readonly<Record<WidgetLocale, string>> = {
  en: 'English',
  fr: 'Français',
  es: 'Español',
  pt: 'Português',
  ar: 'العربية',
  hi: 'हिन्दी',
  zh: '中文',
  sw: 'Kiswahili',
};

export const locale = signal<WidgetLocale>('en');
export const direction = computed(() => (isRightToLeft(locale.value) ? 'rtl' : 'ltr'));
const messages = signal<Loaded>(en);
let wanted: WidgetLocale = 'en';

/** The first of these that we speak, by language alone; English otherwise. */
export function chooseLocale(tags: readonly string[]): WidgetLocale {
  const known = Object.keys(LOCALES) as WidgetLocale[];
  for (const tag of tags) {
    const language = tag.toLowerCase().split(/[-_]/)[0];
    const found = known.find((one) => one === language);
    if (found !== undefined) return found;
  }
  return 'en';
}

/** Of several choices in a row the last one counts, whichever file arrives first. A language that cannot be fetched changes nothing. */
export async function setLocale(chosen: WidgetLocale): Promise<void> {
  wanted = chosen;
  try {
    const loaded = await LOADERS[chosen]();
    if (wanted !== chosen) return;
    messages.value = loaded;
    locale.value = chosen;
  } catch {
    // The words stay as they are; the picker shows the language that is spoken.
    if (wanted === chosen) wanted = locale.value;
  }
}

/** A message in the customer’s language. Amounts are formatted before (format.ts) and given as text. */
export function t(key: MessageKey, values: Values = {}): string {
  return formatMessage(messages.value[key] as Message, values, locale.value);
}

/** For words that the service chooses: a status, a code. Undefined where there is no message of its own. */
export function tIfKnown(key: string, values: Values = {}): string | undefined {
  return Object.hasOwn(en, key) ? t(key as MessageKey, values) : undefined;
}
