import type { User } from '@causeway/sdk';
import { Anchor, Button, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { api, consoleCall } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Link, useParam } from '../../ui/navigation.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Loaded, PageHead, Problem } from '../../ui/states.tsx';
import { Fact, Id, Money, Status, Time } from '../../ui/values.tsx';
import { CustomerKyc } from './customer-kyc.tsx';
import { nameOf } from './customers.tsx';
import { MaskedDetails } from './rail-form.tsx';

export default function Customer() {
  const userId = useParam('userId');
  const query = useQuery({
    queryKey: ['customer', userId],
    queryFn: ({ signal }) => api.users.get(userId, { signal }),
  });
  return (
    <Loaded
      query={query}
      page={{ title: 'Customer', list: '/partner/customers', listTitle: 'All customers' }}
    >
      {(user) => (
        <>
          <PageHead
            title="Customer"
            about={
              <>
                {user.email} · <Id value={user.id} name="customer id" />
              </>
            }
          />
          <Stack>
            <SimpleGrid cols={{ base: 1, lg: 2 }}>
              <Profile user={user} />
              <CustomerKyc user={user} />
            </SimpleGrid>
            <Orders userId={userId} />
            <PaymentDetails userId={userId} />
            <FiatAccounts userId={userId} />
            <Recipients />
          </Stack>
        </>
      )}
    </Loaded>
  );
}

function Profile({ user }: { readonly user: User }) {
  const may = useMay();
  const reveal = useMutation({
    mutationFn: () => consoleCall<User>('revealCustomer', { params: { user_uuid: user.id } }),
  });
  const shown = reveal.data ?? user;
  return (
    <Panel
      title="Profile"
      testId="profile"
      actions={
        may('revealCustomer') && reveal.data === undefined ? (
          <Button
            size="xs"
            variant="default"
            loading={reveal.isPending}
            onClick={() => reveal.mutate()}
            data-testid="reveal"
          >
            Show in full
          </Button>
        ) : null
      }
    >
      {reveal.isError ? <Problem error={reveal.error} /> : null}
      <dl style={{ margin: 0 }}>
        <Fact label="E-mail">{shown.email}</Fact>
        <Fact label="Name">{nameOf(shown.first_name, shown.last_name)}</Fact>
        <Fact label="Phone">{shown.phone_number ?? '–'}</Fact>
        <Fact label="Country">{shown.country_code ?? '–'}</Fact>
        <Fact label="Your reference">{shown.reference_id ?? '–'}</Fact>
        <Fact label="Created">
          <Time at={shown.created_at} />
        </Fact>
      </dl>
      <Text size="xs" c="dimmed">
        {reveal.data === undefined
          ? 'Masked. Showing it in full is noted with your name.'
          : 'Shown in full; that is noted with your name.'}
      </Text>
    </Panel>
  );
}

const SHOWN_ORDERS = 10;

function Orders({ userId }: { readonly userId: string }) {
  const query = useQuery({
    queryKey: ['orders', 'of', userId],
    queryFn: ({ signal }) => api.orders.list({ user_uuid: userId, limit: SHOWN_ORDERS }, { signal }),
  });
  return (
    <Panel
      title="Orders"
      testId="customer-orders"
      actions={
        <Anchor component={Link} to={`/partner/orders?user_uuid=${userId}`} size="sm">
          All orders of this customer
        </Anchor>
      }
    >
      <Loaded query={query}>
        {({ orders }) =>
          orders.length === 0 ? (
            <Text size="sm" c="dimmed">
              No orders yet.
            </Text>
          ) : (
            <Rows
              heads={['Order', 'Status', 'Crypto', 'Fiat', 'Created']}
              rows={orders.map((order) => [
                <Id
                  key="id"
                  value={order.order_id}
                  to={`/partner/orders/${order.order_id}`}
                  name="order id"
                />,
                <Status key="status" value={order.status} />,
                <Money
                  key="crypto"
                  amount={order.amounts.crypto_amount}
                  currency={order.amounts.crypto_currency}
                />,
                <Money
                  key="fiat"
                  amount={order.amounts.fiat_amount}
                  currency={order.amounts.fiat_currency}
                />,
                <Time key="at" at={order.created_at} />,
              ])}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function PaymentDetails({ userId }: { readonly userId: string }) {
  const query = useQuery({
    queryKey: ['payment-details', userId],
    queryFn: ({ signal }) => api.paymentDetails.list(userId, { limit: 100 }, { signal }),
  });
  return (
    <Panel title="Payment details" testId="customer-payment-details">
      <Loaded query={query}>
        {({ payment_details }) =>
          payment_details.length === 0 ? (
            <Text size="sm" c="dimmed">
              No bank account is stored. One comes in with the customer’s first order, or by POST
              /partner/users/…/payment-details.
            </Text>
          ) : (
            <Rows
              heads={['Id', 'Rail', 'Account', 'Screening', 'Created']}
              rows={payment_details.map((one) => [
                String(one.id),
                `${one.rail} · ${one.currency}, ${one.country_code}`,
                <MaskedDetails key="details" details={one.details} />,
                <Status key="screening" value={one.screening_status} />,
                <Time key="at" at={one.created_at} />,
              ])}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

function FiatAccounts({ userId }: { readonly userId: string }) {
  const query = useQuery({
    queryKey: ['fiat-accounts', userId],
    queryFn: ({ signal }) => api.fiatAccounts.list(userId, { signal }),
    retry: false,
  });
  return (
    <Panel
      title="Fiat accounts"
      testId="customer-fiat-accounts"
      actions={
        <Anchor component={Link} to={`/partner/fiat-accounts?customer=${userId}`} size="sm">
          Identification and new accounts
        </Anchor>
      }
    >
      <Loaded query={query}>
        {({ accounts }) =>
          accounts.length === 0 ? (
            <Text size="sm" c="dimmed">
              No account at a bank was opened for this customer.
            </Text>
          ) : (
            <Rows
              heads={['Account', 'Status', 'IBAN', 'Currency', 'Opened']}
              rows={accounts.map((account) => [
                <Id
                  key="id"
                  value={account.id}
                  to={`/partner/fiat-accounts/${userId}/${account.id}`}
                  name="account id"
                />,
                <Status key="status" value={account.status} />,
                account.iban ?? '–',
                `${account.currency}, ${account.jurisdiction}`,
                <Time key="at" at={account.created_at} />,
              ])}
            />
          )
        }
      </Loaded>
    </Panel>
  );
}

/** They are yours, not one customer’s: any of your customers may send to them. */
function Recipients() {
  return (
    <Panel title="Recipients">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          Recipients belong to your account: every customer of yours may pay out to them.
        </Text>
        <Anchor component={Link} to="/partner/recipients" size="sm">
          Your recipients
        </Anchor>
      </Group>
    </Panel>
  );
}

/** A short table without filters. */
export function Rows({
  heads,
  rows,
}: {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly React.ReactNode[])[];
}) {
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            {heads.map((head) => (
              <Table.Th key={head} scope="col">
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((cells, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have no state of their own.
            <Table.Tr key={row}>
              {cells.map((cell, column) => (
                <Table.Td key={heads[column]}>{cell}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
