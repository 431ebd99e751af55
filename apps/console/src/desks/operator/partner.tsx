import type { Partner } from '@causeway/sdk';
import { Anchor, SimpleGrid, Switch, Text, Textarea, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Link, useParam } from '../../ui/navigation.tsx';
import { PageTabs } from '../../ui/page-tabs.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Loaded, PageHead } from '../../ui/states.tsx';
import { Fact, Id, Time } from '../../ui/values.tsx';
import { AuditList } from './audit-entries.tsx';
import { KeyList } from './key-list.tsx';
import { OrderList } from './orders.tsx';
import { PartnerWebhooks } from './partner-webhooks.tsx';
import { PartyUsers } from './party-users.tsx';

export default function OperatorPartner() {
  const partnerId = useParam('partnerId');
  const query = useQuery({
    queryKey: ['operator', 'partner', partnerId],
    queryFn: ({ signal }) => api.operator.partners.get(partnerId, { signal }),
  });
  return (
    <Loaded query={query} page={{ title: 'Partner', list: '/operator/partners', listTitle: 'All partners' }}>
      {(partner) => <PartnerView partner={partner} />}
    </Loaded>
  );
}

function PartnerView({ partner }: { readonly partner: Partner }) {
  const id = partner.partner_id;
  return (
    <>
      <PageHead title={partner.name} about={<Id value={id} whole name="partner id" />}>
        <Anchor
          component={Link}
          to={`/operator/requests?partner=${id}`}
          size="sm"
          data-testid="partner-requests"
        >
          API requests
        </Anchor>
      </PageHead>
      <PageTabs
        tabs={[
          { value: 'terms', title: 'Terms', content: () => <Terms partner={partner} /> },
          { value: 'orders', title: 'Orders', content: () => <OrderList partnerId={id} /> },
          {
            value: 'keys',
            title: 'Keys',
            content: () => (
              <KeyList
                queryKey={['operator', 'partner-keys', id]}
                operation="createPartnerKey"
                hasKinds
                load={async (page, signal) => {
                  const { keys, pagination } = await api.operator.partners.listKeys(id, page, { signal });
                  return { rows: keys, total: pagination.total };
                }}
                create={(given) => api.operator.partners.createKey(id, given)}
              />
            ),
          },
          { value: 'webhooks', title: 'Webhooks', content: () => <PartnerWebhooks partnerId={id} /> },
          {
            value: 'users',
            title: 'Users',
            content: () => <PartyUsers desk="partner" ownerId={id} />,
          },
          { value: 'audit', title: 'Audit', content: () => <AuditList subject={`partners/${id}`} /> },
        ]}
      />
    </>
  );
}

function Terms({ partner }: { readonly partner: Partner }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }}>
      <Settings partner={partner} />
      <Limits partner={partner} />
      <Origins partnerId={partner.partner_id} />
    </SimpleGrid>
  );
}

function Settings({ partner }: { readonly partner: Partner }) {
  const may = useMay();
  const begun = {
    name: partner.name,
    wallet_address: partner.wallet_address,
    platform_fee_pct: partner.platform_fee_pct,
    fiat_accounts_enabled: partner.fiat_accounts_enabled,
    collection_enabled: partner.collection_enabled,
  };
  const [form, setForm] = useState(begun);
  const set = (change: Partial<typeof begun>) => setForm((before) => ({ ...before, ...change }));
  const changed = Object.fromEntries(
    Object.entries(form).filter(([name, value]) => value !== begun[name as keyof typeof begun]),
  );
  const edit = (
    <FormDialog
      label="Change"
      done="The partner is changed"
      reason="required"
      variant="light"
      testId="change-partner"
      disabled={!may('changePartner')}
      onOpen={() => setForm(begun)}
      isReady={Object.keys(changed).length > 0}
      run={(reason) => api.operator.partners.update(partner.partner_id, { ...changed, reason })}
    >
      <Text size="sm">
        In force everywhere within a second. Quotes keep the fee, and accepted orders the wallet, that they
        were made with.
      </Text>
      <TextInput
        label="Name"
        value={form.name}
        onChange={({ currentTarget }) => set({ name: currentTarget.value })}
        data-testid="edit-name"
      />
      <TextInput
        label="Wallet"
        value={form.wallet_address}
        onChange={({ currentTarget }) => set({ wallet_address: currentTarget.value })}
        data-testid="edit-wallet"
      />
      <TextInput
        label="Platform’s fee in percent"
        value={form.platform_fee_pct}
        onChange={({ currentTarget }) => set({ platform_fee_pct: currentTarget.value.trim() })}
        data-testid="edit-fee"
      />
      <Switch
        label="May open fiat accounts for its customers"
        checked={form.fiat_accounts_enabled}
        onChange={({ currentTarget }) => set({ fiat_accounts_enabled: currentTarget.checked })}
        data-testid="edit-fiat-accounts"
      />
      <Switch
        label="Deposits that match no order go to its master account"
        checked={form.collection_enabled}
        onChange={({ currentTarget }) => set({ collection_enabled: currentTarget.checked })}
        data-testid="edit-collection"
      />
    </FormDialog>
  );
  return (
    <Panel title="Terms" actions={edit}>
      <dl>
        <Fact label="Platform’s fee">
          <span data-testid="fee">{partner.platform_fee_pct} %</span>
        </Fact>
        <Fact label="Settles on">{partner.settlement_chain}</Fact>
        <Fact label="Wallet">
          <Id value={partner.wallet_address} name="wallet" />
        </Fact>
        <Fact label="Fiat accounts">{partner.fiat_accounts_enabled ? 'allowed' : 'not allowed'}</Fact>
        <Fact label="Collection">{partner.collection_enabled ? 'on' : 'off'}</Fact>
        <Fact label="Since">
          <Time at={partner.created_at} />
        </Fact>
      </dl>
    </Panel>
  );
}

