import type { OperatorLoggedRequest } from '@causeway/sdk';
import { Drawer, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Json } from '../../ui/code.tsx';
import { given, periodOf, textOf } from '../../ui/filters.ts';
import { List } from '../../ui/list.tsx';
import { PageHead } from '../../ui/states.tsx';
import { Tone } from '../../ui/tone.tsx';
import { Id, Time } from '../../ui/values.tsx';
import { Party, useParties } from './parties.tsx';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const CLASSES = [
  { value: '2xx', label: 'Succeeded (2xx)' },
  { value: '4xx', label: 'Refused (4xx)' },
  { value: '5xx', label: 'Failed (5xx)' },
];

export default function OperatorRequests() {
  const parties = useParties().data;
  const [opened, setOpened] = useState<OperatorLoggedRequest | null>(null);
  return (
    <>
      <PageHead
        title="API requests"
        about="Requests of partners and vendors, newest first. Values that could name a person are not kept."
      />
      <List<OperatorLoggedRequest>
        id="requests"
        queryKey={['operator', 'requests']}
        filters={[
          { name: 'request', label: 'Request id', kind: 'text' },
          { name: 'order', label: 'Order id', kind: 'text' },
          { name: 'status', label: 'Answer', kind: 'one', options: CLASSES },
          { name: 'method', label: 'Method', kind: 'one', options: METHODS },
          { name: 'code', label: 'Error code', kind: 'text' },
          { name: 'partner', label: 'Partner', kind: 'one', options: parties?.partners ?? [] },
          { name: 'vendor', label: 'Vendor', kind: 'one', options: parties?.vendors ?? [] },
          { name: 'from', label: 'From day', kind: 'date' },
          { name: 'to', label: 'To day', kind: 'date' },
        ]}
        load={async ({ filters, limit, cursor }, signal) => {
          const page = await api.operator.requestLog.list(
            given({
              limit,
              cursor,
              request_id: textOf(filters, 'request'),
              order_id: textOf(filters, 'order'),
              status: textOf(filters, 'status'),
              method: textOf(filters, 'method'),
              error_code: textOf(filters, 'code')?.toUpperCase(),
              partner_id: textOf(filters, 'partner'),
              vendor_id: textOf(filters, 'vendor'),
              ...periodOf(filters),
            }),
            { signal },
          );
          return { rows: page.requests, nextCursor: page.pagination.next_cursor };
        }}
        rowKey={({ cursor }) => cursor}
        onOpen={setOpened}
        columns={[
          { title: 'When', cell: ({ at }) => <Time at={at} /> },
          {
            title: 'Caller',
            cell: ({ partner_id, vendor_id }) =>
              partner_id === null ? (
                <Party kind="vendors" id={vendor_id} />
              ) : (
                <Party kind="partners" id={partner_id} />
              ),
          },
          {
            title: 'Request',
            cell: ({ method, path }) => (
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {method} {path}
              </Text>
            ),
          },
          {
            title: 'Answer',
            cell: ({ status, error_code }) => (
              <Tone tone={status < 400 ? 'good' : 'bad'}>
                {status} {error_code ?? ''}
              </Tone>
            ),
          },
          { title: 'Took', end: true, cell: ({ duration_ms }) => `${Math.round(duration_ms)} ms` },
          { title: 'Request id', cell: ({ request_id }) => <Id value={request_id} name="request id" /> },
        ]}
        empty="No request matches"
      />
      <Drawer
        opened={opened !== null}
        onClose={() => setOpened(null)}
        title="Request"
        position="right"
        size="lg"
      >
        {opened === null ? null : <Json value={opened} label="Request as it was logged" />}
      </Drawer>
    </>
  );
}
