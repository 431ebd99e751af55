import type { Offer, OfferInput, Rail } from '@causeway/sdk';
import {
  Alert,
  Button,
  Group,
  Modal,
  MultiSelect,
  SegmentedControl,
  Select,
  SimpleGrid,
  Stack,
  TextInput,
} from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { Problem } from '../../ui/states.tsx';

const DECIMAL = /^\d+(?:\.\d+)?$/;

interface Draft {
  readonly side: OfferInput['side'];
  readonly crypto: string;
  readonly fiat: string;
  readonly pricing: 'margin' | 'price';
  readonly figure: string;
  readonly min: string;
  readonly max: string;
  readonly balance: string;
  readonly rails: readonly string[];
  readonly countries: readonly string[];
}

const EMPTY: Draft = {
  ...{ side: 'SELL', crypto: 'USDC', fiat: '', pricing: 'margin', figure: '', min: '', max: '' },
  ...{ balance: '', rails: [], countries: [] },
};

function draftOf(offer: Offer | null): Draft {
  if (offer === null) return EMPTY;
  return {
    side: offer.side,
    crypto: offer.crypto_currency,
    fiat: offer.fiat_currency,
    pricing: offer.price === null ? 'margin' : 'price',
    figure: offer.price ?? offer.margin_pct ?? '',
    min: offer.min_amount,
    max: offer.max_amount,
    balance: offer.available_balance,
    rails: offer.payment_options.map(({ network_slug }) => network_slug),
    countries: offer.countries,
  };
}

const termsOf = (draft: Draft) => ({
  ...(draft.pricing === 'margin' ? { margin_pct: draft.figure } : { price: draft.figure }),
  min_amount: draft.min,
  max_amount: draft.max,
  available_balance: draft.balance,
});

const sameItems = (left: readonly string[], right: readonly string[]) =>
  [...left].sort().join() === [...right].sort().join();

/** Only what was changed is sent: another range, rail or country waits for the operator again. */
function changesOf(offer: Offer, draft: Draft) {
  const before = draftOf(offer);
  const terms = termsOf(draft);
  const isPriced = draft.figure !== before.figure || draft.pricing !== before.pricing;
  return {
    ...(isPriced
      ? draft.pricing === 'margin'
        ? { margin_pct: draft.figure }
        : { price: draft.figure }
      : {}),
    ...(draft.min === before.min ? {} : { min_amount: terms.min_amount }),
    ...(draft.max === before.max ? {} : { max_amount: terms.max_amount }),
    ...(draft.balance === before.balance ? {} : { available_balance: terms.available_balance }),
    ...(sameItems(draft.countries, before.countries) ? {} : { countries: [...draft.countries] }),
    ...(sameItems(draft.rails, before.rails)
      ? {}
      : {
          payment_options: draft.rails.map(
            (network_slug) =>
              offer.payment_options.find((option) => option.network_slug === network_slug) ?? {
                network_slug,
              },
          ),
        }),
  };
}

function needsReview(changes: object): boolean {
  return ['min_amount', 'max_amount', 'countries', 'payment_options'].some((name) => name in changes);
}

