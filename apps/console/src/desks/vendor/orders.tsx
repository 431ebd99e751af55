import type { ListVendorOrdersQuery, VendorOrder } from '@causeway/sdk';
import { Group, Text } from '@mantine/core';
import { api } from '../../api/client.ts';
import { List } from '../../ui/list.tsx';
import { Live } from '../../ui/live.tsx';
import { useGo } from '../../ui/navigation.tsx';
import { Empty, PageHead } from '../../ui/states.tsx';
import { Id, Money, Status, Time } from '../../ui/values.tsx';
import { Countdown } from './countdown.tsx';
import { useVendorEvents, VENDOR_ORDERS_KEY } from './live.ts';
import { isOwnStep, nextStepOf, stepWords } from './next-step.ts';
import { OnlineSwitch } from './online-switch.tsx';

/** For as long as there is no stream. */
const LOOK_AGAIN_MS = 30_000;

export default function VendorOrders() {
  const go = useGo();
  const live = useVendorEvents();
  return (
    <>
      <PageHead
        title="Orders"
        about="Offered to you or served by you, newest first. New ones appear by themselves."
      >
        <Live state={live} />
        <OnlineSwitch />
      </PageHead>
      <List<VendorOrder>
        id="orders"
        queryKey={VENDOR_ORDERS_KEY}
        refetchMs={LOOK_AGAIN_MS}
        filters={[{ name: 'direction', label: 'Direction', kind: 'one', options: ['onramp', 'offramp'] }]}
        load={async ({ filters, limit, offset }, signal) => {
          const query = { ...filters, limit, offset } as ListVendorOrdersQuery;
          const page = await api.vendor.orders.list(query, { signal });
          return { rows: page.orders, total: page.pagination.total };
        }}
        rowKey={(order) => order.order_id}
        onOpen={(order) => go(`/vendor/orders/${order.order_id}`)}
        columns={[
          {
            title: 'Order',
            cell: ({ order_id }) => <Id value={order_id} to={`/vendor/orders/${order_id}`} name="order id" />,
          },
          { title: 'You', cell: ({ direction }) => (direction === 'onramp' ? 'Sell' : 'Buy') },
          {
            title: 'Crypto',
            end: true,
            cell: ({ crypto_amount, crypto_currency }) => (
              <Money amount={crypto_amount} currency={crypto_currency} />
            ),
          },
          {
            title: 'Fiat',
            end: true,
            cell: ({ fiat_amount, fiat_currency }) => <Money amount={fiat_amount} currency={fiat_currency} />,
          },
          {
            title: 'Status',
            cell: ({ status }) => (
              <div style={{ minWidth: 'max-content' }}>
                <Status value={status} />
              </div>
            ),
          },
          { title: 'Next', cell: (order) => <Next order={order} /> },
          {
            title: 'Time left',
            end: true,
            cell: ({ respond_by, deadline_at }) => <Countdown until={respond_by ?? deadline_at} />,
          },
          { title: 'Offered', cell: ({ offered_at }) => <Time at={offered_at} age /> },
        ]}
        empty={
          <Empty title="No orders yet">
            Orders come when you are online and the operator has authorized an offer of yours.
          </Empty>
        }
      />
    </>
  );
}

function Next({ order }: { readonly order: VendorOrder }) {
  const step = nextStepOf(order);
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="sm" fw={isOwnStep(step) ? 600 : 400} c={isOwnStep(step) ? undefined : 'dimmed'}>
        {stepWords(step)}
      </Text>
    </Group>
  );
}
