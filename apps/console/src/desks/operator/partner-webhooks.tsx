import type { Delivery } from '@causeway/sdk';
import { Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { given, textOf } from '../../ui/filters.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { List } from '../../ui/list.tsx';
import { Id, Status, Time } from '../../ui/values.tsx';

const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;

/** What was sent to a partner, and sending it again where its receiver was down. */
export function PartnerWebhooks({ partnerId }: { readonly partnerId: string }) {
  const may = useMay();
  return (
    <List<Delivery>
      id="deliveries"
      queryKey={['operator', 'deliveries', partnerId]}
      filters={[
        { name: 'status', label: 'Status', kind: 'one', options: STATUSES },
        { name: 'order', label: 'Order id', kind: 'text' },
      ]}
      actions={<ReplayAll partnerId={partnerId} />}
      load={async ({ filters, limit, cursor }, signal) => {
        const page = await api.operator.partners.listDeliveries(
          partnerId,
          given({
            limit,
            cursor,
            status: textOf(filters, 'status') as (typeof STATUSES)[number] | undefined,
            order_id: textOf(filters, 'order'),
          }),
          { signal },
        );
        return { rows: page.deliveries, nextCursor: page.pagination.next_cursor };
      }}
      rowKey={({ id }) => id}
      columns={[
        { title: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
        { title: 'Event', cell: ({ event_type }) => event_type },
        { title: 'About', cell: ({ subject_id }) => <Id value={subject_id} name="subject" /> },
        { title: 'State', cell: ({ status }) => <Status value={status} /> },
        {
          title: 'Attempts',
          cell: ({ attempts }) => {
            const last = attempts.at(-1);
            return (
              <Text size="sm">
                {attempts.length}
                {last === undefined ? '' : `, last ${last.http_status ?? last.error ?? 'without an answer'}`}
              </Text>
            );
          },
        },
        {
          title: '',
          end: true,
          cell: ({ id }) => (
            <Action
              variant="light"
              reason
              confirm="The same event is sent again as a new delivery, with attempts of its own."
              done="It is sent again"
              disabled={!may('replayPartnerDelivery')}
              run={(reason) => api.operator.partners.replayDelivery(partnerId, id, { reason })}
              testId="replay-delivery"
            >
              Send again
            </Action>
          ),
        },
      ]}
      empty="Nothing was sent: the partner has no endpoint, or nothing has happened"
    />
  );
}

function ReplayAll({ partnerId }: { readonly partnerId: string }) {
  const may = useMay();
  const [since, setSince] = useState('');
  const at = since === '' ? undefined : new Date(since);
  return (
    <FormDialog
      label="Catch up after an outage"
      done="The latest events are sent again"
      reason="required"
      variant="light"
      testId="replay-events"
      disabled={!may('replayPartnerEvents')}
      isReady={at !== undefined && !Number.isNaN(at.getTime())}
      run={(reason) =>
        api.operator.partners.replayEvents(partnerId, { since: (at ?? new Date()).toISOString(), reason })
      }
    >
      <Text size="sm">
        For every order and customer with events since then the latest event of each type is sent; what is
        superseded is left out.
      </Text>
      <TextInput
        label="Since"
        type="datetime-local"
        required
        value={since}
        onChange={({ currentTarget }) => setSince(currentTarget.value)}
        data-testid="replay-since"
      />
    </FormDialog>
  );
}
