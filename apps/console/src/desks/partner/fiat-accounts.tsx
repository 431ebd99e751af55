import type { FiatAccountsConfig, IdentificationInput } from '@causeway/sdk';
import { Alert, Group, Select, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { useGo, useSearch } from '../../ui/navigation.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Empty, Loaded, PageHead } from '../../ui/states.tsx';
import { Fact, Id, Status, Time } from '../../ui/values.tsx';
import { Rows } from './customer.tsx';
import { CustomerPicker } from './customer-picker.tsx';

export default function FiatAccounts() {
  const go = useGo();
  const { customer } = useSearch();
  const userId = typeof customer === 'string' ? customer : '';
  const config = useQuery({
    queryKey: ['fiat-accounts-config'],
    queryFn: ({ signal }) => api.fiatAccounts.config({ signal }),
  });
  return (
    <>
      <PageHead
        title="Fiat accounts"
        about="Accounts at a bank in your customers’ own names. What is paid in there pays their orders."
      />
      <Loaded query={config}>
        {(settings) => (
          <Stack>
            {settings.enabled ? (
              <Text size="sm" data-testid="fiat-enabled">
                Available in {settings.currencies.map(({ currency }) => currency).join(', ')}.{' '}
                {settings.collection_enabled
                  ? 'Payments that pay no order are collected for you.'
                  : 'Payments that pay no order stay on the account.'}
              </Text>
            ) : (
              <Alert color="yellow" title="Not enabled for your account" data-testid="fiat-disabled">
                New accounts cannot be opened. Ask the operator of this service to enable fiat accounts for
                you; it is a setting of your account there, and nothing changes in your integration. Accounts
                that exist stay readable.
              </Alert>
            )}
            <CustomerPicker
              value={userId}
              onChange={(chosen) =>
                go('/partner/fiat-accounts', {
                  search: { customer: chosen === '' ? undefined : chosen },
                  replace: true,
                })
              }
            />
            {userId === '' ? (
              <Empty title="Choose a customer">
                Accounts belong to a customer; the newest customers are offered.
              </Empty>
            ) : (
              <OfCustomer key={userId} userId={userId} config={settings} />
            )}
          </Stack>
        )}
      </Loaded>
    </>
  );
}

function OfCustomer({ userId, config }: { readonly userId: string; readonly config: FiatAccountsConfig }) {
  const may = useMay();
  const accounts = useQuery({
    queryKey: ['fiat-accounts', userId],
    queryFn: ({ signal }) => api.fiatAccounts.list(userId, { signal }),
  });
  return (
    <>
      <Identification userId={userId} isEnabled={config.enabled} />
      <Panel
        title="Accounts"
        testId="accounts"
        actions={
          may('issueFiatAccount') && config.enabled ? <NewAccount userId={userId} config={config} /> : null
        }
      >
        <Loaded query={accounts}>
          {({ accounts: listed }) =>
            listed.length === 0 ? (
              <Text size="sm" c="dimmed">
                No account yet. The bank has to have approved the customer first.
              </Text>
            ) : (
              <Rows
                heads={['Account', 'Status', 'IBAN', 'Bank', 'Currency', 'Opened']}
                rows={listed.map((account) => [
                  <Id
                    key="id"
                    value={account.id}
                    to={`/partner/fiat-accounts/${userId}/${account.id}`}
                    name="account id"
                  />,
                  <Status key="status" value={account.status} />,
                  account.iban ?? 'not assigned yet',
                  account.bank_name ?? '–',
                  `${account.currency}, ${account.jurisdiction}`,
                  <Time key="at" at={account.created_at} />,
                ])}
              />
            )
          }
        </Loaded>
      </Panel>
    </>
  );
}

const STATUS_WORDS: Readonly<Record<string, string>> = {
  not_submitted: 'The bank has not been told about this customer. Hand the identification in.',
  pending: 'The bank is checking the customer.',
  approved: 'The bank has approved the customer: accounts can be opened.',
  rejected: 'The bank has refused the customer; no account can be opened.',
};

function Identification({ userId, isEnabled }: { readonly userId: string; readonly isEnabled: boolean }) {
  const may = useMay();
  const query = useQuery({
    queryKey: ['identification', userId],
    queryFn: ({ signal }) => api.fiatAccounts.getIdentification(userId, { signal }),
    retry: false,
  });
  return (
    <Loaded query={query}>
      {({ status, missing_fields: missing, rejection_reasons: reasons = [], submitted_at }) => (
        <Panel
          title="Identification at the bank"
          testId="identification"
          actions={
            isEnabled && status === 'not_submitted' && may('submitIdentification') ? (
              <Submit userId={userId} missing={missing} />
            ) : null
          }
        >
          <Group>
            <Status value={status} />
            <Text size="sm">{STATUS_WORDS[status] ?? ''}</Text>
          </Group>
          <dl style={{ margin: 0 }}>
            {missing.length === 0 ? null : (
              <Fact label="Still missing">
                {missing.map((field) => field.replaceAll('_', ' ')).join(', ')}
              </Fact>
            )}
            {reasons.length === 0 ? null : <Fact label="Reasons">{reasons.join(', ')}</Fact>}
            <Fact label="Handed in">
              <Time at={submitted_at} />
            </Fact>
          </dl>
        </Panel>
      )}
    </Loaded>
  );
}

function Submit({ userId, missing }: { readonly userId: string; readonly missing: readonly string[] }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  return (
    <FormDialog
      label="Hand in"
      title="Hand the identification in"
      testId="submit-identification"
      done="The bank has it."
      onOpen={() => setValues({})}
      run={() => api.fiatAccounts.submitIdentification(userId, values as IdentificationInput)}
    >
      <Text size="sm">
        {missing.length === 0
          ? 'Everything the bank needs is known from KYC.'
          : 'The bank also needs what KYC does not know:'}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {missing.map((field) => (
          <TextInput
            key={field}
            label={field.replaceAll('_', ' ')}
            required
            value={values[field] ?? ''}
            onChange={({ currentTarget: { value } }) => setValues({ ...values, [field]: value })}
            data-testid={`identification-${field}`}
          />
        ))}
      </SimpleGrid>
    </FormDialog>
  );
}

function NewAccount({ userId, config }: { readonly userId: string; readonly config: FiatAccountsConfig }) {
  const [currency, setCurrency] = useState(config.currencies[0]?.currency ?? '');
  const jurisdictions = config.currencies.find((one) => one.currency === currency)?.jurisdictions ?? [];
  const [chosen, setJurisdiction] = useState<string | null>(null);
  const jurisdiction = chosen !== null && jurisdictions.includes(chosen) ? chosen : (jurisdictions[0] ?? '');
  return (
    <FormDialog
      label="New account"
      submit="Open it"
      testId="issue-account"
      done="The account is being opened."
      run={() => api.fiatAccounts.issue(userId, { currency, jurisdiction })}
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Currency"
          data={config.currencies.map((one) => one.currency)}
          value={currency}
          allowDeselect={false}
          onChange={(value) => setCurrency(value ?? '')}
          data-testid="account-currency"
        />
        <Select
          label="Country of the bank"
          data={jurisdictions}
          value={jurisdiction}
          allowDeselect={false}
          onChange={setJurisdiction}
          data-testid="account-jurisdiction"
        />
      </SimpleGrid>
    </FormDialog>
  );
}
