import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { labelOf } from '../account/rail-words.ts';
import { host } from '../host/host.ts';
import { clockTime, dateTime } from '../i18n/format.ts';
import { t } from '../i18n/i18n.ts';
import { countdown, durationText, useServerNow } from '../order/clock.ts';
import { act, useOrderTask } from '../order/order-actions.ts';
import { nowText, safeLink, transactionLink } from '../order/progress.ts';
import type { Order } from '../session/api.ts';
import { serverNow } from '../session/clock.ts';
import { api, session, startOver } from '../session/store.ts';
import { Button, CopyField, Problem } from '../ui/kit.tsx';

/** What several phases of an order are made of. */

export interface PhaseProps {
  readonly order: Order;
}

/** What cannot be taken back is asked twice; the question says what it means. */
export function ConfirmAction({
  label,
  question,
  sure,
  testId,
  kind = 'primary',
  onSure,
}: {
  readonly label: string;
  readonly question: ComponentChildren;
  readonly sure: string;
  readonly testId: string;
  readonly kind?: 'primary' | 'secondary' | 'link';
  readonly onSure: () => Promise<void>;
}) {
  const [isAsking, setAsking] = useState(false);
  const { busy, error, once } = useOrderTask();
  const panel = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLDivElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    if (isAsking) panel.current?.focus();
  }, [isAsking]);
  const goBack = () => {
    setAsking(false);
    queueMicrotask(() => opener.current?.querySelector('button')?.focus());
  };
  return (
    <div class="stack tight" ref={opener}>
      {isAsking ? (
        // biome-ignore lint/a11y/useSemanticElements: a group of two answers, not of form fields
        <div
          class="panel well stack tight"
          role="group"
          tabIndex={-1}
          ref={panel}
          aria-labelledby={id}
          onKeyDown={(event) => (event.key === 'Escape' ? goBack() : undefined)}
        >
          <div id={id}>{question}</div>
          <Button busy={busy} testId={`${testId}-yes`} onClick={() => once(onSure)}>
            {sure}
          </Button>
          <Button kind="secondary" disabled={busy} testId={`${testId}-no`} onClick={goBack}>
            {t('order.ask_back')}
          </Button>
        </div>
      ) : (
        <Button kind={kind} testId={testId} onClick={() => setAsking(true)}>
          {label}
        </Button>
      )}
      <Problem error={error} />
    </div>
  );
}

export function CancelOrder({ order }: PhaseProps) {
  if (!order.allowed_actions.includes('cancel')) return null;
  return (
    <ConfirmAction
      kind="link"
      label={t('order.cancel')}
      question={<p>{t(`order.cancel_text_${order.side}`)}</p>}
      sure={t('order.cancel_confirm')}
      testId="cancel-order"
      onSure={() => act(order.order_id, () => api().cancel(order.order_id))}
    />
  );
}

/** What is waited for, and how long that takes as a rule. */
export function Waiting({ order }: PhaseProps) {
  const now = useServerNow(5_000);
  const { expected_seconds: expected, updated_at } = order;
  const isLate = expected !== null && now - Date.parse(updated_at) > 2_000 * expected + 60_000;
  return (
    <div class="stack tight">
      <p>{nowText(order)}</p>
      {expected === null ? null : (
        <p class="hint" data-testid="expected">
          {isLate ? t('order.expected_late') : t('order.expected', { duration: durationText(expected) })}
        </p>
      )}
    </div>
  );
}

/** When the order stops by itself, and a clock that runs by the service’s time. A screen reader hears the time once. */
export function Deadline({ at, isYours }: { readonly at: string | null; readonly isYours: boolean }) {
  const now = useServerNow();
  if (at === null) return null;
  const left = Date.parse(at) - now;
  const time = whenText(at);
  if (!isYours) return left > 0 ? <p class="hint">{t('order.time_up', { time })}</p> : null;
  return (
    <p class="row between" data-testid="deadline">
      <span>{left > 0 ? t('order.deadline', { time }) : t('order.deadline_passed', { time })}</span>
      {left > 0 ? (
        <strong class="figures" aria-hidden="true">
          {t('order.remaining', { time: countdown(left) })}
        </strong>
      ) : null}
    </p>
  );
}

/** The time of day where it is soon, else the day too. */
function whenText(at: string): string {
  return Math.abs(Date.parse(at) - serverNow()) < 12 * 3_600_000 ? clockTime(at) : dateTime(at);
}

/** Field by field as the rail names them, each with a button that copies it. */
export function Instructions({ order }: PhaseProps) {
  const { payment_instructions: instructions, pay_amount, pay_currency } = order;
  if (instructions === null) return null;
  return (
    <div class="panel">
      <CopyField
        label={t('phase.pay.amount', { currency: pay_currency })}
        value={pay_amount}
        testId="instruction-amount"
      />
      {instructions.map(({ field, label, value }) => (
        <CopyField key={field} label={labelOf({ label })} value={value} testId={`instruction-${field}`} />
      ))}
    </div>
  );
}

export function TransactionLink({ hash }: { readonly hash: string | null }) {
  const link = transactionLink(session.value?.chain.explorer_url, hash);
  if (hash === null) return null;
  if (link === null) {
    return (
      <bdi class="mono" data-testid="tx-link">
        {hash}
      </bdi>
    );
  }
  return (
    <a href={link.href} target="_blank" rel="noreferrer" data-testid="tx-link">
      <bdi class="mono">{hash}</bdi>
    </a>
  );
}

/** The way on from an order that has ended: another one, or back to where the customer came from. */
export function AfterTheEnd({ retry = null }: { readonly retry?: ComponentChildren }) {
  const shop = safeLink(session.value?.start.redirect_url);
  const kind = retry === null ? 'primary' : 'secondary';
  return (
    <div class="actions">
      {retry}
      {shop === null ? null : (
        <a
          class={`button ${kind}`}
          href={shop.href}
          rel="noreferrer"
          data-testid="back-to-shop"
          onClick={(event) => {
            // A frame may neither go there itself nor take the page around it there.
            event.preventDefault();
            host().leave(shop.href);
          }}
        >
          {t('order.back_to', { host: shop.host })}
        </a>
      )}
      <Button kind={shop === null ? kind : 'secondary'} testId="new-order" onClick={startOver}>
        {t('order.new')}
      </Button>
    </div>
  );
}
