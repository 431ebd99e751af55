import type { WidgetSettings } from '@causeway/protocol/widget';
import { render } from 'preact';
import { App } from './app.tsx';
import { connectFrame, reportHeight } from './host/frame-host.ts';
import { type Host, setHost } from './host/host.ts';
import { connectPage } from './host/page-host.ts';
import { chooseLocale, setLocale } from './i18n/i18n.ts';
import { ApiError } from './session/api.ts';
import { type Asked, askedByPage, askedOf, changedSettings, whoOf } from './session/asked.ts';
import { followBrowserBack } from './session/journey.ts';
import {
  change,
  failure,
  follow,
  isStillStored,
  type Opening,
  open,
  session,
  step,
} from './session/store.ts';
import { applyTheme } from './ui/theme.ts';

/** What the service wrote into the page: nothing that is secret and nothing that is personal. */
interface PageData {
  readonly kind: 'frame' | 'page';
  readonly widgetKey: string | null;
  readonly sessionId: string | null;
  /** Who may embed the frame, as in the policy of the page. */
  readonly origins: readonly string[];
}

async function start(): Promise<void> {
  const data = JSON.parse(document.getElementById('causeway')?.textContent ?? '{}') as PageData;
  // Opened by itself, the frame’s address is a page like the other.
  const isFramed = data.kind === 'frame' && window.parent !== window;
  const host = isFramed ? await connectFrame(data.origins) : connectPage();
  setHost(host);
  let settings: WidgetSettings = {};
  let opened: WidgetSettings | null = null;
  host.onSettings((given) => {
    const changed = changedSettings(settings, given);
    settings = given;
    // Another customer begins anew, with nothing of the one before in memory.
    if (opened !== null && data.sessionId === null && opened.userReference !== given.userReference)
      return location.reload();
    if ('theme' in changed) applyTheme(given.theme);
    if (changed.locale !== undefined) void setLocale(chooseLocale([changed.locale]));
    followPage(changed, given);
  });
  await setLocale(
    chooseLocale([...(settings.locale === undefined ? [] : [settings.locale]), ...navigator.languages]),
  );
  const root = document.getElementById('widget');
  if (root === null) throw new Error('the page has no place for the widget');
  render(<App />, root);
  if (isFramed) reportHeight(root, host);
  // The browser may bring back a page of this tab that was another customer’s.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && !isStillStored()) location.reload();
  });
  try {
    const how = openingOf(data);
    opened = settings;
    const asks = isFramed ? await askedOf(opened) : await askedByPage(opened, history);
    if (!isFramed) watchAddress(asks);
    await openWith(how, opened, asks, host);
    if (how.by === 'session') forgetCode();
    // What the page has changed while the session was begun.
    followPage(changedSettings(opened, settings), settings);
    if (!isFramed) followBrowserBack();
    const { start: begun } = session.value ?? {};
    if (begun?.color_scheme !== undefined) {
      applyTheme({ ...settings.theme, mode: begun.color_scheme });
    }
    if (begun?.locale !== undefined && settings.locale === undefined) await setLocale(begun.locale);
    host.send({ type: 'ready' });
  } catch (error) {
    const code = error instanceof ApiError ? error.code : 'INTERNAL_ERROR';
    const message = error instanceof Error ? error.message : String(error);
    failure.value = new ApiError(
      'UNAVAILABLE',
      message,
      0,
      { code },
      error instanceof ApiError ? error.requestId : null,
    );
    host.send({ type: 'error', code, message });
  }
}

/** What the page asked for may be none that the service takes: the page is told, and the customer begins with nothing chosen. */
async function openWith(how: Opening, settings: WidgetSettings, asks: Asked, host: Host): Promise<void> {
  try {
    await open(how, inputOf(settings), asks);
  } catch (error) {
    const isRefused = error instanceof ApiError && (error.status === 400 || error.status === 422);
    if (how.by !== 'key' || !isRefused) throw error;
    host.send({ type: 'error', code: error.code, message: error.message });
    const { userReference, locale } = settings;
    await open(
      how,
      inputOf({
        ...(userReference === undefined ? {} : { userReference }),
        ...(locale === undefined ? {} : { locale }),
      }),
      asks,
    );
  }
}

/** A link that differs in its fragment only does not load the page again by itself, and neither does the way back from it. */
function watchAddress({ who }: Asked): void {
  const check = () => {
    if (location.hash !== '' || whoOf(history) !== who) location.reload();
  };
  addEventListener('hashchange', check);
  addEventListener('popstate', check);
}

/** What the page changes later reaches a customer who is still choosing; one who has gone on is left alone. */
function followPage({ theme, locale, ...changed }: WidgetSettings, settings: WidgetSettings): void {
  const { side, fiatCurrency, cryptoCurrency, amount, country, wallet } = changed;
  if (session.value === null || session.value.locked || step.value !== 'amount') return;
  if (Object.keys(changed).length === 0) return;
  change({
    ...(side === undefined ? {} : { side }),
    ...(fiatCurrency === undefined ? {} : { fiatCurrency }),
    ...(cryptoCurrency === undefined ? {} : { cryptoCurrency }),
    ...(amount === undefined ? {} : { anchor: 'fiat' as const, amount }),
    ...(country === undefined ? {} : { country }),
    ...(wallet === undefined ? {} : { walletAddress: wallet }),
  });
  void askedOf(settings).then(follow);
}

function openingOf({ widgetKey, sessionId }: PageData): Opening {
  // The code of a server’s session is in the fragment, which reaches no server and no log.
  if (sessionId !== null) return { by: 'session', sessionId, code: location.hash.slice(1) };
  return { by: 'key', widgetKey: widgetKey ?? '' };
}

/** Once the session is open, and not before: a page that is loaded again until then opens it with the same code. */
function forgetCode(): void {
  history.replaceState(history.state, '', location.pathname + location.search);
}

function inputOf({
  side,
  fiatCurrency,
  cryptoCurrency,
  amount,
  country,
  wallet,
  userReference,
  locale,
}: WidgetSettings) {
  return {
    ...(side === undefined ? {} : { side }),
    ...(fiatCurrency === undefined ? {} : { fiat_currency: fiatCurrency }),
    ...(cryptoCurrency === undefined ? {} : { crypto_currency: cryptoCurrency }),
    ...(amount === undefined ? {} : { fiat_amount: amount }),
    ...(country === undefined ? {} : { country_code: country }),
    ...(wallet === undefined ? {} : { wallet_address: wallet }),
    ...(userReference === undefined ? {} : { reference_id: userReference }),
    ...(locale === undefined ? {} : { locale: chooseLocale([locale]) }),
  };
}

void start();
