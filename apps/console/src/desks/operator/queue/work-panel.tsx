import type { Difference, Effect, ReviewedOffer } from '@causeway/sdk';
import { Alert, Code, Stack, Text } from '@mantine/core';
import { Empty } from '../../../ui/states.tsx';
import { Fact, Id, Money, Status, Time } from '../../../ui/values.tsx';
import { adviceOn, meaningOf } from './differences.ts';
import type { PanelProps } from './selection.ts';

/** Offers that wait, work that is stuck, and books that differ. */
export default function WorkPanel({ detail }: PanelProps) {
  if (detail.offer !== null) return <OfferPanel offer={detail.offer} />;
  if (detail.effect !== null) return <EffectPanel effect={detail.effect} />;
  if (detail.difference !== null) return <DifferencePanel difference={detail.difference} />;
  return <Empty title="There is nothing to decide any more" />;
}

function OfferPanel({ offer }: { readonly offer: ReviewedOffer }) {
  return (
    <dl data-testid="offer">
      <Fact label="Vendor">
        {offer.vendor_name}{' '}
        <Id value={offer.vendor_id} to={`/operator/vendors/${offer.vendor_id}`} name="vendor id" />
      </Fact>
      <Fact label="Wants to">
        {offer.side.toLowerCase()} {offer.crypto_currency} for {offer.fiat_currency}
      </Fact>
      <Fact label="Price">
        {offer.price === null
          ? `market and ${offer.margin_pct} percent`
          : `${offer.price} ${offer.fiat_currency} each`}
      </Fact>
      <Fact label="From">
        <Money amount={offer.min_amount} currency={offer.fiat_currency} />
      </Fact>
      <Fact label="To">
        <Money amount={offer.max_amount} currency={offer.fiat_currency} />
      </Fact>
      <Fact label="Can still trade">
        <Money amount={offer.available_balance} currency={offer.crypto_currency} />
      </Fact>
      <Fact label="Paid by">{offer.payment_options.map(({ network_slug }) => network_slug).join(', ')}</Fact>
      <Fact label="Countries">{offer.countries.join(', ') || 'all'}</Fact>
      <Fact label="Version">{offer.version}</Fact>
      <Fact label="Created">
        <Time at={offer.created_at} />
      </Fact>
    </dl>
  );
}

function EffectPanel({ effect }: { readonly effect: Effect }) {
  return (
    <Stack gap="md">
      <Text size="sm">{effect.meaning}</Text>
      {effect.last_error === null ? null : (
        <Alert color="red" title="Last error">
          <Code block>{effect.last_error}</Code>
        </Alert>
      )}
      <dl data-testid="effect">
        <Fact label="Kind">{effect.kind}</Fact>
        <Fact label="Status">
          <Status value={effect.status} />
        </Fact>
        <Fact label="Tries">{effect.attempts}</Fact>
        <Fact label="Begun">
          <Time at={effect.created_at} />
        </Fact>
        <Fact label="Next try">
          <Time at={effect.next_attempt_at} />
        </Fact>
        {effect.transaction === null ? null : (
          <>
            <Fact label="On chain">
              <Status value={effect.transaction.status} />
            </Fact>
            <Fact label="Nonce">{effect.transaction.nonce}</Fact>
            {effect.transaction.tx_hashes.map((hash) => (
              <Fact key={hash} label="Transaction">
                <Id value={hash} name="transaction" />
              </Fact>
            ))}
          </>
        )}
      </dl>
      {effect.remedies.length === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing can be done by hand at present; put it off or look again later.
        </Text>
      ) : null}
    </Stack>
  );
}

function DifferencePanel({ difference }: { readonly difference: Difference }) {
  return (
    <Stack gap="md">
      <Text size="sm">{adviceOn(difference.kind)}</Text>
      <dl data-testid="difference">
        <Fact label="Kind">{meaningOf(difference.kind)}</Fact>
        {difference.about === null ? null : <Fact label="About">{difference.about}</Fact>}
        {difference.asset === null ? null : <Fact label="Asset">{difference.asset}</Fact>}
        {difference.escrow_address === null ? null : (
          <Fact label="Escrow">
            <Id value={difference.escrow_address} name="escrow" />
          </Fact>
        )}
        <Fact label="Expected">{difference.expected}</Fact>
        <Fact label="Found">{difference.found}</Fact>
        {difference.difference === null ? null : (
          <Fact label="Difference">
            <Money amount={difference.difference} />
          </Fact>
        )}
        <Fact label="First seen">
          <Time at={difference.first_seen_at} />
        </Fact>
        <Fact label="Last seen">
          <Time at={difference.last_seen_at} />
        </Fact>
      </dl>
    </Stack>
  );
}