export default function OfferForm({
  offer,
  onClose,
}: {
  readonly offer: Offer | null;
  readonly onClose: () => void;
}) {
  const [draft, setDraft] = useState(() => draftOf(offer));
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));
  const client = useQueryClient();
  const currencies = useQuery({
    queryKey: ['fiat-currencies'],
    queryFn: ({ signal }) => api.supported.fiatCurrencies({ signal }),
    staleTime: 300_000,
  });
  const rails = useQuery({
    queryKey: ['rails', draft.side, draft.fiat],
    queryFn: ({ signal }) =>
      api.supported.paymentRails(
        { currency: draft.fiat, direction: draft.side === 'SELL' ? 'onramp' : 'offramp' },
        { signal },
      ),
    enabled: draft.fiat !== '',
    staleTime: 300_000,
  });
  const changes = offer === null ? null : changesOf(offer, draft);
  const save = useMutation({
    mutationFn: () =>
      offer === null
        ? api.vendor.offers.create({
            side: draft.side,
            crypto_currency: draft.crypto,
            fiat_currency: draft.fiat,
            ...termsOf(draft),
            countries: [...draft.countries],
            payment_options: draft.rails.map((network_slug) => ({ network_slug })),
          })
        : api.vendor.offers.update(offer.offer_id, changes ?? {}),
    onSuccess: async ({ authorized }) => {
      notifications.show({
        message: authorized ? 'Saved. It counts at once.' : 'Saved. The operator looks at it first.',
        color: 'teal',
      });
      await client.invalidateQueries();
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const isComplete =
    [draft.figure, draft.min, draft.max, draft.balance].every((text) => DECIMAL.test(text)) &&
    draft.rails.length > 0 &&
    draft.countries.length > 0 &&
    (changes === null || Object.keys(changes).length > 0);
  return (
    <Modal
      opened
      onClose={onClose}
      title={offer === null ? 'New offer' : 'Change the offer'}
      size="lg"
      centered
    >
      <form onSubmit={submit} data-testid="offer-form">
        <Stack>
          {offer === null ? (
            <Pair draft={draft} set={set} fiats={(currencies.data ?? []).map(({ code }) => code)} />
          ) : null}
          <Terms draft={draft} set={set} />
          <Where draft={draft} set={set} rails={rails.data?.rails ?? []} />
          {changes !== null && needsReview(changes) ? (
            <Alert color="orange" data-testid="review-needed">
              Another range, rail or country waits for the operator again. Until then nothing is matched.
            </Alert>
          ) : null}
          {save.isError ? <Problem error={save.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" disabled={!isComplete} loading={save.isPending} data-testid="save-offer">
              Save
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface PartProps {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
}

function Pair({ draft, set, fiats }: PartProps & { readonly fiats: readonly string[] }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      <Select
        label="You"
        data={[
          { value: 'SELL', label: 'sell crypto (on-ramp)' },
          { value: 'BUY', label: 'buy crypto (off-ramp)' },
        ]}
        value={draft.side}
        allowDeselect={false}
        onChange={(side) => set({ side: side ?? 'SELL', rails: [] })}
        data-testid="offer-side"
      />
      <TextInput
        label="Crypto"
        required
        value={draft.crypto}
        onChange={({ currentTarget }) => set({ crypto: currentTarget.value.trim().toUpperCase() })}
        data-testid="offer-crypto"
      />
      <Select
        label="Fiat"
        required
        searchable
        data={[...fiats]}
        value={draft.fiat === '' ? null : draft.fiat}
        onChange={(fiat) => set({ fiat: fiat ?? '', rails: [], countries: [] })}
        data-testid="offer-fiat"
      />
    </SimpleGrid>
  );
}

function Terms({ draft, set }: PartProps) {
  const amount = (name: 'figure' | 'min' | 'max' | 'balance', label: string, description: string) => (
    <TextInput
      label={label}
      description={description}
      required
      inputMode="decimal"
      value={draft[name]}
      onChange={({ currentTarget }) => set({ [name]: currentTarget.value.trim() })}
      error={draft[name] === '' || DECIMAL.test(draft[name]) ? null : 'A number with a point, such as 250.00'}
      data-testid={`offer-${name}`}
    />
  );
  return (
    <>
      <SegmentedControl
        aria-label="How the price is made"
        data={[
          { value: 'margin', label: 'Follows the market' },
          { value: 'price', label: 'Fixed price' },
        ]}
        value={draft.pricing}
        onChange={(pricing) => set({ pricing: pricing === 'price' ? 'price' : 'margin', figure: '' })}
      />
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        {draft.pricing === 'margin'
          ? amount('figure', 'Margin, %', 'What you keep of the market’s rate')
          : amount('figure', 'Price', `${draft.fiat || 'Fiat'} for 1 ${draft.crypto}`)}
        {amount('balance', `Left to trade, ${draft.crypto}`, 'Beyond what open orders hold')}
        {amount('min', `Smallest order, ${draft.fiat}`, 'Fiat')}
        {amount('max', `Largest order, ${draft.fiat}`, 'Fiat')}
      </SimpleGrid>
    </>
  );
}

function Where({ draft, set, rails }: PartProps & { readonly rails: readonly Rail[] }) {
  const known = new Set([...rails.map(({ slug }) => slug), ...draft.rails]);
  const countries = new Set([
    ...rails.filter(({ slug }) => draft.rails.includes(slug)).flatMap((rail) => rail.countries),
    ...draft.countries,
  ]);
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      <MultiSelect
        label="Rails"
        required
        searchable
        data={[...known].map((slug) => ({
          value: slug,
          label: rails.find((rail) => rail.slug === slug)?.name ?? slug,
        }))}
        value={[...draft.rails]}
        onChange={(chosen) => set({ rails: chosen })}
        data-testid="offer-rails"
      />
      <MultiSelect
        label="Countries"
        description="Of the customers"
        required
        searchable
        data={[...countries].sort()}
        value={[...draft.countries]}
        onChange={(chosen) => set({ countries: chosen })}
        data-testid="offer-countries"
      />
    </SimpleGrid>
  );
}
