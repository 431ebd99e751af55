import type { ReviewedOffer, VendorList } from '@causeway/sdk';
import { Box, Card, SimpleGrid, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { given, textOf } from '../../ui/filters.ts';
import { List } from '../../ui/list.tsx';
import { useParam } from '../../ui/navigation.tsx';
import { PageTabs } from '../../ui/page-tabs.tsx';
import { PartHead } from '../../ui/part-head.tsx';
import { Loaded, PageHead } from '../../ui/states.tsx';
import { Tone } from '../../ui/tone.tsx';
import { Fact, Id, Money, Status, Time } from '../../ui/values.tsx';
import { AuditList } from './audit-entries.tsx';
import { KeyList } from './key-list.tsx';
import { OrderList } from './orders.tsx';
import { PartyUsers } from './party-users.tsx';

type VendorRow = VendorList['vendors'][number];

export default function OperatorVendor() {
  const vendorId = useParam('vendorId');
  const query = useQuery({
    queryKey: ['operator', 'vendor', vendorId],
    queryFn: ({ signal }) => api.operator.vendors.get(vendorId, { signal }) as Promise<VendorRow>,
  });
  return (
    <Loaded query={query} page={{ title: 'Vendor', list: '/operator/vendors', listTitle: 'All vendors' }}>
      {(vendor) => <VendorView vendor={vendor} />}
    </Loaded>
  );
}

function VendorView({ vendor }: { readonly vendor: VendorRow }) {
  const may = useMay();
  const id = vendor.vendor_id;
  const next = !vendor.active;
  return (
    <>
      <PageHead title={vendor.name} about={<Id value={id} whole name="vendor id" />}>
        <Status value={vendor.active ? 'active' : 'disabled'} />
        <Action
          variant="light"
          reason
          color={next ? 'teal' : 'red'}
          confirm={
            next
              ? 'The vendor gets new orders again as soon as it is online and its offers are authorized.'
              : 'The vendor gets no new orders. Orders that it serves go on.'
          }
          done={next ? 'The vendor is active' : 'The vendor is inactive'}
          disabled={!may('changeVendor')}
          run={(reason) => api.operator.vendors.update(id, { active: next, reason })}
          testId="toggle-vendor"
        >
          {next ? 'Activate' : 'Deactivate'}
        </Action>
      </PageHead>
      <PageTabs
        tabs={[
          { value: 'about', title: 'About', content: () => <About vendor={vendor} /> },
          { value: 'offers', title: 'Offers', content: () => <Offers vendorId={id} /> },
          { value: 'orders', title: 'Orders', content: () => <OrderList vendorId={id} /> },
          {
            value: 'keys',
            title: 'Keys',
            content: () => (
              <KeyList
                queryKey={['operator', 'vendor-keys', id]}
                operation="createVendorKey"
                load={async (page, signal) => {
                  const { keys, pagination } = await api.operator.vendors.listKeys(id, page, { signal });
                  return { rows: keys, total: pagination.total };
                }}
                create={({ label, reason }) =>
                  api.operator.vendors.createKey(id, { label, ...(reason ? { reason } : {}) })
                }
              />
            ),
          },
          {
            value: 'users',
            title: 'Users',
            content: () => <PartyUsers desk="vendor" ownerId={id} />,
          },
          { value: 'audit', title: 'Audit', content: () => <AuditList subject={`vendors/${id}`} /> },
        ]}
      />
    </>
  );
}

function About({ vendor }: { readonly vendor: VendorRow }) {
  const { completed_orders: completed, failed_orders: failed, disputed_orders: disputed } = vendor.reputation;
  const all = completed + failed;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Card withBorder>
        <PartHead title="Vendor" />
        <Box component="dl" m={0}>
          <Fact label="Kind">{vendor.kind === 'p2p' ? 'peer to peer' : 'direct'}</Fact>
          <Fact label="Online">{vendor.online ? 'yes' : 'no, set by the vendor'}</Fact>
          <Fact label="Wallet">
            <Id value={vendor.wallet_address} whole name="wallet" />
          </Fact>
          <Fact label="Since">
            <Time at={vendor.created_at} />
          </Fact>
        </Box>
      </Card>
      <Card withBorder data-testid="reputation">
        <PartHead title="Reputation" />
        <Box component="dl" m={0}>
          <Fact label="Completed orders">{completed}</Fact>
          <Fact label="Cancelled by its own delay">{failed}</Fact>
          <Fact label="Disputed orders">{disputed}</Fact>
          <Fact label="Kept its word">
            {all === 0 ? 'nothing to judge yet' : `${Math.floor((completed * 100) / all)} %`}
          </Fact>
        </Box>
        <Text size="xs" c="dimmed" mt="xs">
          Counted when an order ends. Price and reputation decide whose offer is taken.
        </Text>
      </Card>
    </SimpleGrid>
  );
}

