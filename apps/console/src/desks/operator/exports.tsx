import { Button, Card, Group, Select, SimpleGrid, Text, TextInput } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { PartHead } from '../../ui/part-head.tsx';
import { stringifySearch } from '../../ui/search.ts';
import { PageHead } from '../../ui/states.tsx';
import { useParties } from './parties.tsx';

const FILES = [
  {
    name: 'ledger',
    title: 'Books',
    about: 'Every posting of the ledger, with its entry, account, asset and amount. Each entry sums to zero.',
  },
  {
    name: 'orders',
    title: 'Orders',
    about:
      'Every order created in the time, with amounts, fees, status and parties. People are named by ids only.',
  },
] as const;

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

export default function OperatorExports() {
  const parties = useParties().data;
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [partner, setPartner] = useState<string | null>(null);
  const query = stringifySearch({ from, to, time_zone: ZONE, partner_id: partner });
  const isBackwards = from !== '' && to !== '' && from > to;
  return (
    <>
      <PageHead
        title="Exports"
        about={`CSV files, streamed as they are read. Days are those of ${ZONE}; without days, the last 31. At most a year at a time. Every download is on record.`}
      />
      <Group align="flex-end" mb="md">
        <TextInput
          label="First day"
          type="date"
          value={from}
          error={isBackwards ? 'Is after the last day' : undefined}
          onChange={({ currentTarget }) => setFrom(currentTarget.value)}
          data-testid="export-from"
        />
        <TextInput
          label="Last day"
          type="date"
          value={to}
          onChange={({ currentTarget }) => setTo(currentTarget.value)}
          data-testid="export-to"
        />
        <Select
          label="Partner"
          placeholder="All"
          clearable
          searchable
          data={parties?.partners ?? []}
          value={partner}
          onChange={setPartner}
          data-testid="export-partner"
        />
      </Group>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        {FILES.map(({ name, title, about }) => (
          <Card key={name} withBorder>
            <PartHead title={title} />
            <Text size="sm" mb="md">
              {about}
            </Text>
            <Button
              component="a"
              href={`/api/v1/operator/exports/${name}.csv${query}`}
              download={`${name}.csv`}
              leftSection={<IconDownload size={16} aria-hidden />}
              data-disabled={isBackwards || undefined}
              data-testid={`download-${name}`}
            >
              Download
            </Button>
          </Card>
        ))}
      </SimpleGrid>
    </>
  );
}
