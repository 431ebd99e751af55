import { useEffect, useState } from 'preact/hooks';
import { amountText } from '../buy/price-panel.tsx';
import { dateTime } from '../i18n/format.ts';
import { t, tIfKnown } from '../i18n/i18n.ts';
import type { Session } from '../session/api.ts';
import { api, change, draft, order, refreshSession, session, startOver } from '../session/store.ts';
import { Button, Heading, Problem, Spinner, useTask } from '../ui/kit.tsx';

type Summary = Session['orders'][number];

/** What the customer has ordered here, on this device or another one; those that still want something come first. */
export function OrdersScreen() {
  const refreshing = useTask();
  const leaving = useTask();
  // What the session knew of its orders may be long over.
  const [isAsked, setAsked] = useState(false);
  useEffect(() => void refreshing.run(refreshSession).finally(() => setAsked(true)), []);
  const { customer, orders = [] } = session.value ?? {};
  const open = orders.filter((one) => one.is_open);
  const earlier = orders.filter((one) => !one.is_open);
  const signOut = () =>
    leaving.run(async () => {
      session.value = await api().signOut();
      startOver();
      change({ walletAddress: session.value.start.wallet_address ?? '' });
    });
  return (
    <div class="screen">
      <Heading>{t('orders.title')}</Heading>
      <Problem error={refreshing.error ?? leaving.error} />
      {isAsked ? (
        <>
          {orders.length === 0 ? <p data-testid="no-orders">{t('orders.empty')}</p> : null}
          <OrderList title={t('orders.open_ones')} orders={open} />
          <OrderList title={t('orders.earlier')} orders={earlier} />
        </>
      ) : (
        <div class="loading" role="status">
          <Spinner />
          <span>{t('loading')}</span>
        </div>
      )}
      <div class="actions">
        {draft.value.isAmountDone ? (
          <Button kind="secondary" testId="resume-draft" onClick={() => change({ showsOrders: false })}>
            {t('orders.resume')}
          </Button>
        ) : null}
        <Button
          kind={isAsked && open.length === 0 ? 'primary' : 'secondary'}
          testId="new-order"
          onClick={startOver}
        >
          {t('orders.new')}
        </Button>
      </div>
      {customer ? (
        <div class="row between">
          <p class="hint">{t('orders.signed_in', { email: customer.email })}</p>
          <Button kind="link" busy={leaving.busy} testId="sign-out" onClick={signOut}>
            {t('orders.not_you')}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

function OrderList({ title, orders }: { readonly title: string; readonly orders: readonly Summary[] }) {
  if (orders.length === 0) return null;
  return (
    <section class="stack tight">
      <h2>{title}</h2>
      <ul class="choices">
        {orders.map((one) => (
          <li key={one.order_id}>
            <OrderLine order={one} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function show(orderId: string): void {
  order.value = null;
  change({ orderId, showsOrders: false });
}

function OrderLine({ order: one }: { readonly order: Summary }) {
  const fiat = amountText(one.fiat_amount, one.fiat_currency);
  return (
    <button
      type="button"
      class="choice"
      data-testid="order-line"
      data-order-id={one.order_id}
      onClick={() => show(one.order_id)}
    >
      <span>
        <strong>{t(`orders.side.${one.side}`, { crypto: one.crypto_currency })}</strong>
        <span class="hint">{`${fiat} · ${dateTime(one.created_at)}`}</span>
        <span class={`badge ${one.is_open ? 'info' : 'quiet'}`}>
          {tIfKnown(`status.${one.status}`) ?? tIfKnown('status.unknown') ?? one.status}
        </span>
      </span>
      <span class="end button-like">{t(one.is_open ? 'orders.continue' : 'orders.view')}</span>
    </button>
  );
}
