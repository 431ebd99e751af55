import { t } from '../i18n/i18n.ts';
import { payText } from '../order/amounts.ts';
import { useServerNow } from '../order/clock.ts';
import { act } from '../order/order-actions.ts';
import { type PaymentCode, paymentCode } from '../order/payment-qr.ts';
import type { Order } from '../session/api.ts';
import { api, session } from '../session/store.ts';
import { CopyField, Notice } from '../ui/kit.tsx';
import { QrCode } from '../ui/qr.tsx';
import { PayerDetails } from './order-payer.tsx';
import { CancelOrder, ConfirmAction, Deadline, Instructions, type PhaseProps } from './order-sections.tsx';

/** Where and how the customer pays. It stays as long as the order waits: money that comes late must find its way too. */
export function PayPhase({ order }: PhaseProps) {
  const now = useServerNow();
  const isLate = order.expires_at !== null && Date.parse(order.expires_at) <= now;
  if (order.hold !== null) return <HeldBeforePayment order={order} />;
  return (
    <>
      <Deadline at={order.expires_at} isYours />
      {isLate ? (
        <Notice kind="warning" testId="pay-late">
          <p>{t('phase.pay.late')}</p>
          <p>{t('phase.pay.late_paid')}</p>
        </Notice>
      ) : (
        <p>{t('phase.pay.locked')}</p>
      )}
      <HowToPay order={order} />
      <Paid order={order} />
      <CancelOrder order={order} />
      {isLate ? null : <p class="hint">{t('phase.pay.if_late')}</p>}
    </>
  );
}

/** The crypto is locked and a person looks at the order: who has not paid yet had better wait. */
function HeldBeforePayment({ order }: PhaseProps) {
  return (
    <>
      <p>{t('phase.pay.held')}</p>
      {order.payment_instructions === null ? null : (
        <details>
          <summary>{t('phase.stopped.where_asked')}</summary>
          <Instructions order={order} />
        </details>
      )}
      <Paid order={order} />
      <CancelOrder order={order} />
    </>
  );
}

function HowToPay({ order }: PhaseProps) {
  if (order.payment_request) return <PayerDetails order={order} />;
  if (order.fiat_funding_source === 'own_iban') return <OwnAccount order={order} />;
  const code = paymentCode(scanned(order));
  const hasReference = (order.payment_instructions ?? []).some(({ field }) => field === 'reference');
  return (
    <section class="stack tight" aria-labelledby="pay-where">
      <h2 id="pay-where">{t('phase.pay.where')}</h2>
      <Instructions order={order} />
      <p class="hint">{t('phase.pay.exact')}</p>
      {hasReference ? <p class="hint">{t('phase.pay.keep_reference')}</p> : null}
      {code === null ? null : <Code code={code} />}
    </section>
  );
}

function scanned({ pay_amount, pay_currency, payment_instructions }: Order) {
  const details = Object.fromEntries((payment_instructions ?? []).map(({ field, value }) => [field, value]));
  return { amount: pay_amount, currency: pay_currency, details };
}

function Code({ code: { kind, payload } }: { readonly code: PaymentCode }) {
  return (
    <figure class="panel stack tight" data-kind={kind}>
      <figcaption>{t(`phase.pay.qr_${kind}`)}</figcaption>
      <QrCode text={payload} label={t(`phase.pay.qr_${kind}`)} testId="qr" />
      <p class="hint">{t('phase.pay.qr_hint')}</p>
      {kind === 'upi' ? (
        <a class="button secondary" href={payload} data-testid="upi-open">
          {t('phase.pay.qr_upi_open')}
        </a>
      ) : null}
      {kind === 'pix' ? (
        <CopyField label={t('phase.pay.qr_pix_copy')} value={payload} testId="pix-code" />
      ) : null}
    </figure>
  );
}

/** Paid from an account of the customer’s own: the deposit is noticed without a word. */
function OwnAccount({ order }: PhaseProps) {
  return (
    <section class="stack tight" aria-labelledby="pay-where" data-testid="own-account">
      <h2 id="pay-where">{t('phase.pay.where')}</h2>
      <p>{t('phase.pay.own_account')}</p>
      {order.payment_instructions === null ? (
        <div class="panel">
          <CopyField
            label={t('phase.pay.amount', { currency: order.pay_currency })}
            value={order.pay_amount}
            testId="instruction-amount"
          />
          <p class="hint">
            {t('phase.pay.own_account_details', { partner: session.value?.partner_name ?? '' })}
          </p>
        </div>
      ) : (
        <Instructions order={order} />
      )}
    </section>
  );
}

function Paid({ order }: PhaseProps) {
  if (!order.allowed_actions.includes('confirm-payment-sent')) return null;
  return (
    <ConfirmAction
      label={t('phase.pay.paid')}
      question={<p>{t('phase.pay.paid_text')}</p>}
      sure={t('phase.pay.paid_sure', { amount: payText(order) })}
      testId="i-have-paid"
      onSure={() => act(order.order_id, () => api().confirmPaymentSent(order.order_id))}
    />
  );
}
