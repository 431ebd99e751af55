import type { OrderPhase } from '@causeway/protocol';
import type { ComponentType } from 'preact';
import { lazy, Suspense } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import { clockTime, dateTime } from '../i18n/format.ts';
import { t, tIfKnown } from '../i18n/i18n.ts';
import { payText, receiveText } from '../order/amounts.ts';
import { ask } from '../order/order-actions.ts';
import { usePolling } from '../order/polling.ts';
import { holdText, isolated, knownPhase, statusText, stepsAhead } from '../order/progress.ts';
import { ApiError, type Order } from '../session/api.ts';
import { api, change, order as current, draft, recover, session } from '../session/store.ts';
import { Button, CopyField, Facts, Heading, Notice, Problem, Spinner } from '../ui/kit.tsx';
import { ConfirmPhase, DisputedPhase, MatchPhase, SettlePhase, StoppedPhase } from './order-phases.tsx';
import type { PhaseProps } from './order-sections.tsx';

/** A part of the screen that is fetched when it is first needed; a connection that was lost for a moment is tried again. */
const later = (load: () => Promise<ComponentType<PhaseProps>>) =>
  lazy(async () => {
    const part = await load().catch(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      return load();
    });
    return { default: part };
  });

/** What each phase shows. The service says which phase it is. */
export const PHASES: Readonly<Record<OrderPhase, ComponentType<PhaseProps>>> = {
  match: MatchPhase,
  pay: later(() => import('./order-pay.tsx').then((file) => file.PayPhase)),
  sign: later(() => import('./order-sign.tsx').then((file) => file.SignTransferPhase)),
  settle: SettlePhase,
  confirm: ConfirmPhase,
  refund: later(() => import('./order-sign.tsx').then((file) => file.SignRefundPhase)),
  release: later(() => import('./order-sign.tsx').then((file) => file.SignReleasePhase)),
  completed: later(() => import('./order-receipt.tsx').then((file) => file.CompletedPhase)),
  stopped: StoppedPhase,
  disputed: DisputedPhase,
};

export function OrderScreen() {
  const { orderId } = draft.value;
  const order = current.value?.order_id === orderId ? current.value : null;
  const [error, setError] = useState<unknown>(null);
  usePolling({
    orderId,
    read: async (id, signal) => (await ask(() => api().order(id, signal))).given,
    onOrder: () => setError(null),
    onError(thrown) {
      recover(thrown).then(
        (isRecovered) => setError(isRecovered ? null : thrown),
        (again: unknown) => setError(again),
      );
    },
  });
  if (order === null) return <NotThere error={error} />;
  const phase = knownPhase(order);
  const Phase = phase === undefined ? SettlePhase : PHASES[phase];
  return (
    <div
      class="screen order"
      data-testid="order"
      data-phase={order.phase}
      data-status={order.status}
      data-order-id={order.order_id}
    >
      <Heading key={order.phase}>
        {phase === undefined ? t('phase.unknown.title') : title(order, phase)}
      </Heading>
      <Changes order={order} />
      <ConnectionLost order={order} error={error} />
      <Hold order={order} />
      <Suspense
        fallback={
          <div class="loading" role="status">
            <Spinner />
            <span>{t('loading')}</span>
          </div>
        }
      >
        <Phase key={order.phase} order={order} />
      </Suspense>
      <Summary order={order} />
      <Timeline order={order} />
      <p class="hint">
        {t('order.contact', { partner: session.value?.partner_name ?? '', id: isolated(order.order_id) })}
      </p>
    </div>
  );
}

function title(order: Order, phase: OrderPhase): string {
  return tIfKnown(`phase.${phase}.title`, { amount: payText(order) }) ?? statusText(order.status);
}

/** Said once when the order has moved on, and not when it is first shown: the heading is read then. */
function Changes({ order }: PhaseProps) {
  const [said, setSaid] = useState('');
  const before = useRef(order.status);
  useEffect(() => {
    if (before.current === order.status) return;
    before.current = order.status;
    setSaid(t('order.changed', { status: statusText(order.status) }));
  }, [order.status]);
  return (
    <p class="visually-hidden" aria-live="polite" data-testid="order-changes">
      {said}
    </p>
  );
}

function ConnectionLost({ order, error }: PhaseProps & { readonly error: unknown }) {
  if (error === null) return null;
  if (error instanceof ApiError && error.status !== 0 && error.status < 500) return <Problem error={error} />;
  return (
    <Notice kind="warning" testId="connection-lost">
      <p>{t('order.connection_lost', { time: clockTime(order.server_time) })}</p>
    </Notice>
  );
}

function Hold({ order }: PhaseProps) {
  if (order.hold === null) return null;
  return (
    <Notice kind="warning" testId="hold">
      <strong>{t('hold.title')}</strong>
      <p>{holdText(order.hold)}</p>
      <p>{t('hold.wait')}</p>
    </Notice>
  );
}

function Summary({ order }: PhaseProps) {
  return (
    <section class="panel" aria-label={t('order.id')} data-testid="order-summary">
      <Facts
        rows={[
          [t('order.summary_pay'), payText(order)],
          [t('order.summary_receive'), receiveText(order)],
        ]}
      />
      <CopyField label={t('order.id')} value={order.order_id} testId="order-id" />
    </section>
  );
}

/** What has happened, what is now and what comes next. */
function Timeline({ order }: PhaseProps) {
  const past = order.timeline.slice(0, -1);
  const now = order.timeline.at(-1);
  const ahead = stepsAhead(order);
  const isOver = ahead.length === 0;
  return (
    <section class="stack tight" aria-labelledby="order-progress">
      <h2 id="order-progress">{t('order.progress')}</h2>
      <ol class="timeline" data-testid="timeline">
        {past.map(({ status, at }) => (
          <li key={status + at} class="done">
            {statusText(status)}
            <time class="hint" dateTime={at}>
              {dateTime(at)}
            </time>
          </li>
        ))}
        {now === undefined ? null : (
          <li class={isOver ? 'done' : ''} aria-current="step">
            <strong>{statusText(now.status)}</strong>
            <time class="hint" dateTime={now.at}>
              {dateTime(now.at)}
            </time>
          </li>
        )}
        {ahead.map((step, index) => (
          <li key={step}>
            {step}
            {index === 0 ? <span class="hint">{t('order.next')}</span> : null}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Before the first answer, and where the order is not this customer’s. */
function NotThere({ error }: { readonly error: unknown }) {
  const isMissing = error instanceof ApiError && (error.status === 404 || error.status === 403);
  if (error === null)
    return (
      <div class="loading" role="status">
        <Spinner />
        <span>{t('loading')}</span>
      </div>
    );
  return (
    <div class="screen">
      <Heading>{t('phase.unknown.title')}</Heading>
      {isMissing ? (
        <Notice kind="warning" testId="problem">
          <p>{t('order.not_found')}</p>
        </Notice>
      ) : (
        <Problem error={error} />
      )}
      <Button testId="my-orders-instead" onClick={() => change({ orderId: '', showsOrders: true })}>
        {t('orders.open')}
      </Button>
    </div>
  );
}
