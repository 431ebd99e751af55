import { useEffect, useState } from 'preact/hooks';
import { host } from '../host/host.ts';
import { LOCALES, locale, type MessageKey, setLocale, t } from '../i18n/i18n.ts';
import { goBack, isJourneyStep, JOURNEY, type JourneyStep } from '../session/journey.ts';
import { change, session, step } from '../session/store.ts';

/** Around every screen: whose it is, which language, the way to earlier orders and out. */
export function Header() {
  const current = session.value;
  return (
    <header class="top">
      <strong class="brand" dir="auto">
        {current?.partner_name ?? ''}
      </strong>
      {current?.sandbox === true ? <span class="badge">{t('sandbox')}</span> : null}
      <span class="spacer" />
      {current?.customer ? (
        <button
          type="button"
          class="button link"
          {...(step.value === 'orders' ? { 'aria-current': 'page' as const } : {})}
          data-testid="my-orders"
          onClick={() => change({ showsOrders: true, orderId: '' })}
        >
          {t('orders.open')}
        </button>
      ) : null}
      {host().kind === 'frame' ? (
        <button
          type="button"
          class="button link"
          aria-label={t('close')}
          data-testid="close"
          onClick={() => host().send({ type: 'close_request' })}
        >
          <span aria-hidden="true">✕</span>
        </button>
      ) : null}
    </header>
  );
}

const STEP_NAMES: Readonly<Record<JourneyStep, MessageKey>> = {
  amount: 'buy.step.amount',
  identify: 'buy.step.identify',
  verify: 'buy.step.verify',
  destination: 'buy.step.destination',
  review: 'buy.step.review',
};

export function Progress() {
  const shown = step.value;
  if (!isJourneyStep(shown)) return null;
  const current = JOURNEY.indexOf(shown);
  return (
    <nav class="steps" aria-label={t('buy.steps')}>
      <ol>
        {JOURNEY.map((name, index) => (
          <li
            key={name}
            class={index < current ? 'done' : ''}
            {...(index === current ? { 'aria-current': 'step' as const } : {})}
          >
            <span class="visually-hidden">{t(STEP_NAMES[name])}</span>
          </li>
        ))}
      </ol>
      <div class="row between">
        <p aria-hidden="true">
          {t('buy.step.of', { current: current + 1, total: JOURNEY.length, name: t(STEP_NAMES[shown]) })}
        </p>
        {current > 0 ? (
          <button type="button" class="button link" data-testid="back" onClick={() => goBack(shown)}>
            {t('buy.back')}
          </button>
        ) : null}
      </div>
    </nav>
  );
}

/** Said while the browser knows that there is no connection; what is on screen stays. */
export function OfflineNotice() {
  const [isOffline, setOffline] = useState(!navigator.onLine);
  useEffect(() => {
    const update = () => setOffline(!navigator.onLine);
    addEventListener('online', update);
    addEventListener('offline', update);
    return () => {
      removeEventListener('online', update);
      removeEventListener('offline', update);
    };
  }, []);
  return (
    <div role="status">
      {isOffline ? (
        <p class="offline" data-testid="offline">
          {t('buy.offline')}
        </p>
      ) : null}
    </div>
  );
}

export function Footer() {
  return (
    <footer class="bottom">
      <label>
        <span class="visually-hidden">{t('language')}</span>
        <select
          value={locale.value}
          data-testid="language"
          onChange={(event) => void setLocale(event.currentTarget.value as keyof typeof LOCALES)}
        >
          {Object.entries(LOCALES).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <span class="hint">{t('footer')}</span>
    </footer>
  );
}
