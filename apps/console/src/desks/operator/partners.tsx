import type { NewPartner, Partner } from '@causeway/sdk';
import { Select, Switch, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { List } from '../../ui/list.tsx';
import { useGo } from '../../ui/navigation.tsx';
import { PageHead } from '../../ui/states.tsx';
import { Id, Time } from '../../ui/values.tsx';
import { useSigningTrust } from '../../wallet/trust.ts';
import { type Secret, SecretsShown } from './key-list.tsx';

export default function OperatorPartners() {
  const go = useGo();
  const [secrets, setSecrets] = useState<readonly Secret[]>([]);
  return (
    <>
      <PageHead title="Partners" about="Who sends customers here, on which terms.">
        <CreatePartner
          onCreated={({ secret_key, widget_key, webhook_secret }) =>
            setSecrets([
              { label: 'Secret key', value: secret_key.key },
              { label: 'Widget key', value: widget_key.key },
              { label: 'Webhook secret', value: webhook_secret },
            ])
          }
        />
      </PageHead>
      <List<Partner>
        id="partners"
        queryKey={['operator', 'partners']}
        load={async ({ limit, offset }, signal) => {
          const page = await api.operator.partners.list({ limit, offset }, { signal });
          return { rows: page.partners, total: page.pagination.total };
        }}
        rowKey={({ partner_id }) => partner_id}
        onOpen={({ partner_id }) => go(`/operator/partners/${partner_id}`)}
        columns={[
          { title: 'Name', cell: ({ name }) => name },
          {
            title: 'Partner',
            cell: ({ partner_id }) => (
              <Id value={partner_id} name="partner id" to={`/operator/partners/${partner_id}`} />
            ),
          },
          { title: 'Fee', cell: ({ platform_fee_pct }) => `${platform_fee_pct} %` },
          { title: 'Settles on', cell: ({ settlement_chain }) => settlement_chain },
          {
            title: 'Fiat accounts',
            cell: ({ fiat_accounts_enabled }) => (fiat_accounts_enabled ? 'yes' : 'no'),
          },
          { title: 'Collection', cell: ({ collection_enabled }) => (collection_enabled ? 'yes' : 'no') },
          { title: 'Since', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty="There is no partner yet"
      />
      <SecretsShown secrets={secrets} onClose={() => setSecrets([])} />
    </>
  );
}

const EMPTY = {
  name: '',
  settlement_chain: '',
  wallet_address: '',
  platform_fee_pct: '',
  fiat_accounts_enabled: false,
  collection_enabled: false,
};

function CreatePartner({ onCreated }: { readonly onCreated: (made: NewPartner) => void }) {
  const may = useMay();
  const chains = useSigningTrust().data?.chains ?? [];
  const [form, setForm] = useState(EMPTY);
  const set = (change: Partial<typeof EMPTY>) => setForm((before) => ({ ...before, ...change }));
  return (
    <FormDialog
      label="Create a partner"
      done="The partner is there"
      reason="optional"
      testId="create-partner"
      disabled={!may('createPartner')}
      isReady={form.name.trim() !== '' && form.settlement_chain !== '' && form.wallet_address.trim() !== ''}
      run={(reason) => {
        const { platform_fee_pct, ...rest } = form;
        return api.operator.partners.create({
          ...rest,
          name: form.name.trim(),
          wallet_address: form.wallet_address.trim(),
          ...(platform_fee_pct.trim() === '' ? {} : { platform_fee_pct: platform_fee_pct.trim() }),
          ...(reason === '' ? {} : { reason }),
        });
      }}
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
        data-testid="partner-name"
      />
      <Select
        label="Settles on"
        description="The chain on which its crypto is paid out and in"
        required
        data={chains.map(({ slug }) => slug)}
        value={form.settlement_chain === '' ? null : form.settlement_chain}
        onChange={(value) => set({ settlement_chain: value ?? '' })}
        data-testid="partner-chain"
      />
      <TextInput
        label="Wallet"
        description="With its EIP-55 capitals; it is screened before it is taken"
        required
        value={form.wallet_address}
        onChange={({ currentTarget }) => set({ wallet_address: currentTarget.value })}
        data-testid="partner-wallet"
      />
      <TextInput
        label="Platform’s fee in percent"
        description="Left empty: the deployment’s own"
        value={form.platform_fee_pct}
        onChange={({ currentTarget }) => set({ platform_fee_pct: currentTarget.value })}
        data-testid="partner-fee"
      />
      <Switch
        label="May open fiat accounts for its customers"
        checked={form.fiat_accounts_enabled}
        onChange={({ currentTarget }) => set({ fiat_accounts_enabled: currentTarget.checked })}
      />
      <Switch
        label="Deposits that match no order go to its master account"
        checked={form.collection_enabled}
        onChange={({ currentTarget }) => set({ collection_enabled: currentTarget.checked })}
      />
    </FormDialog>
  );
}
