import { Component, type ComponentChildren, type ComponentType } from 'preact';
import { lazy, Suspense } from 'preact/compat';
import { useEffect } from 'preact/hooks';
import { host } from './host/host.ts';
import { direction, locale, t } from './i18n/i18n.ts';
import { AmountScreen } from './screens/amount.tsx';
import { IdentifyScreen } from './screens/identify.tsx';
import type { Step } from './session/steps.ts';
import { session, step } from './session/store.ts';
import { Footer, Header, OfflineNotice, Progress } from './ui/frame.tsx';
import { Button, Heading, Problem, Spinner } from './ui/kit.tsx';

/** The first two screens come with the application; the others are fetched while the second one is filled in. */
const FILES = {
  unavailable: () => import('./screens/unavailable.tsx').then((file) => file.UnavailableScreen),
  orders: () => import('./screens/orders.tsx').then((file) => file.OrdersScreen),
  verify: () => import('./screens/verify.tsx').then((file) => file.VerifyScreen),
  destination: () => import('./screens/destination.tsx').then((file) => file.DestinationScreen),
  review: () => import('./screens/review.tsx').then((file) => file.ReviewScreen),
  order: () => import('./screens/order.tsx').then((file) => file.OrderScreen),
} satisfies Partial<Record<Step, () => Promise<ComponentType>>>;

const later = (load: () => Promise<ComponentType>) =>
  lazy(() => load().then((screen) => ({ default: screen })));

/** One that fails is fetched again when it is shown, and then says so. */
function fetchAhead(): void {
  for (const load of Object.values(FILES)) load().catch(() => undefined);
}

const SCREENS: Readonly<Record<Step, ComponentType>> = {
  loading: Loading,
  amount: AmountScreen,
  identify: IdentifyScreen,
  unavailable: later(FILES.unavailable),
  orders: later(FILES.orders),
  verify: later(FILES.verify),
  destination: later(FILES.destination),
  review: later(FILES.review),
  order: later(FILES.order),
};

export function App() {
  const shown = step.value;
  const Screen = SCREENS[shown];
  useEffect(() => {
    host().send({ type: 'step', step: shown });
    if (shown === 'identify') fetchAhead();
  }, [shown]);
  useEffect(() => {
    document.documentElement.lang = locale.value;
    document.documentElement.dir = direction.value;
  }, [locale.value, direction.value]);
  return (
    <div class="widget" data-step={shown}>
      <Header />
      <OfflineNotice />
      <Progress />
      <main aria-busy={session.value === null}>
        <ErrorBoundary key={shown}>
          <Suspense fallback={<Loading />}>
            <Screen />
          </Suspense>
        </ErrorBoundary>
      </main>
      <Footer />
    </div>
  );
}

/** A screen that fails, or whose file cannot be fetched, is never a blank page. */
class ErrorBoundary extends Component<{ readonly children: ComponentChildren }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override componentDidCatch(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    host().send({ type: 'error', code: 'INTERNAL_ERROR', message });
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div class="screen">
        <Heading>{t('buy.broken.title')}</Heading>
        <Problem error={error} />
        <p>{t('buy.broken.text')}</p>
        <Button testId="try-again" onClick={() => location.reload()}>
          {t('buy.retry')}
        </Button>
      </div>
    );
  }
}

function Loading() {
  return (
    <div class="loading" role="status">
      <Spinner />
      <span>{t('loading')}</span>
    </div>
  );
}
