import type { ListVendorRequestsQuery, RequestLog } from '@causeway/sdk';
import { Text } from '@mantine/core';
import { api } from '../../api/client.ts';
import { List } from '../../ui/list.tsx';
import { Empty, PageHead } from '../../ui/states.tsx';
import { Id, Status, Time } from '../../ui/values.tsx';

type LoggedRequest = RequestLog['requests'][number];

export default function VendorRequests() {
  return (
    <>
      <PageHead
        title="API log"
        about="Your programs’ calls, newest first. No bodies and nothing personal is kept."
      />
      <List<LoggedRequest>
        id="requests"
        queryKey={['vendor-requests']}
        filters={[
          { name: 'request_id', label: 'Request id', kind: 'text' },
          {
            name: 'status',
            label: 'Status',
            kind: 'one',
            options: ['2xx', '4xx', '5xx', '400', '404', '409'],
          },
          {
            name: 'method',
            label: 'Method',
            kind: 'one',
            options: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
          },
          { name: 'error_code', label: 'Error code', kind: 'text' },
          { name: 'order_id', label: 'Order id', kind: 'text' },
        ]}
        load={async ({ filters, limit, cursor }, signal) => {
          const query = { ...filters, limit, ...(cursor === undefined ? {} : { cursor }) };
          const page = await api.vendor.requestLog.list(query as ListVendorRequestsQuery, { signal });
          return { rows: page.requests, nextCursor: page.pagination.next_cursor };
        }}
        rowKey={({ cursor }) => cursor}
        refetchMs={10_000}
        columns={[
          { title: 'When', cell: ({ at }) => <Time at={at} /> },
          {
            title: 'Call',
            cell: ({ method, path }) => (
              <Text span size="sm" style={{ overflowWrap: 'anywhere' }}>
                <b>{method}</b> {path.replace(/^\/api\/v1/, '')}
              </Text>
            ),
          },
          {
            title: 'Status',
            cell: ({ status }) => (
              <Status value={`${status} ${status < 400 ? 'ok' : status < 500 ? 'refused' : 'failed'}`} />
            ),
          },
          { title: 'Error', cell: ({ error_code }) => error_code ?? '–' },
          { title: 'Took', end: true, cell: ({ duration_ms }) => `${duration_ms} ms` },
          {
            title: 'Order',
            cell: ({ order_id }) => (
              <Id
                value={order_id}
                name="order id"
                {...(order_id === null ? {} : { to: `/vendor/orders/${order_id}` })}
              />
            ),
          },
          { title: 'Request', cell: ({ request_id }) => <Id value={request_id} name="request id" /> },
        ]}
        empty={
          <Empty title="No calls found">
            Calls of your API keys are listed here. A request id stands in X-Request-Id of every answer.
          </Empty>
        }
      />
    </>
  );
}
