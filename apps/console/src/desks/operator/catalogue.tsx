import type { ReferenceRecord, ReferenceUsage } from '@causeway/sdk';
import { Button, Drawer, Group, Stack, Switch, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Json } from '../../ui/code.tsx';
import { given, textOf } from '../../ui/filters.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { type Filter, List } from '../../ui/list.tsx';
import { PageTabs } from '../../ui/page-tabs.tsx';
import { PartHead } from '../../ui/part-head.tsx';
import { Loaded, PageHead } from '../../ui/states.tsx';
import { Fact, Status, Time } from '../../ui/values.tsx';
import { AuditTable } from './audit-entries.tsx';

/** What can be switched, in the words of the page. */
const KINDS = [
  { value: 'rails', title: 'Rails', one: 'rail', empty: 'No rail matches' },
  { value: 'institutions', title: 'Institutions', one: 'institution', empty: 'No bank or wallet matches' },
  { value: 'fiat_currencies', title: 'Currencies', one: 'currency', empty: 'No currency matches' },
] as const;
type Kind = (typeof KINDS)[number];

export default function OperatorCatalogue() {
  return (
    <>
      <PageHead
        title="Rails and currencies"
        about="What customers can pay with and be paid by. A change counts within a second; open orders go on."
      />
      <PageTabs
        tabs={KINDS.map((kind) => ({
          value: kind.value,
          title: kind.title,
          content: () => <Records kind={kind} />,
        }))}
      />
    </>
  );
}

const isLive = ({ data }: ReferenceRecord) => data.live !== false;
const listed = (value: unknown) => (Array.isArray(value) ? value.join(', ') : '–');

const STATES = [
  { value: 'true', label: 'On' },
  { value: 'false', label: 'Off' },
];

function Records({ kind }: { readonly kind: Kind }) {
  const [opened, setOpened] = useState<ReferenceRecord | null>(null);
  const filters: readonly Filter[] = [
    { name: 'search', label: 'Name, code or id', kind: 'text' },
    { name: 'live', label: 'State', kind: 'one', options: STATES },
    ...(kind.value === 'institutions' ? [{ name: 'rail', label: 'Rail', kind: 'text' } as const] : []),
    { name: 'country', label: 'Country code', kind: 'text' },
  ];
  return (
    <>
      <List<ReferenceRecord>
        id="records"
        queryKey={['operator', 'reference', kind.value]}
        filters={filters}
        load={async ({ filters: chosen, limit, offset }, signal) => {
          const live = textOf(chosen, 'live');
          const country = textOf(chosen, 'country');
          const page = await api.operator.reference.list(
            kind.value,
            given({
              limit,
              offset,
              search: textOf(chosen, 'search'),
              live: live === undefined ? undefined : live === 'true',
              rail: textOf(chosen, 'rail'),
              // Half a code finds nothing yet, and is not asked for.
              country: country?.length === 2 ? country : undefined,
            }),
            { signal },
          );
          return { rows: page.records, total: page.pagination.total };
        }}
        rowKey={({ id }) => id}
        onOpen={setOpened}
        columns={[
          { title: 'Name', cell: ({ data }) => String(data.name ?? '') },
          { title: 'Id', cell: ({ id }) => <code>{id}</code> },
          ...(kind.value === 'institutions'
            ? [
                { title: 'Code', cell: ({ data }: ReferenceRecord) => String(data.code ?? '–') },
                { title: 'Rails', cell: ({ data }: ReferenceRecord) => listed(data.supported_rails) },
              ]
            : []),
          ...(kind.value === 'rails'
            ? [{ title: 'Currencies', cell: ({ data }: ReferenceRecord) => listed(data.currencies) }]
            : []),
          { title: 'Countries', cell: ({ data }) => shortened(listed(data.countries)) },
          { title: 'State', cell: (record) => <Status value={isLive(record) ? 'enabled' : 'disabled'} /> },
          {
            title: 'Changed',
            cell: ({ updated_at, source }) => (source === 'files' ? '–' : <Time at={updated_at} />),
          },
          {
            title: '',
            end: true,
            cell: (record) => (
              <Button size="xs" variant="default" onClick={() => setOpened(record)} data-testid="open-record">
                Look at it
              </Button>
            ),
          },
        ]}
        empty={kind.empty}
      />
      <Drawer
        opened={opened !== null}
        onClose={() => setOpened(null)}
        title={opened === null ? '' : String(opened.data.name ?? opened.id)}
        position="right"
        size="lg"
      >
        {opened === null ? null : <RecordView kind={kind} id={opened.id} />}
      </Drawer>
    </>
  );
}