const STATES = [
  { value: 'false', label: 'Wait for authorization' },
  { value: 'true', label: 'Authorized' },
];

export function Offers({ vendorId }: { readonly vendorId: string }) {
  const may = useMay();
  return (
    <List<ReviewedOffer>
      id="offers"
      queryKey={['operator', 'offers', vendorId]}
      filters={[{ name: 'authorized', label: 'State', kind: 'one', options: STATES }]}
      load={async ({ filters, limit, offset }, signal) => {
        const authorized = textOf(filters, 'authorized');
        const page = await api.operator.offers.list(
          given({
            vendor_id: vendorId,
            authorized: authorized === undefined ? undefined : authorized === 'true',
            limit,
            offset,
          }),
          { signal },
        );
        return { rows: page.offers, total: page.pagination.total };
      }}
      rowKey={({ offer_id }) => offer_id}
      columns={[
        {
          title: 'Side',
          cell: ({ side, crypto_currency }) => `${side === 'SELL' ? 'sells' : 'buys'} ${crypto_currency}`,
        },
        { title: 'For', cell: ({ fiat_currency }) => fiat_currency },
        {
          title: 'Price',
          cell: ({ price, margin_pct, fiat_currency }) =>
            price === null ? (
              `market ${margin_pct ?? ''} %`
            ) : (
              <Money amount={price} currency={fiat_currency} />
            ),
        },
        {
          title: 'Range',
          cell: ({ min_amount, max_amount, fiat_currency }) => (
            <>
              <Money amount={min_amount} /> – <Money amount={max_amount} currency={fiat_currency} />
            </>
          ),
        },
        {
          title: 'Left',
          end: true,
          cell: ({ available_balance, crypto_currency }) => (
            <Money amount={available_balance} currency={crypto_currency} />
          ),
        },
        {
          title: 'Rails',
          cell: ({ payment_options }) => payment_options.map(({ network_slug }) => network_slug).join(', '),
        },
        {
          title: 'State',
          cell: ({ authorized }) => (
            <Tone tone={authorized ? 'good' : 'care'}>{authorized ? 'authorized' : 'waits for review'}</Tone>
          ),
        },
        {
          title: '',
          end: true,
          cell: ({ offer_id, authorized, version }) => (
            <Action
              variant="light"
              color={authorized ? 'red' : 'teal'}
              reason
              confirm={
                authorized
                  ? 'Nothing new is matched with the offer. Orders that it serves go on.'
                  : 'The offer is matched from now on, at the terms shown here.'
              }
              done={authorized ? 'The authorization is taken back' : 'The offer is authorized'}
              disabled={!may('decideOfferAuthorization')}
              run={(reason) =>
                api.operator.offers.decideAuthorization(offer_id, {
                  authorized: !authorized,
                  version,
                  reason,
                })
              }
              testId="authorize-offer"
            >
              {authorized ? 'Take back' : 'Authorize'}
            </Action>
          ),
        },
      ]}
      empty="The vendor has no offer"
    />
  );
}
