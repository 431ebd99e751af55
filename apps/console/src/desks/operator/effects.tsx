import type { Effect } from '@causeway/sdk';
import { Stack, Text } from '@mantine/core';
import { api } from '../../api/client.ts';
import { given, textOf } from '../../ui/filters.ts';
import { List } from '../../ui/list.tsx';
import { Empty, PageHead } from '../../ui/states.tsx';
import { Tone } from '../../ui/tone.tsx';
import { Id, Status, Time } from '../../ui/values.tsx';
import { EffectRemedies } from './order-sections.tsx';
import { Party, useParties } from './parties.tsx';

const STATES = [
  { value: 'failed', label: 'Failed' },
  { value: 'unknown', label: 'Outcome unknown' },
  { value: 'late', label: 'Late' },
];

export default function OperatorEffects() {
  const parties = useParties().data;
  return (
    <>
      <PageHead
        title="Stuck work"
        about="Calls to chains, banks, bridges and providers that failed, whose outcome is unknown, or that no worker has picked up."
      />
      <List<Effect>
        id="effects"
        queryKey={['operator', 'effects']}
        refetchMs={15_000}
        filters={[
          { name: 'state', label: 'State', kind: 'one', options: STATES },
          { name: 'kind', label: 'Kind', kind: 'text' },
          { name: 'partner', label: 'Partner', kind: 'one', options: parties?.partners ?? [] },
          { name: 'order', label: 'Order id', kind: 'text' },
        ]}
        load={async ({ filters, limit, cursor }, signal) => {
          const page = await api.operator.effects.list(
            given({
              limit,
              cursor,
              state: textOf(filters, 'state') as 'failed' | 'unknown' | 'late' | undefined,
              kind: textOf(filters, 'kind'),
              partner_id: textOf(filters, 'partner'),
              order_id: textOf(filters, 'order'),
            }),
            { signal },
          );
          return { rows: page.effects, nextCursor: page.pagination.next_cursor };
        }}
        rowKey={({ effect_id }) => effect_id}
        columns={[
          {
            title: 'What',
            cell: ({ kind, meaning }) => (
              <Stack gap={0} maw={320}>
                <Text size="sm" fw={500}>
                  {kind}
                </Text>
                <Text size="xs" c="dimmed">
                  {meaning}
                </Text>
              </Stack>
            ),
          },
          {
            title: 'State',
            cell: ({ status, late }) => (late ? <Tone tone="care">late</Tone> : <Status value={status} />),
          },
          {
            title: 'Order',
            cell: ({ order_id }) => (
              <Id
                value={order_id}
                name="order id"
                {...(order_id === null ? {} : { to: `/operator/orders/${order_id}?tab=work` })}
              />
            ),
          },
          { title: 'Partner', cell: ({ partner_id }) => <Party kind="partners" id={partner_id} /> },
          { title: 'Attempts', end: true, cell: ({ attempts }) => attempts },
          { title: 'Last error', cell: ({ last_error }) => last_error ?? '–' },
          { title: 'Begun', cell: ({ created_at }) => <Time at={created_at} age /> },
          { title: 'Next try', cell: ({ next_attempt_at }) => <Time at={next_attempt_at} age /> },
          { title: '', end: true, cell: (effect) => <EffectRemedies effect={effect} /> },
        ]}
        empty={
          <Empty title="Nothing is stuck">What fails is tried again by itself before it comes here.</Empty>
        }
      />
    </>
  );
}
