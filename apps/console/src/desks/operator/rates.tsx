import type { OperatorRateList } from '@causeway/sdk';
import { Alert, Box, Button, Drawer, SegmentedControl, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { textOf } from '../../ui/filters.ts';
import { List } from '../../ui/list.tsx';
import { Empty, Loaded, PageHead } from '../../ui/states.tsx';
import { Tone } from '../../ui/tone.tsx';
import { Fact, Time } from '../../ui/values.tsx';
import { RateChart } from './rate-chart.tsx';

type Rate = OperatorRateList['rates'][number];

const REFETCH_MS = 5_000;

export default function OperatorRates() {
  const query = useQuery({
    queryKey: ['operator', 'rates'],
    queryFn: ({ signal }) => api.operator.rates.list({ signal }),
    refetchInterval: REFETCH_MS,
  });
  return (
    <>
      <PageHead
        title="Rates"
        about="Pairs that are quoted by a source; all others follow from them. Only what is fresh is priced on."
      />
      <Loaded query={query}>{(list) => <Standing list={list} />}</Loaded>
      <RateRows />
    </>
  );
}

/** How long something lasts, in the largest unit that fits. */
export function duration(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3_600)} h`;
}

const TONES = { fresh: 'good', stale: 'bad', missing: 'bad', guarded: 'care' } as const;
const STATES = [
  { value: 'fresh', label: 'Fresh' },
  { value: 'stale', label: 'Stale: its sources are silent' },
  { value: 'missing', label: 'Missing: no source has told it' },
  { value: 'guarded', label: 'Guarded: it jumped' },
];

function Standing({ list }: { readonly list: OperatorRateList }) {
  const trouble = list.rates.filter(({ status }) => status !== 'fresh').length;
  if (list.publication_age_seconds > list.publication_stale_after_seconds) {
    return (
      <Alert color="red" title="Nothing is priced now" role="alert" mb="md" data-testid="rates-standing">
        The rates were last published {duration(list.publication_age_seconds)} ago. Look whether a worker runs
        and reaches its sources.
      </Alert>
    );
  }
  return (
    <Alert
      color={trouble === 0 ? 'teal' : 'orange'}
      mb="md"
      title={
        trouble === 0
          ? `All ${list.rates.length} pairs are fresh`
          : `${trouble} of ${list.rates.length} pairs are not priced on`
      }
      data-testid="rates-standing"
    >
      Published <Time at={list.updated_at} age />; too old after{' '}
      {duration(list.publication_stale_after_seconds)}.
    </Alert>
  );
}

function RateRows() {
  const [opened, setOpened] = useState<Rate | null>(null);
  return (
    <>
      <List<Rate>
        id="rates"
        queryKey={['operator', 'rates', 'rows']}
        refetchMs={REFETCH_MS}
        filters={[
          { name: 'q', label: 'Currency', kind: 'text' },
          { name: 'status', label: 'State', kind: 'one', options: STATES },
        ]}
        load={async ({ filters, limit, offset }, signal) => {
          const { rates } = await api.operator.rates.list({ signal });
          const [text, status] = [textOf(filters, 'q')?.toUpperCase() ?? '', textOf(filters, 'status')];
          const found = rates.filter(
            (rate) =>
              `${rate.base}/${rate.quote}`.includes(text) && (status === undefined || rate.status === status),
          );
          return { rows: found.slice(offset, offset + limit), total: found.length };
        }}
        rowKey={({ base, quote }) => `${base}/${quote}`}
        onOpen={setOpened}
        columns={[
          { title: 'Pair', cell: ({ base, quote }) => `${base}/${quote}` },
          {
            title: 'Rate',
            end: true,
            cell: ({ rate }) => <span style={{ fontVariantNumeric: 'tabular-nums' }}>{rate ?? '–'}</span>,
          },
          {
            title: 'State',
            cell: ({ status }) => <Tone tone={TONES[status as keyof typeof TONES] ?? 'plain'}>{status}</Tone>,
          },
          { title: 'Age', end: true, cell: ({ age_seconds }) => duration(age_seconds) },
          {
            title: 'Too old after',
            end: true,
            cell: ({ stale_after_seconds }) => duration(stale_after_seconds),
          },
          { title: 'Source', cell: ({ sources }) => sources.join(', ') || '–' },
          {
            title: '',
            end: true,
            cell: (rate) => (
              <Button
                size="xs"
                variant="default"
                onClick={() => setOpened(rate)}
                aria-label={`History of ${rate.base}/${rate.quote}`}
                data-testid="rate-history"
              >
                History
              </Button>
            ),
          },
        ]}
        empty="No pair matches"
      />
      <Drawer
        opened={opened !== null}
        onClose={() => setOpened(null)}
        title={opened === null ? '' : `${opened.base}/${opened.quote}`}
        position="right"
        size="lg"
      >
        {opened === null ? null : <History rate={opened} />}
      </Drawer>
    </>
  );
}

const PERIODS = [
  { value: '1', label: '1 day' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
];
const DAY_MS = 86_400_000;
const POINTS = 1_000;

function History({ rate }: { readonly rate: Rate }) {
  const [days, setDays] = useState('1');
  const query = useQuery({
    queryKey: ['operator', 'rate-history', rate.base, rate.quote, days],
    queryFn: ({ signal }) =>
      api.rates.history(
        {
          base: rate.base,
          quote: rate.quote,
          from: new Date(Date.now() - Number(days) * DAY_MS).toISOString(),
          limit: POINTS,
        },
        { signal },
      ),
  });
  return (
    <Stack>
      <SegmentedControl aria-label="Period" value={days} onChange={setDays} data={PERIODS} />
      <Loaded query={query}>
        {({ points }) =>
          points.length < 2 ? (
            <Empty title="There is no history of it in this time" />
          ) : (
            <RateChart points={points} label={`${rate.base}/${rate.quote} over ${days} days`} />
          )
        }
      </Loaded>
      <Box component="dl" m={0}>
        <Fact label="Rate now">{rate.rate ?? '–'}</Fact>
        <Fact label="Observed">
          <Time at={rate.as_of} />
        </Fact>
        <Fact label="Sources">{rate.sources.join(', ') || '–'}</Fact>
      </Box>
    </Stack>
  );
}
