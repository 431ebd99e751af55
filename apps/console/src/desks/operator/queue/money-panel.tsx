import type { HeldPayment, OperatorDeposit } from '@causeway/sdk';
import { Badge, SimpleGrid, Stack, Table, Title } from '@mantine/core';
import { api } from '../../../api/client.ts';
import { Empty } from '../../../ui/states.tsx';
import { Fact, Id, Money, Status, Time } from '../../../ui/values.tsx';
import { useOrderTrail } from './data.ts';
import { Revealed, WHY } from './reveal.tsx';
import type { PanelProps } from './selection.ts';

/** Money that came otherwise than awaited: into an escrow, or into a customer’s account. */
export default function MoneyPanel({ detail }: PanelProps) {
  if (detail.deposit !== null) return <DepositPanel deposit={detail.deposit} />;
  if (detail.fiat_payment !== null) return <FiatPanel payment={detail.fiat_payment} />;
  return <Empty title="There is nothing to decide any more" />;
}

function DepositPanel({ deposit }: { readonly deposit: OperatorDeposit }) {
  const { expected } = deposit;
  const rows = [
    [
      'Amount',
      <Money key="e" amount={expected.amount} currency={expected.token} />,
      <CameAmount key="c" deposit={deposit} />,
    ],
    [
      'From',
      <Id key="e" value={expected.sender} name="expected sender" />,
      <Id key="c" value={deposit.sender} name="sender" />,
    ],
    [
      'Token',
      <Id key="e" value={expected.token_address} name="expected token" />,
      <Id key="c" value={deposit.token_address} name="token" />,
    ],
  ] as const;
  const same = [
    expected.amount === deposit.amount,
    expected.sender.toLowerCase() === deposit.sender.toLowerCase(),
    expected.token_address.toLowerCase() === deposit.token_address.toLowerCase(),
  ];
  return (
    <Stack gap="md">
      <Table.ScrollContainer minWidth={0}>
        <Table data-testid="expected-and-came">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col"> </Table.Th>
              <Table.Th scope="col">Expected</Table.Th>
              <Table.Th scope="col">Came</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(([label, wanted, came], index) => (
              <Table.Tr key={label} data-mismatch={same[index] === false}>
                <Table.Th scope="row">{label}</Table.Th>
                <Table.Td>{wanted}</Table.Td>
                <Table.Td>
                  {came}
                  {same[index] === false ? (
                    <Badge size="xs" color="red" variant="light" tt="none" ml={6} data-testid="mismatch">
                      differs
                    </Badge>
                  ) : null}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <dl>
        <Fact label="What it is">{deposit.kind.replaceAll('_', ' ')}</Fact>
        <Fact label="Order stands at">
          <Status value={deposit.order_status} />
        </Fact>
        <Fact label="Chain">{deposit.chain}</Fact>
        <Fact label="Escrow">
          <Id value={deposit.escrow_address} name="escrow" />
        </Fact>
        <Fact label="Transaction">
          <Id value={deposit.tx_hash} name="transaction" />
        </Fact>
        <Fact label="Seen">
          <Time at={deposit.observed_at} />
        </Fact>
        {deposit.note === '' ? null : <Fact label="Note">{deposit.note}</Fact>}
      </dl>
    </Stack>
  );
}

function CameAmount({ deposit }: { readonly deposit: OperatorDeposit }) {
  return deposit.amount === null ? (
    <>{deposit.amount_atomic} units</>
  ) : (
    <Money amount={deposit.amount} currency={deposit.token} />
  );
}

function FiatPanel({ payment }: { readonly payment: HeldPayment }) {
  return (
    <Stack gap="md">
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <dl>
          <Fact label="Amount">
            <Money amount={payment.amount} currency={payment.currency} />
          </Fact>
          <Fact label="Received">
            <Time at={payment.received_at} />
          </Fact>
          <Fact label="Account">{payment.fiat_account_id}</Fact>
          <Fact label="Customer">
            <Id value={payment.user_id} name="customer id" />
          </Fact>
        </dl>
        <Revealed
          operation="revealFiatPayment"
          what="sender and reference"
          reveal={() => api.operator.fiatPayments.reveal(payment.payment_id, { reason: WHY })}
        >
          {({ sender_name, reference }) => (
            <dl data-testid="revealed">
              <Fact label="Sender">{sender_name ?? 'not told'}</Fact>
              <Fact label="Reference">{reference ?? 'none'}</Fact>
            </dl>
          )}
        </Revealed>
      </SimpleGrid>
      <Title order={3} size="h6">
        Orders it could pay
      </Title>
      <Table.ScrollContainer minWidth={0}>
        <Table fz="sm" data-testid="candidates">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Order</Table.Th>
              <Table.Th scope="col">Amount</Table.Th>
              <Table.Th scope="col">Status</Table.Th>
              <Table.Th scope="col">Created</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {payment.candidate_order_ids.map((orderId) => (
              <Candidate key={orderId} orderId={orderId} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}

function Candidate({ orderId }: { readonly orderId: string }) {
  const order = useOrderTrail(orderId).data?.order;
  return (
    <Table.Tr>
      <Table.Td>
        <Id value={orderId} to={`/operator/orders/${orderId}`} name="order id" />
      </Table.Td>
      <Table.Td>
        <Money amount={order?.fiat_amount} currency={order?.fiat_currency ?? null} />
      </Table.Td>
      <Table.Td>
        <Status value={order?.status} />
      </Table.Td>
      <Table.Td>
        <Time at={order?.created_at} />
      </Table.Td>
    </Table.Tr>
  );
}
