import type { Offer } from '@causeway/sdk';
import { Badge, Button, Card, Group, Text } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { List } from '../../ui/list.tsx';
import { Empty, PageHead } from '../../ui/states.tsx';
import { Money, Time } from '../../ui/values.tsx';
import { OnlineSwitch, useProfile } from './online-switch.tsx';

const OfferForm = lazy(() => import('./offer-form.tsx'));

/** Nothing is left to trade: the offer stays, but nothing new is matched with it. */
const isPaused = ({ available_balance }: Offer) => /^0*(?:\.0*)?$/.test(available_balance);

/** A few by name, the rest by number. */
function shortened(names: readonly string[]): string {
  const few = names.slice(0, 3).join(', ');
  return names.length > 3 ? `${few} and ${names.length - 3} more` : few;
}

export default function Offers() {
  const [edited, setEdited] = useState<Offer | 'new' | null>(null);
  const may = useMay();
  const profile = useProfile();
  return (
    <>
      <PageHead
        title="Offers"
        about="What you trade, at which price and over which rails. The operator authorizes an offer before orders are matched with it."
      >
        {may('createVendorOffer') ? (
          <Button onClick={() => setEdited('new')} data-testid="new-offer">
            New offer
          </Button>
        ) : null}
      </PageHead>
      <Card withBorder mb="md">
        <OnlineSwitch withMeaning />
        {profile.data?.active === false ? (
          <Text c="red" size="sm" mt="xs">
            The operator has switched you off: no orders come, whatever you choose here. Ask the operator.
          </Text>
        ) : null}
      </Card>
      <List<Offer>
        id="offers"
        queryKey={['vendor-offers']}
        load={async ({ limit, offset }, signal) => {
          const page = await api.vendor.offers.list({ limit, offset }, { signal });
          return { rows: page.offers, total: page.pagination.total };
        }}
        rowKey={({ offer_id }) => offer_id}
        columns={[
          {
            title: 'Offer',
            cell: ({ side, crypto_currency, fiat_currency, created_at }) => (
              <div style={{ whiteSpace: 'nowrap' }}>
                <b>
                  {side === 'SELL' ? 'Sell' : 'Buy'} {crypto_currency} for {fiat_currency}
                </b>
                <Text size="xs" c="dimmed" component="div">
                  since <Time at={created_at} />
                </Text>
              </div>
            ),
          },
          { title: 'State', cell: (offer) => <State offer={offer} /> },
          {
            title: 'Price',
            end: true,
            cell: ({ price, margin_pct, fiat_currency }) =>
              price === null ? (
                `market, ${margin_pct ?? '0'} % for you`
              ) : (
                <Money amount={price} currency={fiat_currency} />
              ),
          },
          {
            title: 'For orders of',
            end: true,
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
            cell: ({ payment_options, countries }) => (
              <Text size="sm" title={countries.join(', ')}>
                {shortened(payment_options.map(({ network_slug }) => network_slug))} · {shortened(countries)}
              </Text>
            ),
          },
          { title: 'Change', cell: (offer) => <Change offer={offer} edit={() => setEdited(offer)} /> },
        ]}
        empty={<Empty title="No offers yet">Without an offer no orders come. Begin with “New offer”.</Empty>}
      />
      {edited === null ? null : (
        <Suspense fallback={null}>
          <OfferForm offer={edited === 'new' ? null : edited} onClose={() => setEdited(null)} />
        </Suspense>
      )}
    </>
  );
}

function State({ offer }: { readonly offer: Offer }) {
  const [state, color] = !offer.authorized
    ? ['waits for the operator', 'orange']
    : isPaused(offer)
      ? ['paused', 'gray']
      : ['active', 'teal'];
  return (
    <Badge
      color={color}
      variant="light"
      tt="none"
      style={{ minWidth: 'max-content' }}
      data-testid="offer-state"
      data-state={state}
    >
      {state}
    </Badge>
  );
}

function Change({ offer, edit }: { readonly offer: Offer; readonly edit: () => void }) {
  const may = useMay();
  return (
    <Group gap={4}>
      <Button
        size="xs"
        variant="default"
        onClick={edit}
        disabled={!may('changeVendorOffer')}
        data-testid="edit-offer"
      >
        Change
      </Button>
      {isPaused(offer) ? null : (
        <Action
          variant="default"
          run={() => api.vendor.offers.update(offer.offer_id, { available_balance: '0' })}
          confirm="Nothing new is matched with this offer until you give it a balance again. Orders that it serves go on."
          done="Paused."
          disabled={!may('changeVendorOffer')}
          testId="pause-offer"
        >
          Pause
        </Action>
      )}
      <Action
        variant="subtle"
        color="red"
        run={() => api.vendor.offers.withdraw(offer.offer_id)}
        confirm="The offer is gone for good. Orders that it serves go on."
        done="Withdrawn."
        disabled={!may('withdrawVendorOffer')}
        testId="withdraw-offer"
      >
        Withdraw
      </Action>
    </Group>
  );
}
