import { t } from '../i18n/i18n.ts';
import { receiveText } from '../order/amounts.ts';
import { act, tryAgain } from '../order/order-actions.ts';
import { failureText } from '../order/progress.ts';
import type { Order } from '../session/api.ts';
import { api } from '../session/store.ts';
import { Button, Facts, Notice } from '../ui/kit.tsx';
import {
  AfterTheEnd,
  CancelOrder,
  ConfirmAction,
  Deadline,
  Instructions,
  type PhaseProps,
  TransactionLink,
  Waiting,
} from './order-sections.tsx';

/** Phases in which the customer waits, answers a question, or reads how it ended. */

export function MatchPhase({ order }: PhaseProps) {
  return (
    <>
      <Waiting order={order} />
      <Deadline at={order.expires_at} isYours={false} />
      <CancelOrder order={order} />
    </>
  );
}

export function SettlePhase({ order }: PhaseProps) {
  return (
    <>
      <Waiting order={order} />
      {order.payment_instructions === null ? null : (
        <details>
          <summary>{t('phase.stopped.where_asked')}</summary>
          <Instructions order={order} />
        </details>
      )}
      <CancelOrder order={order} />
    </>
  );
}

export function ConfirmPhase({ order }: PhaseProps) {
  const amount = receiveText(order);
  return (
    <>
      <p>{t('phase.confirm.text', { amount })}</p>
      {order.payout_account === null ? null : (
        <Facts rows={[[t('phase.confirm.account'), <bdi key="account">{order.payout_account}</bdi>]]} />
      )}
      <Notice kind="warning">
        <p>{t('phase.confirm.warning')}</p>
      </Notice>
      <ConfirmAction
        label={t('phase.confirm.button')}
        question={<p>{t('phase.confirm.warning')}</p>}
        sure={t('phase.confirm.sure', { amount })}
        testId="confirm-received"
        onSure={() => act(order.order_id, () => api().confirmFiatReceived(order.order_id))}
      />
      <p class="hint">{t('phase.confirm.missing')}</p>
    </>
  );
}

export function DisputedPhase(_: PhaseProps) {
  return (
    <Notice kind="warning">
      <p>{t('phase.disputed.text')}</p>
      <p>{t('phase.disputed.wait')}</p>
    </Notice>
  );
}

/** What became of the customer’s money when the order stopped. */
type Owed = 'refunded' | 'refunding' | 'held' | 'paid_already' | 'no_money' | 'no_crypto';

export function owedAfterStop(order: Order): Owed {
  if (order.refund_tx_hash !== null) return 'refunded';
  // The service expects something only while a refund is on its way.
  if (order.expected_seconds !== null) return 'refunding';
  if (order.hold !== null) return 'held';
  if (order.side === 'offramp') return 'no_crypto';
  return order.payment_instructions === null && !order.payment_request ? 'no_money' : 'paid_already';
}

const CALM: readonly Owed[] = ['refunded', 'no_money', 'no_crypto'];

export function StoppedPhase({ order }: PhaseProps) {
  const owed = owedAfterStop(order);
  return (
    <>
      <Notice kind={CALM.includes(owed) ? 'info' : 'warning'} testId="stopped">
        {order.failure === null ? null : <p>{failureText(order.failure)}</p>}
        <p data-owed={owed}>{t(`phase.stopped.${owed}`)}</p>
        {owed === 'refunded' ? <TransactionLink hash={order.refund_tx_hash} /> : null}
      </Notice>
      {order.payment_instructions === null ? null : (
        <details>
          <summary>{t('phase.stopped.where_asked')}</summary>
          <Instructions order={order} />
        </details>
      )}
      <AfterTheEnd
        retry={
          order.failure?.retryable === true ? (
            <Button testId="retry-order" onClick={() => tryAgain(order)}>
              {t('order.retry')}
            </Button>
          ) : null
        }
      />
    </>
  );
}
