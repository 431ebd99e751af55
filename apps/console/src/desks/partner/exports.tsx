import { ORDER_MACHINES } from '@causeway/protocol/machines';
import { Button, Group, MultiSelect, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { serviceNow } from '../../api/service-time.ts';
import { useCan } from '../../api/session.ts';
import { dayOf, ZONE } from '../../ui/days.ts';
import { useListSearch } from '../../ui/list.tsx';
import { Panel } from '../../ui/panel.tsx';
import { listOfSearch, type Search, stringifySearch } from '../../ui/search.ts';
import { Empty, PageHead } from '../../ui/states.tsx';

const STATUSES = [...new Set(Object.values(ORDER_MACHINES).flatMap(({ statusNames }) => statusNames))].sort();

export default function PartnerExports() {
  const isAllowed = useCan('export');
  const [search, change] = useListSearch();
  if (!isAllowed) {
    return (
      <>
        <PageHead title="Exports" />
        <Empty title="Your role does not download files">
          Ask somebody who manages your team for the role finance.
        </Empty>
      </>
    );
  }
  return (
    <>
      <PageHead
        title="Exports"
        about="CSV files for accounting, read from one moment and sent row by row. Each download is noted with your name."
      />
      <Stack>
        <Panel title="Orders" testId="export-orders">
          <DownloadFile
            path="/api/v1/partner/exports/orders.csv"
            what="One row an order created in the period: amounts, fees, rate, status, chain and what went through its escrow. The filters are those of the list of orders."
            testId="download-orders"
            query={filtersOf(search)}
          >
            <OrderFilters search={search} change={change} />
          </DownloadFile>
        </Panel>
        <Panel title="Fees">
          <DownloadFile
            path="/api/v1/partner/exports/fees.csv"
            what="One row for the fees of each order that was settled in the period: the platform’s and yours, as they were booked."
            testId="download-fees"
          />
        </Panel>
        <Panel title="Ledger">
          <DownloadFile
            path="/api/v1/partner/exports/ledger.csv"
            what="Every posting booked in the period. The postings of an entry sum to zero in each asset."
            testId="download-ledger"
          />
        </Panel>
        <Panel title="Fiat account">
          <FiatAccountFile />
        </Panel>
      </Stack>
    </>
  );
}

const FILTERS = ['status', 'order_type', 'user_uuid', 'reference_id'] as const;

function filtersOf(search: Search): Search {
  return Object.fromEntries(FILTERS.map((name) => [name, search[name]]));
}

const textOf = (value: Search[string]): string => (typeof value === 'string' ? value : '');

function OrderFilters({
  search,
  change,
}: {
  readonly search: Search;
  readonly change: (change: Search) => void;
}) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }}>
      <MultiSelect
        label="Status"
        data={STATUSES}
        value={[...listOfSearch(search.status)]}
        searchable
        clearable
        onChange={(chosen) => change({ status: chosen.length === 0 ? undefined : chosen })}
        data-testid="export-status"
      />
      <Select
        label="Kind"
        data={['onramp', 'offramp', 'payment_request']}
        value={textOf(search.order_type) || null}
        clearable
        onChange={(chosen) => change({ order_type: chosen ?? undefined })}
        data-testid="export-order-type"
      />
      <TextInput
        label="Customer’s id"
        value={textOf(search.user_uuid)}
        onChange={({ currentTarget }) => change({ user_uuid: currentTarget.value || undefined })}
        data-testid="export-user"
      />
      <TextInput
        label="Your reference"
        value={textOf(search.reference_id)}
        onChange={({ currentTarget }) => change({ reference_id: currentTarget.value || undefined })}
        data-testid="export-reference"
      />
    </SimpleGrid>
  );
}

function FiatAccountFile() {
  const [accountId, setAccountId] = useState('');
  return (
    <DownloadFile
      path={`/api/v1/partner/exports/fiat-accounts/${encodeURIComponent(accountId.trim())}.csv`}
      what="Every movement of one account in the period, with the balance after it."
      testId="download-fiat-account"
      isReady={accountId.trim() !== ''}
    >
      <TextInput
        label="Account"
        placeholder="retail_42"
        w={220}
        value={accountId}
        onChange={({ currentTarget }) => setAccountId(currentTarget.value)}
        data-testid="export-account"
      />
    </DownloadFile>
  );
}

const DAYS = 31;
const DAY_MS = 86_400_000;

/** A file of a period. The browser itself saves it while it is sent, however long it is. */
export function DownloadFile({
  path,
  what,
  testId,
  query = {},
  isReady = true,
  children,
}: {
  readonly path: string;
  readonly what: string;
  readonly testId: string;
  readonly query?: Search;
  readonly isReady?: boolean;
  readonly children?: React.ReactNode;
}) {
  const [from, setFrom] = useState(() => dayOf(serviceNow(), DAYS - 1));
  const [to, setTo] = useState(() => dayOf(serviceNow()));
  const problem = problemOfPeriod(from, to);
  const address = path + stringifySearch({ from, to, time_zone: ZONE, ...query });
  return (
    <Stack gap="sm">
      <Text size="sm">{what}</Text>
      {children}
      <Group align="flex-end">
        <TextInput
          label="From"
          type="date"
          value={from}
          onChange={({ currentTarget }) => setFrom(currentTarget.value)}
          data-testid={`${testId}-from`}
        />
        <TextInput
          label="To, counted too"
          type="date"
          value={to}
          onChange={({ currentTarget }) => setTo(currentTarget.value)}
          data-testid={`${testId}-to`}
        />
        {problem === undefined && isReady ? (
          <Button component="a" href={address} download data-testid={testId}>
            Download
          </Button>
        ) : (
          <Button disabled data-testid={testId}>
            Download
          </Button>
        )}
      </Group>
      <Text
        size="xs"
        c={
          problem === undefined
            ? 'dimmed'
            : 'light-dark(var(--mantine-color-red-9), var(--mantine-color-red-3))'
        }
        role={problem === undefined ? undefined : 'alert'}
      >
        {problem ?? `Days and times are those of ${ZONE}.`}
      </Text>
    </Stack>
  );
}

const MAX_DAYS = 366;

function problemOfPeriod(from: string, to: string): string | undefined {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (Number.isNaN(days)) return 'Give the first and the last day.';
  if (days < 1) return 'The first day is after the last one.';
  return days > MAX_DAYS ? `At most ${MAX_DAYS} days go into one file; choose a shorter period.` : undefined;
}
