import type { ScreeningHit } from '@causeway/sdk';
import { Badge, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { api } from '../../../api/client.ts';
import { Empty } from '../../../ui/states.tsx';
import { Fact, Id, Status } from '../../../ui/values.tsx';
import { Revealed, WHY } from './reveal.tsx';
import type { PanelProps } from './selection.ts';

const SUBJECTS: Readonly<Record<string, string>> = {
  wallet: 'A wallet',
  destination: 'The holder of a recipient’s account',
  payment_details: 'The holder of a customer’s account',
};

/** What a list says beside what it was held against. */
export default function ScreeningPanel({ detail }: PanelProps) {
  const { recipient, screening_case: found } = detail;
  if (recipient !== null) {
    return (
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Stack gap="xs">
          <Title order={3} size="h6">
            The recipient
          </Title>
          <dl>
            <Fact label="Name">{recipient.recipient_name_masked}</Fact>
            <Fact label="Kind">{recipient.recipient_kind}</Fact>
            <Fact label="Country">{recipient.recipient_country}</Fact>
            <Fact label="Recipient">
              <Id value={recipient.recipient_id} name="recipient id" />
            </Fact>
            <Fact label="Screening">
              <Status value={recipient.screening_status} />
            </Fact>
          </dl>
          <Revealed
            operation="revealRecipient"
            what="the recipient"
            reveal={() => api.operator.recipients.reveal(recipient.recipient_id, { reason: WHY })}
          >
            {({ recipient: shown, destinations }) => (
              <dl data-testid="revealed">
                {Object.entries(shown)
                  .filter(([, value]) => Boolean(value))
                  .map(([field, value]) => (
                    <Fact key={field} label={field.replaceAll('_', ' ')}>
                      {value}
                    </Fact>
                  ))}
                {destinations.map(({ id, rail, details }) => (
                  <Fact key={id} label={`account (${rail})`}>
                    {Object.values(details).join(', ')}
                  </Fact>
                ))}
              </dl>
            )}
          </Revealed>
        </Stack>
        <Hits hits={recipient.hits} listVersion={recipient.list_version} />
      </SimpleGrid>
    );
  }
  if (found === null) return <Empty title="There is nothing to review any more" />;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <Stack gap="xs">
        <Title order={3} size="h6">
          {SUBJECTS[found.subject_kind] ?? 'Who was found'}
        </Title>
        <dl>
          <Fact label={found.subject_kind === 'wallet' ? 'Address' : 'Number'}>
            <Id value={found.subject} whole name="subject" />
          </Fact>
          <Fact label="Screening">
            <Status value={found.screening_status} />
          </Fact>
        </dl>
        {found.listed.length === 0 ? null : (
          <Group gap={4}>
            {found.listed.map((list) => (
              <Badge key={list} color="red" variant="light" tt="none">
                {list}
              </Badge>
            ))}
          </Group>
        )}
      </Stack>
      <Hits hits={found.hits} listVersion={found.list_version} />
    </SimpleGrid>
  );
}

function Hits({
  hits,
  listVersion,
}: {
  readonly hits: readonly ScreeningHit[];
  readonly listVersion: string | null;
}) {
  return (
    <div>
      <Title order={3} size="h6">
        On the list
      </Title>
      {hits.length === 0 ? (
        <Text size="sm" c="dimmed">
          No names are listed.
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={0}>
          <Table fz="sm" data-testid="hits">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Listed name</Table.Th>
                <Table.Th scope="col">Entry</Table.Th>
                <Table.Th scope="col" ta="end">
                  Likeness
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {hits.map((hit) => (
                <Table.Tr key={hit.entry_id}>
                  <Table.Td>{hit.listed_name}</Table.Td>
                  <Table.Td>{hit.entry_id}</Table.Td>
                  <Table.Td ta="end">{hit.score} of 100</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {listVersion === null ? null : (
        <Text size="xs" c="dimmed">
          List of {listVersion}
        </Text>
      )}
    </div>
  );
}
