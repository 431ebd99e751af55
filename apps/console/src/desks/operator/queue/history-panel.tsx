import type { QueueCaseDetail } from '@causeway/sdk';
import { Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../../api/client.ts';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { Time } from '../../../ui/values.tsx';
import type { PanelProps } from './selection.ts';

/** What the audit log calls the subject of a case. */
function subjectOf({ kind, subject_id: id, order_id: orderId }: QueueCaseDetail): string {
  if (kind === 'deposit') return `deposits/${id}`;
  if (kind === 'fiat_payment') return `fiat-payments/${id}`;
  if (orderId !== null) return `orders/${orderId}`;
  const folders = {
    kyc: 'users',
    recipient_screening: 'recipients',
    screening_case: 'screening_cases',
  } as const;
  return `${folders[kind as keyof typeof folders] ?? `${kind}s`}/${id}`;
}

/** What operators did about it before. */
export default function History({ detail }: PanelProps) {
  const subject = subjectOf(detail);
  const query = useQuery({
    queryKey: ['audit', subject],
    queryFn: ({ signal }) => api.operator.audit.list({ subject, limit: 50 }, { signal }),
  });
  return (
    <Loaded query={query}>
      {({ entries }) =>
        entries.length === 0 ? (
          <Empty title="No operator has done anything about it yet" />
        ) : (
          <Table.ScrollContainer minWidth={0}>
            <Table fz="sm" data-testid="history">
              <Table.Tbody>
                {entries.map((entry) => (
                  <Table.Tr key={entry.audit_id}>
                    <Table.Td>
                      <Time at={entry.at} />
                    </Table.Td>
                    <Table.Td>
                      <Stack gap={0}>
                        <span>{entry.action.replaceAll(/[._]/g, ' ')}</span>
                        <Text size="xs" c="dimmed">
                          {entry.reason}
                        </Text>
                      </Stack>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )
      }
    </Loaded>
  );
}
