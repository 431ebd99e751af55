import { ORDER_STATUSES } from '@causeway/protocol/machines';
import type { ListOrdersQuery, Order } from '@causeway/sdk';
import { Anchor, Badge, Stack, Text } from '@mantine/core';
import { api } from '../../api/client.ts';
import { useLiveOrders } from '../../api/live.ts';
import { given, periodOf, textOf } from '../../ui/filters.ts';
import { List } from '../../ui/list.tsx';
import { Live } from '../../ui/live.tsx';
import { Link, useGo } from '../../ui/navigation.tsx';
import { listOfSearch, type Search } from '../../ui/search.ts';
import { Empty, PageHead } from '../../ui/states.tsx';
import { Id, Money, Status, Time } from '../../ui/values.tsx';
import { ACTION_WORDS, ORDER_TYPE_WORDS } from './order-words.ts';

/** What events do not tell of, a look now and then does. */
const LOOK_AGAIN_MS = 30_000;

export default function PartnerOrders() {
  const go = useGo();
  const live = useLiveOrders();
  return (
    <>
      <PageHead title="Orders" about="Every order of your customers, newest first. Rows change as orders do.">
        <Live state={live} />
      </PageHead>
      <List
        id="orders"
        queryKey={['orders']}
        refetchMs={LOOK_AGAIN_MS}
        load={async ({ limit, page: number, filters }, signal) => {
          const page = await api.orders.list({ ...queryOf(filters), limit, page: number }, { signal });
          return { rows: page.orders, total: page.pagination.total };
        }}
        rowKey={(order) => order.order_id}
        onOpen={(order) => go(`/partner/orders/${order.order_id}`)}
        filters={[
          { name: 'status', label: 'Status', kind: 'several', options: ORDER_STATUSES },
          { name: 'order_type', label: 'Type', kind: 'one', options: Object.keys(ORDER_TYPE_WORDS) },
          { name: 'user_uuid', label: 'Customer id', kind: 'text' },
          { name: 'reference_id', label: 'Reference', kind: 'text' },
          { name: 'created_from', label: 'From', kind: 'date' },
          { name: 'created_to', label: 'To', kind: 'date' },
        ]}
        columns={[
          {
            title: 'Order',
            cell: (order) => (
              <Stack gap={0}>
                <Id value={order.order_id} name="order id" to={`/partner/orders/${order.order_id}`} />
                <Text size="xs" c="dimmed">
                  {order.reference_id ?? ''}
                </Text>
              </Stack>
            ),
          },
          {
            title: 'Type',
            cell: (order) => (
              <Text span inherit style={{ whiteSpace: 'nowrap' }}>
                {ORDER_TYPE_WORDS[order.order_type] ?? order.order_type}
              </Text>
            ),
          },
          { title: 'Status', cell: (order) => <StatusCell order={order} /> },
          { title: 'Fiat', end: true, cell: ({ amounts }) => <Fiat amounts={amounts} /> },
          { title: 'Crypto', end: true, cell: ({ amounts }) => <Crypto amounts={amounts} /> },
          {
            title: 'Your fee',
            end: true,
            cell: ({ fee_breakdown, amounts }) => (
              <Money amount={fee_breakdown.partner_fee} currency={amounts.crypto_currency} />
            ),
          },
          { title: 'Created', cell: (order) => <Time at={order.created_at} /> },
          { title: 'Changed', cell: (order) => <Time at={order.updated_at} age /> },
        ]}
        empty={
          <Empty title="No orders here">
            None fits the filters, or there is none yet: the{' '}
            <Anchor component={Link} to="/partner/home" underline="always">
              first page
            </Anchor>{' '}
            shows how to begin.
          </Empty>
        }
      />
    </>
  );
}

type Amounts = Order['amounts'];

function Fiat({ amounts }: { readonly amounts: Amounts }) {
  return <Money amount={amounts.fiat_amount} currency={amounts.fiat_currency} />;
}

function Crypto({ amounts }: { readonly amounts: Amounts }) {
  return <Money amount={amounts.crypto_amount} currency={amounts.crypto_currency} />;
}

/** What it is in, what it waits for from the partner, and why it stands still. */
function StatusCell({ order }: { readonly order: Order }) {
  const isYours = order.next_action !== 'wait' && order.next_action !== 'none';
  return (
    <Stack gap={2} align="flex-start">
      <Status value={order.status} />
      {order.hold === null ? null : (
        <Badge color="orange" variant="light" tt="none">
          held for review
        </Badge>
      )}
      {isYours ? (
        <Text size="xs" c="dimmed">
          {ACTION_WORDS[order.next_action] ?? order.next_action}
        </Text>
      ) : null}
      {order.failure === null ? null : (
        <Text size="xs" c="dimmed">
          {order.failure.code}
        </Text>
      )}
    </Stack>
  );
}

export function queryOf(filters: Search): ListOrdersQuery {
  const status = listOfSearch(filters.status);
  const { from, to } = periodOf(filters, ['created_from', 'created_to']);
  return given({
    status: status.length === 0 ? undefined : status,
    order_type: textOf(filters, 'order_type'),
    user_uuid: textOf(filters, 'user_uuid'),
    reference_id: textOf(filters, 'reference_id'),
    created_from: from,
    created_to: to,
  }) as ListOrdersQuery;
}
