import { KYC_STATUSES } from '@causeway/protocol/machines';
import type { ListUsersQuery, User } from '@causeway/sdk';
import { SimpleGrid, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { List } from '../../ui/list.tsx';
import { useGo } from '../../ui/navigation.tsx';
import { Empty, PageHead } from '../../ui/states.tsx';
import { Id, Status, Time } from '../../ui/values.tsx';

export default function Customers() {
  const go = useGo();
  const may = useMay();
  return (
    <>
      <PageHead
        title="Customers"
        about="People you open orders for. Names and addresses are masked here; a customer’s page shows them in full to those who may."
      >
        {may('createUser') ? <NewCustomer /> : null}
      </PageHead>
      <List<User>
        id="customers"
        queryKey={['customers']}
        filters={[
          { name: 'email', label: 'Whole e-mail address', kind: 'text' },
          { name: 'reference_id', label: 'Your reference', kind: 'text' },
          { name: 'kyc_status', label: 'KYC status', kind: 'one', options: KYC_STATUSES },
        ]}
        load={async ({ filters, limit, page: number }, signal) => {
          const query = { ...filters, limit, page: number } as ListUsersQuery;
          const page = await api.users.list(query, { signal });
          return { rows: page.users, total: page.pagination.total };
        }}
        rowKey={({ id }) => id}
        onOpen={({ id }) => go(`/partner/customers/${id}`)}
        columns={[
          { title: 'E-mail', cell: ({ email }) => email },
          { title: 'Name', cell: ({ first_name, last_name }) => nameOf(first_name, last_name) },
          { title: 'Your reference', cell: ({ reference_id }) => reference_id ?? '–' },
          { title: 'Country', cell: ({ country_code }) => country_code ?? '–' },
          { title: 'KYC', cell: ({ kyc }) => <Status value={kyc.status} /> },
          { title: 'Id', cell: ({ id }) => <Id value={id} name="customer id" /> },
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty={
          <Empty title="No customers found">
            Create one here, or by POST /partner/users. With a filter set: an e-mail address is found whole
            only.
          </Empty>
        }
      />
    </>
  );
}

export function nameOf(first: string | null, last: string | null): string {
  return [first, last].filter((part) => part !== null && part !== '').join(' ') || '–';
}

const FIELDS = [
  ['email', 'E-mail address', 'ada@example.com', true],
  ['reference_id', 'Your reference', 'customer-42', false],
  ['first_name', 'First name', '', false],
  ['last_name', 'Last name', '', false],
  ['phone_number', 'Phone number', '+4915112345678', false],
  ['country_code', 'Country', 'DE', false],
] as const;

function NewCustomer() {
  const go = useGo();
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  return (
    <FormDialog
      label="New customer"
      submit="Create"
      testId="create-customer"
      done="The customer is created."
      onOpen={() => setValues({})}
      run={() => {
        const said = Object.entries(values).filter(([, value]) => value.trim() !== '');
        return api.users.create({ email: '', ...Object.fromEntries(said) });
      }}
      onDone={({ id }) => go(`/partner/customers/${id}`)}
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {FIELDS.map(([name, label, placeholder, required]) => (
          <TextInput
            key={name}
            label={label}
            placeholder={placeholder}
            required={required}
            value={values[name] ?? ''}
            onChange={({ currentTarget: { value } }) => setValues({ ...values, [name]: value })}
            data-testid={`customer-${name}`}
          />
        ))}
      </SimpleGrid>
    </FormDialog>
  );
}
