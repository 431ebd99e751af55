import { SCREENING_STATUSES } from '@causeway/protocol/machines';
import type { ListRecipientsQuery, Recipient, RecipientInput } from '@causeway/sdk';
import { Select, SimpleGrid, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { List } from '../../ui/list.tsx';
import { useGo } from '../../ui/navigation.tsx';
import { Empty, PageHead } from '../../ui/states.tsx';
import { Id, Status, Time } from '../../ui/values.tsx';

export default function Recipients() {
  const go = useGo();
  const may = useMay();
  return (
    <>
      <PageHead
        title="Recipients"
        about="People and businesses that your customers pay out to. Each is screened; only those that are clear can be paid."
      >
        {may('createRecipient') ? <NewRecipient /> : null}
      </PageHead>
      <List<Recipient>
        id="recipients"
        queryKey={['recipients']}
        filters={[
          { name: 'search', label: 'Name or identifier', kind: 'text' },
          { name: 'screening_status', label: 'Screening', kind: 'one', options: SCREENING_STATUSES },
          { name: 'recipient_country', label: 'Country (DE)', kind: 'text' },
          { name: 'currency', label: 'Currency (EUR)', kind: 'text' },
          { name: 'rail', label: 'Rail', kind: 'text' },
        ]}
        load={async ({ filters, limit, offset }, signal) => {
          const page = await api.recipients.list({ ...filters, limit, offset } as ListRecipientsQuery, {
            signal,
          });
          return { rows: page.recipients, total: page.pagination.total };
        }}
        rowKey={({ recipient_id }) => recipient_id}
        onOpen={({ recipient_id }) => go(`/partner/recipients/${recipient_id}`)}
        columns={[
          { title: 'Name', cell: ({ recipient_name }) => recipient_name },
          { title: 'Kind', cell: ({ recipient_kind }) => recipient_kind },
          { title: 'Country', cell: ({ recipient_country }) => recipient_country },
          { title: 'Screening', cell: ({ screening_status }) => <Status value={screening_status} /> },
          { title: 'State', cell: ({ status }) => <Status value={status} /> },
          { title: 'Id', cell: ({ recipient_id }) => <Id value={recipient_id} name="recipient id" /> },
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty={<Empty title="No recipients found">Create one, then add where it is paid.</Empty>}
      />
    </>
  );
}

const TEXTS = [
  ['recipient_name', 'Name', '', true],
  ['recipient_country', 'Country', 'GH', true],
  ['recipient_native_name', 'Name in its own script', '', false],
] as const;
const OF_PERSON = [
  ['recipient_id_type', 'Kind of identity document', 'PASSPORT', false],
  ['recipient_id_number', 'Number of the document', '', false],
] as const;
const OF_BUSINESS = [['recipient_business_registration_number', 'Registration number', '', false]] as const;

function NewRecipient() {
  const go = useGo();
  const [kind, setKind] = useState('individual');
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const fields = [...TEXTS, ...(kind === 'business' ? OF_BUSINESS : OF_PERSON)];
  return (
    <FormDialog
      label="New recipient"
      submit="Create"
      testId="create-recipient"
      done="The recipient is created and will be screened."
      onOpen={() => setValues({})}
      run={() => {
        const said = fields.map(([name]) => [name, (values[name] ?? '').trim()] as const);
        const given = Object.fromEntries(said.filter(([, value]) => value !== ''));
        return api.recipients.create({ recipient_kind: kind, ...given } as RecipientInput);
      }}
      onDone={({ recipient_id }) => go(`/partner/recipients/${recipient_id}`)}
    >
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label="Kind"
          data={['individual', 'business']}
          value={kind}
          allowDeselect={false}
          onChange={(value) => setKind(value ?? 'individual')}
          data-testid="recipient-kind"
        />
        {fields.map(([name, label, placeholder, required]) => (
          <TextInput
            key={name}
            label={label}
            placeholder={placeholder}
            required={required}
            value={values[name] ?? ''}
            onChange={({ currentTarget: { value } }) => setValues({ ...values, [name]: value })}
            data-testid={name}
          />
        ))}
      </SimpleGrid>
    </FormDialog>
  );
}
