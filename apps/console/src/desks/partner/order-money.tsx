import type { Order, OrderFunds } from '@causeway/sdk';
import { Alert, Anchor, Card, Group, Stack, Table, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { shortId } from '../../ui/ids.ts';
import { Loaded } from '../../ui/states.tsx';
import { Copy, Fact, formatAmount, Id, Money, Status, Time } from '../../ui/values.tsx';
import { words } from '../../ui/words.ts';
import { useSigningTrust } from '../../wallet/trust.ts';
import { ACTOR_WORDS, accountWords, MOVEMENT_WORDS } from './order-words.ts';

export function useFunds(orderId: string, refetchMs: number | false) {
  return useQuery({
    queryKey: ['order', orderId, 'funds'],
    queryFn: ({ signal }) => api.orders.funds(orderId, { signal }),
    refetchInterval: refetchMs,
  });
}

/** A transaction or an address: at the chain’s explorer, or to copy where the chain has none. */
export function ChainLink({
  chain,
  kind,
  value,
}: {
  readonly chain: string | undefined;
  readonly kind: 'tx' | 'address';
  readonly value: string | null | undefined;
}) {
  const trust = useSigningTrust();
  const explorer = trust.data?.chains.find(({ slug }) => slug === chain)?.explorer_url ?? null;
  if (!value || explorer === null)
    return <Id value={value} name={kind === 'tx' ? 'transaction hash' : 'address'} />;
  return (
    <Group gap={2} wrap="nowrap" component="span" display="inline-flex">
      <Anchor href={`${explorer}/${kind}/${value}`} target="_blank" rel="noreferrer" ff="monospace" fz="xs">
        {shortId(value)}
      </Anchor>
      <Copy value={value} label={kind === 'tx' ? 'Copy transaction hash' : 'Copy address'} />
    </Group>
  );
}

/** What is paid, what arrives and who keeps what, in words that follow the amounts. */
export function Amounts({ order }: { readonly order: Order }) {
  const { amounts, fee_breakdown: fees, order_type: type } = order;
  const fiat = `${formatAmount(amounts.fiat_amount)} ${amounts.fiat_currency}`;
  const crypto = `${formatAmount(amounts.crypto_amount)} ${amounts.crypto_currency}`;
  const fee = (amount: string) => `${formatAmount(amount)} ${amounts.crypto_currency}`;
  const isOfframp = type === 'offramp';
  return (
    <Card withBorder data-testid="amounts">
      <Text fw={600} component="h2" size="sm" mb="xs">
        Amounts and fees
      </Text>
      <Text size="sm" mb="xs">
        {isOfframp
          ? `You lock ${crypto} and your own fee of ${fee(fees.partner_fee)} in escrow. The vendor pays the recipient ${fiat}, and then gets the crypto less the platform fee.`
          : `The customer pays the vendor ${fiat}. The vendor locks ${crypto} in escrow, which pays it to your wallet less the platform fee; your fee of ${fee(fees.partner_fee)} is in what you get, the rest is the customer’s.`}
      </Text>
      <dl>
        <Fact label="Fiat">
          <Money amount={amounts.fiat_amount} currency={amounts.fiat_currency} />
        </Fact>
        <Fact label="Crypto">
          <Money amount={amounts.crypto_amount} currency={amounts.crypto_currency} />
        </Fact>
        <Fact label="Rate">
          1 {amounts.crypto_currency} = {formatAmount(amounts.rate)} {amounts.fiat_currency}
        </Fact>
        <Fact label={`Platform fee (${fees.platform_fee_pct} %)`}>
          <Money amount={fees.platform_fee} currency={amounts.crypto_currency} />
        </Fact>
        <Fact label={`Your fee (${fees.partner_fee_pct} %)`}>
          <Money amount={fees.partner_fee} currency={amounts.crypto_currency} />
        </Fact>
        <Fact label="All fees">
          <Money amount={fees.total_fee} currency={amounts.crypto_currency} />
        </Fact>
      </dl>
    </Card>
  );
}

export function WhereIsTheMoney({
  orderId,
  refetchMs,
}: {
  readonly orderId: string;
  readonly refetchMs: number | false;
}) {
  const query = useFunds(orderId, refetchMs);
  return <Loaded query={query}>{(funds) => <Funds funds={funds} />}</Loaded>;
}

function Funds({ funds }: { readonly funds: OrderFunds }) {
  const { escrow, waiting_for: waiting, deposits, movements, chain, crypto_currency: currency } = funds;
  return (
    <Stack data-testid="funds">
      <Alert variant="light" color={funds.held_for_review ? 'orange' : 'blue'} title="Where is the money?">
        <Text size="sm" data-testid="funds-summary">
          {funds.summary}
        </Text>
        {waiting === null ? null : (
          <Text size="sm">
            It waits for {ACTOR_WORDS[waiting.actor] ?? waiting.actor}: {words(waiting.fact).toLowerCase()}
            {funds.deadline_at === null ? '.' : ' until '}
            {funds.deadline_at === null ? null : <Time at={funds.deadline_at} />}
          </Text>
        )}
      </Alert>
      {escrow === null ? null : (
        <dl>
          <Fact label={`Escrow on ${chain}`}>
            <ChainLink chain={chain} kind="address" value={escrow.address} />
          </Fact>
          <Fact label="State">
            <Status value={escrow.state} />
          </Fact>
          <Fact label="Expected">
            <Money amount={escrow.expected_amount} currency={currency} />
          </Fact>
          <Fact label="In the books">
            <Money amount={escrow.booked_amount} currency={currency} />
          </Fact>
          <Fact label="On chain now">
            {escrow.balance_on_chain === null ? (
              'no node answers'
            ) : (
              <Money amount={escrow.balance_on_chain} currency={currency} />
            )}
          </Fact>
        </dl>
      )}
      {deposits.length === 0 ? null : (
        <Table.ScrollContainer minWidth={0}>
          <Table fz="sm">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Paid in</Table.Th>
                <Table.Th scope="col">Status</Table.Th>
                <Table.Th scope="col">Transaction</Table.Th>
                <Table.Th scope="col">At</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {deposits.map((deposit) => (
                <Table.Tr key={deposit.deposit_id}>
                  <Table.Td>
                    <Money amount={deposit.amount ?? deposit.amount_atomic} currency={deposit.token} />
                  </Table.Td>
                  <Table.Td title={deposit.says}>
                    <Status value={deposit.status} />
                  </Table.Td>
                  <Table.Td>
                    <ChainLink chain={chain} kind="tx" value={deposit.tx_hash} />
                  </Table.Td>
                  <Table.Td>
                    <Time at={deposit.observed_at} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      <Movements movements={movements} />
    </Stack>
  );
}

function Movements({ movements }: Pick<OrderFunds, 'movements'>) {
  if (movements.length === 0)
    return (
      <Text size="sm" c="dimmed">
        Nothing has moved yet.
      </Text>
    );
  return (
    <Stack gap="xs" component="ol" m={0} pl="lg">
      {movements.map(({ kind, at, postings }) => (
        <li key={`${kind} ${at}`}>
          <Text size="sm">
            {MOVEMENT_WORDS[kind] ?? words(kind)}, <Time at={at} />
          </Text>
          {postings.map(({ account, asset, amount }) => (
            <Text size="xs" c="dimmed" key={`${account} ${asset} ${amount}`}>
              {accountWords(account)}: {formatAmount(amount)} {asset}
            </Text>
          ))}
        </li>
      ))}
    </Stack>
  );
}