const SHORT = 60;
const shortened = (text: string) => (text.length > SHORT ? `${text.slice(0, SHORT)}…` : text);

const HISTORY = 20;

/** One record: what hangs on it, its switch, and who changed it before. */
function RecordView({ kind, id }: { readonly kind: Kind; readonly id: string }) {
  const query = useQuery({
    queryKey: ['operator', 'reference-record', kind.value, id],
    queryFn: async ({ signal }) => {
      const [record, usage, { entries }] = await Promise.all([
        api.operator.reference.get(kind.value, id, { signal }),
        api.operator.reference.usage(kind.value, id, { signal }),
        api.operator.audit.list({ subject: `${kind.value}/${id}`, limit: HISTORY }, { signal }),
      ]);
      return { record, usage, entries };
    },
  });
  return (
    <Loaded query={query}>
      {({ record, usage, entries }) => (
        <Stack gap="xs" data-testid="record">
          <Group justify="space-between">
            <Status value={isLive(record) ? 'enabled' : 'disabled'} />
            <SwitchRecord kind={kind} record={record} usage={usage} />
          </Group>
          <PartHead title="What uses it" />
          <Usage kind={kind} usage={usage} />
          <PartHead title="History" />
          {entries.length === 0 ? (
            <Text size="sm" c="dimmed">
              Nobody has changed it: it is as the release brought it.
            </Text>
          ) : (
            <AuditTable entries={entries} />
          )}
          <PartHead title="Record" />
          <Json value={record.data} label={`${kind.one} ${id}`} />
        </Stack>
      )}
    </Loaded>
  );
}

function Usage({ kind, usage }: { readonly kind: Kind; readonly usage: ReferenceUsage }) {
  return (
    <dl style={{ margin: 0 }} data-testid="usage">
      {kind.value === 'fiat_currencies' ? <Fact label="Rails">{usage.rails}</Fact> : null}
      {kind.value === 'rails' ? <Fact label="Banks and wallets">{usage.institutions}</Fact> : null}
      {kind.value === 'institutions' && usage.rails > 0 ? (
        <Fact label="Rails that take it where none is named">{usage.rails}</Fact>
      ) : null}
      <Fact label="Authorized offers">{usage.offers}</Fact>
      <Fact label="Open orders">{usage.open_orders}</Fact>
    </dl>
  );
}

function counted(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** What the change reaches, before it is made. */
function effectOf(kind: Kind, usage: ReferenceUsage, toLive: boolean): string {
  if (toLive) return `The ${kind.one} is listed again, and offers that use it are matched again.`;
  const parts = [
    ...(kind.value === 'rails' ? [counted(usage.institutions, 'bank or wallet', 'banks and wallets')] : []),
    ...(kind.value === 'fiat_currencies' ? [counted(usage.rails, 'rail', 'rails')] : []),
    counted(usage.offers, 'authorized offer', 'authorized offers'),
  ];
  return `The ${kind.one} is no longer listed and takes no new quotes. It is used by ${parts.join(' and ')}, which stay and are not matched on it. ${counted(usage.open_orders, 'open order', 'open orders')} on it will go on.`;
}

function SwitchRecord({
  kind,
  record,
  usage,
}: {
  readonly kind: Kind;
  readonly record: ReferenceRecord;
  readonly usage: ReferenceUsage;
}) {
  const may = useMay();
  const live = isLive(record);
  const [sure, setSure] = useState(false);
  const needsCare = live && usage.open_orders > 0;
  return (
    <FormDialog
      label={live ? `Switch the ${kind.one} off` : `Switch the ${kind.one} on`}
      done={live ? 'It is off' : 'It is on'}
      reason="required"
      variant="light"
      color={live ? 'red' : 'teal'}
      testId="switch-record"
      disabled={!may('putReferenceRecord') || !usage.can_be_switched}
      isReady={!needsCare || sure}
      onOpen={() => setSure(false)}
      run={(reason) =>
        api.operator.reference.put(kind.value, record.id, { data: { ...record.data, live: !live }, reason })
      }
    >
      <Text size="sm" data-testid="what-it-affects">
        {effectOf(kind, usage, !live)}
      </Text>
      {needsCare ? (
        <Switch
          label="I know that orders on it are open"
          checked={sure}
          onChange={({ currentTarget }) => setSure(currentTarget.checked)}
          data-testid="sure"
        />
      ) : null}
    </FormDialog>
  );
}
