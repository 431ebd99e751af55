import type { SandboxNewVendor, VendorList } from '@causeway/sdk';
import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { List } from '../../ui/list.tsx';
import { useGo } from '../../ui/navigation.tsx';
import { PageHead } from '../../ui/states.tsx';
import { Id, Status, Time } from '../../ui/values.tsx';
import { type Secret, SecretsShown } from './key-list.tsx';

type VendorRow = VendorList['vendors'][number];

export default function OperatorVendors() {
  const go = useGo();
  const [secrets, setSecrets] = useState<readonly Secret[]>([]);
  return (
    <>
      <PageHead title="Vendors" about="Who brings crypto and fiat, and how well they keep their word.">
        <CreateVendor
          onCreated={({ vendor_key }) => setSecrets([{ label: 'Vendor key', value: vendor_key.key }])}
        />
      </PageHead>
      <List<VendorRow>
        id="vendors"
        queryKey={['operator', 'vendors']}
        load={async ({ limit, offset }, signal) => {
          const page = await api.operator.vendors.list({ limit, offset }, { signal });
          return { rows: page.vendors, total: page.pagination.total };
        }}
        rowKey={({ vendor_id }) => vendor_id}
        onOpen={({ vendor_id }) => go(`/operator/vendors/${vendor_id}`)}
        columns={[
          { title: 'Name', cell: ({ name }) => name },
          {
            title: 'Vendor',
            cell: ({ vendor_id }) => (
              <Id value={vendor_id} name="vendor id" to={`/operator/vendors/${vendor_id}`} />
            ),
          },
          { title: 'Kind', cell: ({ kind }) => kind },
          { title: 'State', cell: ({ active }) => <Status value={active ? 'active' : 'disabled'} /> },
          { title: 'Online', cell: ({ online }) => (online ? 'yes' : 'no') },
          { title: 'Completed', end: true, cell: ({ reputation }) => reputation.completed_orders },
          { title: 'Failed', end: true, cell: ({ reputation }) => reputation.failed_orders },
          { title: 'Disputed', end: true, cell: ({ reputation }) => reputation.disputed_orders },
          { title: 'Since', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty="There is no vendor yet"
      />
      <SecretsShown secrets={secrets} onClose={() => setSecrets([])} />
    </>
  );
}

const EMPTY = { name: '', wallet_address: '', kind: 'p2p' as 'p2p' | 'direct' };

function CreateVendor({ onCreated }: { readonly onCreated: (made: SandboxNewVendor) => void }) {
  const may = useMay();
  const [form, setForm] = useState(EMPTY);
  const set = (change: Partial<typeof EMPTY>) => setForm((before) => ({ ...before, ...change }));
  return (
    <FormDialog
      label="Create a vendor"
      done="The vendor is there"
      reason="optional"
      testId="create-vendor"
      disabled={!may('createVendor')}
      isReady={form.name.trim() !== '' && form.wallet_address.trim() !== ''}
      run={(reason) =>
        api.operator.vendors.create({
          name: form.name.trim(),
          wallet_address: form.wallet_address.trim(),
          kind: form.kind,
          ...(reason === '' ? {} : { reason }),
        })
      }
      onDone={(made) => {
        setForm(EMPTY);
        onCreated(made);
      }}
    >
      <TextInput
        label="Name"
        description="Unique"
        required
        value={form.name}
        onChange={({ currentTarget }) => set({ name: currentTarget.value })}
        data-testid="vendor-name"
      />
      <TextInput
        label="Wallet"
        description="With its EIP-55 capitals; it is screened before it is taken"
        required
        value={form.wallet_address}
        onChange={({ currentTarget }) => set({ wallet_address: currentTarget.value })}
        data-testid="vendor-wallet"
      />
      <Select
        label="Kind"
        data={[
          { value: 'p2p', label: 'Peer to peer: people with their own accounts' },
          { value: 'direct', label: 'Direct: a provider with an account of its own' },
        ]}
        value={form.kind}
        allowDeselect={false}
        onChange={(value) => set({ kind: value === 'direct' ? 'direct' : 'p2p' })}
        data-testid="vendor-kind"
      />
    </FormDialog>
  );
}
