import { ORDER_STATUSES } from '@causeway/protocol/machines';
import type { OperatorOrder } from '@causeway/sdk';
import { Badge, Stack } from '@mantine/core';
import { api } from '../../api/client.ts';
import { given, periodOf, textOf } from '../../ui/filters.ts';
import { type Filter, List } from '../../ui/list.tsx';
import { useGo } from '../../ui/navigation.tsx';
import { listOfSearch } from '../../ui/search.ts';
import { PageHead } from '../../ui/states.tsx';
import { Id, Money, Status, Time } from '../../ui/values.tsx';
import { Party, useParties } from './parties.tsx';

const YES = 'true';

/** Orders of all partners, or of one party where that is given. */
export function OrderList({
  partnerId,
  vendorId,
}: {
  readonly partnerId?: string;
  readonly vendorId?: string;
}) {
  const go = useGo();
  const parties = useParties().data;
  const filters: readonly Filter[] = [
    { name: 'q', label: 'Any id, hash or reference', kind: 'text' },
    { name: 'status', label: 'Status', kind: 'several', options: ORDER_STATUSES },
    { name: 'direction', label: 'Direction', kind: 'one', options: ['onramp', 'offramp'] },
    ...(partnerId === undefined
      ? [{ name: 'partner', label: 'Partner', kind: 'one', options: parties?.partners ?? [] } as const]
      : []),
    ...(vendorId === undefined
      ? [{ name: 'vendor', label: 'Vendor', kind: 'one', options: parties?.vendors ?? [] } as const]
      : []),
    { name: 'held', label: 'Held', kind: 'one', options: [{ value: YES, label: 'Held for review' }] },
    { name: 'stuck', label: 'Stuck', kind: 'one', options: [{ value: YES, label: 'Needs a person' }] },
    { name: 'from', label: 'Created from', kind: 'date' },
    { name: 'to', label: 'Created to', kind: 'date' },
  ];
  return (
    <List<OperatorOrder>
      id="orders"
      queryKey={['operator', 'orders', partnerId, vendorId]}
      filters={filters}
      refetchMs={10_000}
      load={async ({ filters: chosen, limit, cursor }, signal) => {
        const statuses = listOfSearch(chosen.status) as (typeof ORDER_STATUSES)[number][];
        const { from, to } = periodOf(chosen);
        const page = await api.operator.orders.list(
          given({
            limit,
            cursor,
            search: textOf(chosen, 'q'),
            status: statuses.length === 0 ? undefined : statuses,
            direction: textOf(chosen, 'direction') as 'onramp' | 'offramp' | undefined,
            partner_id: partnerId ?? textOf(chosen, 'partner'),
            vendor_id: vendorId ?? textOf(chosen, 'vendor'),
            held: textOf(chosen, 'held') === YES ? true : undefined,
            stuck: textOf(chosen, 'stuck') === YES ? true : undefined,
            created_from: from,
            created_to: to,
          }),
          { signal },
        );
        return { rows: page.orders, nextCursor: page.pagination.next_cursor };
      }}
      rowKey={({ order_id }) => order_id}
      onOpen={({ order_id }) => go(`/operator/orders/${order_id}`)}
      columns={[
        {
          title: 'Order',
          cell: ({ order_id }) => <Id value={order_id} name="order id" to={`/operator/orders/${order_id}`} />,
        },
        {
          title: 'Status',
          cell: ({ status, held_for_review }) => (
            <Stack gap={2} align="flex-start">
              <Status value={status} />
              {held_for_review ? (
                <Badge color="orange" variant="light" tt="none">
                  held
                </Badge>
              ) : null}
            </Stack>
          ),
        },
        { title: 'Direction', cell: ({ direction }) => direction },
        ...(partnerId === undefined
          ? [
              {
                title: 'Partner',
                cell: (order: OperatorOrder) => <Party kind="partners" id={order.partner_id} />,
              },
            ]
          : []),
        ...(vendorId === undefined
          ? [
              {
                title: 'Vendor',
                cell: (order: OperatorOrder) => <Party kind="vendors" id={order.vendor_id} />,
              },
            ]
          : []),
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
        { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      empty="No order matches"
    />
  );
}

export default function OperatorOrders() {
  return (
    <>
      <PageHead
        title="Orders"
        about="Orders of all partners, newest first. The search takes any id, hash, address or reference."
      />
      <OrderList />
    </>
  );
}
