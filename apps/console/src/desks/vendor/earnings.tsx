import type { VendorStatement } from '@causeway/sdk';
import { Button, Card, Group, SimpleGrid, Table, Text, TextInput, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery } from '@tanstack/react-query';
import { api, problemOf } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { periodOf } from '../../ui/filters.ts';
import { List, useListSearch } from '../../ui/list.tsx';
import { Empty, Loaded, PageHead } from '../../ui/states.tsx';
import { Id, Money, Time } from '../../ui/values.tsx';

type Entry = VendorStatement['entries'][number];

export default function Earnings() {
  const [search, change] = useListSearch();
  const day = (name: 'from' | 'to') => (typeof search[name] === 'string' ? search[name] : undefined);
  const [from, to] = [day('from'), day('to')];
  const period = periodOf(search);
  const summary = useQuery({
    queryKey: ['vendor-statement', period],
    queryFn: ({ signal }) => api.vendor.statement({ ...period, limit: 1 }, { signal }),
  });
  return (
    <>
      <PageHead
        title="Earnings"
        about="An order counts when its escrow has paid out. Figures are exact to the smallest unit."
      >
        <Export from={from} to={to} />
      </PageHead>
      <Group mb="md" align="flex-end">
        {(['from', 'to'] as const).map((name) => (
          <TextInput
            key={name}
            type="date"
            label={name === 'from' ? 'From' : 'To, included'}
            value={day(name) ?? ''}
            onChange={({ currentTarget }) => change({ [name]: currentTarget.value || undefined })}
            data-testid={`period-${name}`}
          />
        ))}
        {from === undefined && to === undefined ? null : (
          <Button variant="subtle" onClick={() => change({ from: undefined, to: undefined })}>
            All time
          </Button>
        )}
      </Group>
      <Loaded query={summary}>{(statement) => <Summary statement={statement} />}</Loaded>
      <Title order={2} size="h4" mt="lg" mb="xs">
        Order by order
      </Title>
      <List<Entry>
        id="entries"
        queryKey={['vendor-statement', 'entries', period]}
        load={async ({ limit, offset }, signal) => {
          const page = await api.vendor.statement({ ...period, limit, offset }, { signal });
          return { rows: page.entries, total: page.pagination.total };
        }}
        rowKey={({ order_id }) => order_id}
        columns={[
          { title: 'Settled', cell: ({ settled_at }) => <Time at={settled_at} /> },
          {
            title: 'Order',
            cell: ({ order_id }) => <Id value={order_id} to={`/vendor/orders/${order_id}`} name="order id" />,
          },
          { title: 'You', cell: ({ direction }) => (direction === 'onramp' ? 'Sold' : 'Bought') },
          { title: 'Received', end: true, cell: (entry) => <Side of={entry} what="received" /> },
          { title: 'Paid', end: true, cell: (entry) => <Side of={entry} what="paid" /> },
          { title: 'Rate', end: true, cell: ({ rate }) => <Money amount={rate} /> },
          { title: 'Transaction', cell: ({ tx_hash }) => <Id value={tx_hash} name="transaction" /> },
        ]}
        empty={<Empty title="Nothing was settled in this period">Choose another one above.</Empty>}
      />
    </>
  );
}

const codeOf = (asset: string) => asset.split('@')[0] ?? asset;

/** Of an order one side is money in, the other crypto, whichever way it went. */
function Side({
  of: { crypto, fiat, direction },
  what,
}: {
  readonly of: Entry;
  readonly what: 'received' | 'paid';
}) {
  const isFiat = (direction === 'onramp') === (what === 'received');
  const movement = isFiat ? fiat : crypto;
  return <Money amount={movement[what]} currency={codeOf(movement.asset)} />;
}

function Summary({ statement: { totals, lines } }: { readonly statement: VendorStatement }) {
  if (totals.length === 0) return null;
  return (
    <>
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }} data-testid="totals">
        {totals.map(({ asset, received, paid }) => (
          <Card key={asset} withBorder data-testid="total" data-asset={asset}>
            <Text size="sm" c="dimmed">
              {asset}
            </Text>
            <Text size="sm">
              Received <Money amount={received} currency={codeOf(asset)} />
            </Text>
            <Text size="sm">
              Paid <Money amount={paid} currency={codeOf(asset)} />
            </Text>
          </Card>
        ))}
      </SimpleGrid>
      <Table.ScrollContainer minWidth={560} mt="md">
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Pair</Table.Th>
              <Table.Th scope="col">You</Table.Th>
              <Table.Th scope="col">Network</Table.Th>
              <Table.Th scope="col" ta="end">
                Orders
              </Table.Th>
              <Table.Th scope="col" ta="end">
                Crypto
              </Table.Th>
              <Table.Th scope="col" ta="end">
                Fiat
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {lines.map((line) => (
              <Table.Tr key={`${line.direction} ${line.chain} ${line.crypto_currency} ${line.fiat_currency}`}>
                <Table.Td>
                  {line.crypto_currency}/{line.fiat_currency}
                </Table.Td>
                <Table.Td>{line.direction === 'onramp' ? 'Sold' : 'Bought'}</Table.Td>
                <Table.Td>{line.chain}</Table.Td>
                <Table.Td ta="end">{line.orders}</Table.Td>
                <Table.Td ta="end">
                  <Money amount={line.crypto_amount} currency={line.crypto_currency} />
                </Table.Td>
                <Table.Td ta="end">
                  <Money amount={line.fiat_amount} currency={line.fiat_currency} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}

function Export({ from, to }: { readonly from: string | undefined; readonly to: string | undefined }) {
  const may = useMay();
  const download = useMutation({
    mutationFn: async () => {
      const time_zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
      const period = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      const csv = await api.vendor.exports.statement({ ...period, time_zone });
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([csv], { type: 'text/csv' }));
      link.download = `statement-${from ?? 'last-31-days'}-${to ?? 'today'}.csv`;
      link.click();
      URL.revokeObjectURL(link.href);
    },
    onError: (error) => notifications.show({ message: problemOf(error).message, color: 'red' }),
  });
  if (!may('exportVendorStatement')) return null;
  return (
    <Button
      variant="default"
      loading={download.isPending}
      onClick={() => download.mutate()}
      title="The chosen period, or the last 31 days where none is chosen"
      data-testid="export"
    >
      Download as CSV
    </Button>
  );
}
