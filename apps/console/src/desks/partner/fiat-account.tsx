import type { FiatLedger, FiatPayment } from '@causeway/sdk';
import { Anchor, SegmentedControl, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { List } from '../../ui/list.tsx';
import { Link, useGo, useParam, usePath, useSearch } from '../../ui/navigation.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Loaded, PageHead } from '../../ui/states.tsx';
import { Fact, Id, Money, Status, Time } from '../../ui/values.tsx';
import { DownloadFile } from './exports.tsx';

export default function FiatAccount() {
  const userId = useParam('userId');
  const accountId = useParam('accountId');
  const may = useMay();
  const query = useQuery({
    queryKey: ['fiat-account', userId, accountId],
    queryFn: async ({ signal }) => {
      const [account, { balance, currency }] = await Promise.all([
        api.fiatAccounts.get(userId, accountId, { signal }),
        api.fiatAccounts.ledger(userId, accountId, { limit: 1 }, { signal }),
      ]);
      return { account, balance, currency };
    },
  });
  return (
    <Loaded
      query={query}
      page={{ title: 'Fiat account', list: '/partner/fiat-accounts', listTitle: 'All fiat accounts' }}
    >
      {({ account, balance, currency }) => (
        <>
          <PageHead
            title="Fiat account"
            about={
              <>
                <Id value={account.id} whole name="account id" /> of{' '}
                <Anchor component={Link} to={`/partner/customers/${userId}`} underline="always">
                  this customer
                </Anchor>
              </>
            }
          />
          <Stack>
            <Panel title="Account">
              <dl style={{ margin: 0 }}>
                <Fact label="Status">
                  <Status value={account.status} />
                </Fact>
                <Fact label="Balance">
                  <span data-testid="balance">
                    <Money amount={balance} currency={currency} />
                  </span>
                </Fact>
                <Fact label="IBAN">{account.iban ?? 'not assigned yet'}</Fact>
                <Fact label="BIC">{account.bic ?? '–'}</Fact>
                <Fact label="Holder">{account.account_holder_name ?? '–'}</Fact>
                <Fact label="Bank">{account.bank_name ?? '–'}</Fact>
                <Fact label="Opened">
                  <Time at={account.created_at} />
                </Fact>
              </dl>
            </Panel>
            {may('exportFiatAccount') ? (
              <Panel title="Statement as a file" testId="statement-file">
                <DownloadFile
                  path={`/api/v1/partner/exports/fiat-accounts/${encodeURIComponent(account.id)}.csv`}
                  what="Every movement of this account with the balance after it."
                  testId="download-statement"
                />
              </Panel>
            ) : null}
            <Movements userId={userId} accountId={accountId} />
          </Stack>
        </>
      )}
    </Loaded>
  );
}

const KINDS: Readonly<Record<string, string>> = {
  deposit: 'Paid in',
  order_payment: 'Paid an order',
  order_payment_returned: 'Back from an order that stopped',
  collection: 'Collected for you',
};

function Movements({ userId, accountId }: { readonly userId: string; readonly accountId: string }) {
  const { view } = useSearch();
  const go = useGo();
  const path = usePath();
  const shown = view === 'payments' ? 'payments' : 'ledger';
  return (
    <Panel
      title={shown === 'ledger' ? 'Statement' : 'Payments'}
      actions={
        <SegmentedControl
          size="xs"
          aria-label="What to show"
          data={[
            { value: 'ledger', label: 'Statement' },
            { value: 'payments', label: 'Payments received' },
          ]}
          value={shown}
          onChange={(value) => go(path, { search: { view: value }, replace: true })}
          data-testid="movements-view"
        />
      }
    >
      {shown === 'ledger' ? (
        <List<FiatLedger['entries'][number]>
          key="ledger"
          id="ledger"
          queryKey={['fiat-ledger', userId, accountId]}
          load={async ({ limit, page: number }, signal) => {
            const page = await api.fiatAccounts.ledger(
              userId,
              accountId,
              { limit, page: number },
              { signal },
            );
            return { rows: page.entries, total: page.pagination.total };
          }}
          rowKey={({ id }) => id}
          columns={[
            { title: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
            { title: 'What', cell: ({ kind }) => KINDS[kind] ?? kind },
            { title: 'Reference', cell: ({ reference }) => reference ?? '–' },
            { title: 'Order', cell: ({ order_id }) => <OrderLink orderId={order_id} /> },
            {
              title: 'Amount',
              end: true,
              cell: ({ amount, direction }) => (
                <Money amount={direction === 'debit' ? `-${amount}` : amount} />
              ),
            },
            { title: 'Balance', end: true, cell: ({ balance_after }) => <Money amount={balance_after} /> },
          ]}
          empty="Nothing has moved yet"
        />
      ) : (
        <List<FiatPayment>
          key="payments"
          id="payments"
          queryKey={['fiat-payments', userId, accountId]}
          load={async ({ limit, page: number }, signal) => {
            const page = await api.fiatAccounts.payments(
              userId,
              accountId,
              { limit, page: number },
              { signal },
            );
            return { rows: page.payments, total: page.pagination.total };
          }}
          rowKey={({ id }) => id}
          columns={[
            { title: 'Received', cell: ({ received_at }) => <Time at={received_at} /> },
            { title: 'From', cell: ({ sender_name }) => sender_name ?? '–' },
            { title: 'Reference', cell: ({ reference }) => reference ?? '–' },
            { title: 'Status', cell: ({ status }) => <Status value={status} /> },
            { title: 'Order', cell: ({ order_id }) => <OrderLink orderId={order_id} /> },
            {
              title: 'Amount',
              end: true,
              cell: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
            },
          ]}
          empty="No payment has come in"
        />
      )}
    </Panel>
  );
}

function OrderLink({ orderId }: { readonly orderId: string | undefined }) {
  if (orderId === undefined) return '–';
  return <Id value={orderId} to={`/partner/orders/${orderId}`} name="order id" />;
}