const LIMITS = [
  ['open_order_limit', 'Open orders', 'orders'],
  ['held_value_limit', 'Value of open orders', 'US dollars'],
  ['customer_open_order_limit', 'Open orders of one customer', 'orders'],
  ['customer_held_value_limit', 'Value of one customer’s open orders', 'US dollars'],
] as const;
type LimitName = (typeof LIMITS)[number][0];

/** A whole number, or nothing: then the deployment’s own limit holds. */
const isLimit = (text: string) => text === '' || /^\d{1,10}$/.test(text);

function Limits({ partner }: { readonly partner: Partner }) {
  const may = useMay();
  const begun = Object.fromEntries(LIMITS.map(([name]) => [name, String(partner[name] ?? '')])) as Record<
    LimitName,
    string
  >;
  const [form, setForm] = useState(begun);
  const changed = LIMITS.filter(([name]) => form[name] !== begun[name]);
  const edit = (
    <FormDialog
      label="Change the limits"
      done="The limits are changed"
      reason="required"
      variant="light"
      testId="change-limits"
      disabled={!may('changePartner')}
      onOpen={() => setForm(begun)}
      isReady={changed.length > 0 && changed.every(([name]) => isLimit(form[name]))}
      run={(reason) =>
        api.operator.partners.update(partner.partner_id, {
          ...Object.fromEntries(
            changed.map(([name]) => [name, form[name] === '' ? null : Number(form[name])]),
          ),
          reason,
        })
      }
    >
      <Text size="sm">
        Orders that are open stay open; a new one above a limit is refused. Left empty, the deployment’s own
        limit holds.
      </Text>
      {LIMITS.map(([name, label, unit]) => (
        <TextInput
          key={name}
          label={`${label} (${unit})`}
          inputMode="numeric"
          placeholder={partner.deployment_limits[name].toLocaleString('en')}
          value={form[name]}
          error={isLimit(form[name]) ? undefined : 'A whole number, or nothing'}
          onChange={({ currentTarget: { value } }) =>
            setForm((before) => ({ ...before, [name]: value.trim() }))
          }
          data-testid={name.replaceAll('_', '-')}
        />
      ))}
    </FormDialog>
  );
  return (
    <Panel title="Limits" actions={edit}>
      <dl>
        {LIMITS.map(([name, label, unit]) => (
          <Fact key={name} label={label}>
            <span data-testid={`shown-${name.replaceAll('_', '-')}`}>
              {(partner[name] ?? partner.deployment_limits[name]).toLocaleString('en')} {unit}
              {partner[name] === null ? ', the deployment’s own' : ''}
            </span>
          </Fact>
        ))}
      </dl>
    </Panel>
  );
}

function Origins({ partnerId }: { readonly partnerId: string }) {
  const may = useMay();
  const query = useQuery({
    queryKey: ['operator', 'origins', partnerId],
    queryFn: ({ signal }) => api.operator.partners.widgetOrigins(partnerId, { signal }),
  });
  const [text, setText] = useState('');
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return (
    <Loaded query={query}>
      {({ origins }) => (
        <Panel
          title="Widget"
          actions={
            <FormDialog
              label="Change the origins"
              done="The origins are changed"
              reason="required"
              variant="light"
              testId="change-origins"
              disabled={!may('setWidgetOrigins')}
              onOpen={() => setText(origins.join('\n'))}
              run={(reason) => api.operator.partners.setWidgetOrigins(partnerId, { origins: lines, reason })}
            >
              <Textarea
                label="Pages that may show the widget, one a line"
                description="Scheme, host and port: https://shop.example or https://*.shop.example"
                autosize
                minRows={3}
                value={text}
                onChange={({ currentTarget }) => setText(currentTarget.value)}
                data-testid="origins"
              />
            </FormDialog>
          }
        >
          <dl>
            {origins.length === 0 ? (
              <Fact label="Origins">none: no page may show it</Fact>
            ) : (
              origins.map((origin) => (
                <Fact key={origin} label="Origin">
                  {origin}
                </Fact>
              ))
            )}
          </dl>
        </Panel>
      )}
    </Loaded>
  );
}
