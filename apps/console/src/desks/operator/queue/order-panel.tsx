import { Stack, Table, Text, Title } from '@mantine/core';
import { api } from '../../../api/client.ts';
import { Empty, Loaded } from '../../../ui/states.tsx';
import { Fact, Id, Money, Status, Time } from '../../../ui/values.tsx';
import { useOrderTrail } from './data.ts';
import { Document } from './document.tsx';
import { Revealed, WHY } from './reveal.tsx';
import type { PanelProps } from './selection.ts';

/** The order: where it stands, what each side has said and done. */
export default function OrderPanel({ detail }: PanelProps) {
  const query = useOrderTrail(detail.order_id);
  return (
    <Loaded query={query}>
      {({ order, timeline, funds, signatures, proofs }) => (
        <Stack gap="md" data-testid="order-panel">
          <Text size="sm" fw={600}>
            {funds.summary}
          </Text>
          <dl>
            <Fact label="Status">
              <Status value={order.status} />
            </Fact>
            {order.hold === null ? null : (
              <Fact label="On hold since">
                <Time at={order.hold.since} /> ({order.hold.reason.toLowerCase().replaceAll('_', ' ')})
              </Fact>
            )}
            <Fact label="Way">{order.direction === 'onramp' ? 'Fiat to crypto' : 'Crypto to fiat'}</Fact>
            <Fact label="Crypto">
              <Money amount={order.crypto_amount} currency={order.crypto_currency} />
            </Fact>
            <Fact label="Fiat">
              <Money amount={order.fiat_amount} currency={order.fiat_currency} />
            </Fact>
            <Fact label="Customer’s KYC">
              <Status value={order.kyc_status} />
            </Fact>
            <Fact label="Vendor">
              <Id
                value={order.vendor_id}
                {...(order.vendor_id === null ? {} : { to: `/operator/vendors/${order.vendor_id}` })}
                name="vendor id"
              />
            </Fact>
          </dl>
          <Title order={3} size="h6">
            What both sides say
          </Title>
          <Table.ScrollContainer minWidth={0}>
            <Table fz="sm" data-testid="statements">
              <Table.Tbody>
                <Table.Tr>
                  <Table.Th scope="row">
                    {order.direction === 'onramp' ? 'Partner, buyer' : 'Partner, seller'}
                  </Table.Th>
                  <Table.Td>
                    {saidBy(
                      signatures,
                      funds.escrow?.owners,
                      order.direction === 'onramp' ? 'buyer' : 'seller',
                    )}
                  </Table.Td>
                </Table.Tr>
                <Table.Tr>
                  <Table.Th scope="row">
                    {order.direction === 'onramp' ? 'Vendor, seller' : 'Vendor, buyer'}
                  </Table.Th>
                  <Table.Td>
                    {saidBy(
                      signatures,
                      funds.escrow?.owners,
                      order.direction === 'onramp' ? 'seller' : 'buyer',
                    )}
                    {proofs.length === 0
                      ? ''
                      : ` ${proofs.length} payment ${proofs.length === 1 ? 'proof' : 'proofs'} handed in.`}
                  </Table.Td>
                </Table.Tr>
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
          <Title order={3} size="h6">
            What happened
          </Title>
          <Table.ScrollContainer minWidth={0}>
            <Table fz="sm">
              <Table.Tbody>
                {timeline.map(({ status, at, decision }) => (
                  <Table.Tr key={`${status}${at}${decision ?? ''}`}>
                    <Table.Td>
                      <Time at={at} />
                    </Table.Td>
                    <Table.Td>
                      {decision === undefined ? <Status value={status} /> : 'KYC waived by an operator'}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        </Stack>
      )}
    </Loaded>
  );
}

interface Signed {
  readonly purpose: string;
  readonly signer: string;
}

/** A signature is a statement: a release says that the payment came, a refund that it is to go back. */
function saidBy(
  signatures: readonly Signed[],
  owners: { readonly seller: string; readonly buyer: string } | undefined,
  side: 'seller' | 'buyer',
): string {
  const own = owners?.[side].toLowerCase();
  const signed = signatures
    .filter(({ signer }) => signer.toLowerCase() === own)
    .map(({ purpose }) => purpose);
  if (signed.length === 0) return 'Has signed nothing.';
  return signed
    .map((purpose) => (purpose === 'release' ? 'Has signed the release.' : 'Has signed the refund.'))
    .join(' ');
}

/** Where the money of the order is, and how it came there. */
export function OrderMoney({ detail }: PanelProps) {
  const query = useOrderTrail(detail.order_id);
  return (
    <Loaded query={query}>
      {({ funds }) => (
        <Stack gap="md" data-testid="order-money">
          <Text size="sm" fw={600}>
            {funds.summary}
          </Text>
          {funds.escrow === null ? null : (
            <dl>
              <Fact label="Escrow">
                <Id value={funds.escrow.address} name="escrow" />
              </Fact>
              <Fact label="Expected">
                <Money amount={funds.escrow.expected_amount} currency={funds.crypto_currency} />
              </Fact>
              <Fact label="Books say">
                <Money amount={funds.escrow.booked_amount} currency={funds.crypto_currency} />
              </Fact>
              <Fact label="Chain says">
                <Money amount={funds.escrow.balance_on_chain} currency={funds.crypto_currency} />
              </Fact>
              <Fact label="Held beside it">
                <Money amount={funds.escrow.held_amount} currency={funds.crypto_currency} />
              </Fact>
            </dl>
          )}
          {funds.movements.length === 0 ? (
            <Empty title="Nothing has moved yet" />
          ) : (
            <Table.ScrollContainer minWidth={420}>
              <Table fz="xs">
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th scope="col">When</Table.Th>
                    <Table.Th scope="col">Account</Table.Th>
                    <Table.Th scope="col" ta="end">
                      Amount
                    </Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {funds.movements.flatMap(({ kind, at, postings }) =>
                    postings.map(({ account, asset, amount }) => (
                      <Table.Tr key={`${kind}${at}${account}${asset}`}>
                        <Table.Td>
                          <Time at={at} />
                        </Table.Td>
                        <Table.Td>
                          {account.split(':')[0]} ({kind.replaceAll('_', ' ')})
                        </Table.Td>
                        <Table.Td ta="end">
                          <Money amount={amount} currency={asset.split('@')[0] ?? ''} />
                        </Table.Td>
                      </Table.Tr>
                    )),
                  )}
                </Table.Tbody>
              </Table>
            </Table.ScrollContainer>
          )}
        </Stack>
      )}
    </Loaded>
  );
}

/** The proof of a vendor’s payment beside what it should show. */
export function ProofPanel({ detail }: PanelProps) {
  const query = useOrderTrail(detail.order_id);
  return (
    <Stack gap="md">
      <Revealed
        operation="revealProof"
        what="the proof"
        reveal={() => api.operator.proofs.reveal(detail.subject_id, { reason: WHY })}
      >
        {({ payment_reference, content_type, content }) => (
          <div data-testid="revealed">
            <dl>
              <Fact label="Reference">{payment_reference}</Fact>
            </dl>
            {content === null || content_type === null ? (
              <Text size="sm">No file was handed in.</Text>
            ) : (
              <Document contentType={content_type} content={content} name="Payment proof" />
            )}
          </div>
        )}
      </Revealed>
      <Loaded query={query}>
        {({ order, proofs }) => (
          <dl data-testid="should-show">
            <Fact label="It should show">
              <Money amount={order.fiat_amount} currency={order.fiat_currency} />
            </Fact>
            <Fact label="Paid by">{order.payment_network_slug}</Fact>
            <Fact label="Not before">
              <Time at={order.created_at} />
            </Fact>
            <Fact label="Order stands at">
              <Status value={order.status} />
            </Fact>
            <Fact label="Proofs so far">{proofs.map(({ verdict }) => verdict ?? 'waits').join(', ')}</Fact>
          </dl>
        )}
      </Loaded>
    </Stack>
  );
}
