import { ORDER_MACHINES } from '@causeway/protocol/machines';
import type { VendorOrderDetail } from '@causeway/sdk';
import { Alert, Card, Grid, Group, Stack, Table, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import type { LiveState } from '../../api/live-stream.ts';
import { useMay } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { Live } from '../../ui/live.tsx';
import { useParam } from '../../ui/navigation.tsx';
import { Loaded, PageHead } from '../../ui/states.tsx';
import { Fact, Id, Money, Status, Time } from '../../ui/values.tsx';
import { Countdown } from './countdown.tsx';
import { Decline } from './decline.tsx';
import { AnswerStep, Statements } from './dispute.tsx';
import { useVendorEvents, VENDOR_ORDERS_KEY } from './live.ts';
import { type NextStep, nextStepOf, stepWords } from './next-step.ts';
import {
  AcceptStep,
  ConfirmFiatStep,
  ConfirmSettlementStep,
  FundStep,
  Instructions,
  PayStep,
  SignRefundStep,
  SignReleaseStep,
} from './order-steps.tsx';

export default function VendorOrder() {
  const orderId = useParam('orderId');
  const live = useVendorEvents();
  const query = useQuery({
    queryKey: [...VENDOR_ORDERS_KEY, orderId],
    queryFn: ({ signal }) => api.vendor.orders.get(orderId, { signal }),
    // What the chain confirms is told by no event of the vendor’s.
    refetchInterval: 5_000,
  });
  return (
    <Loaded query={query} page={{ title: 'Order', list: '/vendor/orders', listTitle: 'All orders' }}>
      {(order) => <OrderPage order={order} live={live} />}
    </Loaded>
  );
}

/** What the machine says of a status, for people. */
function statusWords({ direction, status }: VendorOrderDetail): string {
  const { statuses } = ORDER_MACHINES[direction === 'offramp' ? 'offramp' : 'onramp'];
  return (statuses as Readonly<Record<string, { readonly says: string }>>)[status]?.says ?? '';
}

function OrderPage({ order, live }: { readonly order: VendorOrderDetail; readonly live: LiveState }) {
  const step = nextStepOf(order);
  const isSale = order.direction === 'onramp';
  return (
    <div data-testid="order" data-status={order.status} data-step={step}>
      <PageHead
        title={`${isSale ? 'Sell' : 'Buy'} ${order.crypto_amount} ${order.crypto_currency}`}
        about={statusWords(order)}
      >
        <Live state={live} />
        <Status value={order.status} />
      </PageHead>
      <Grid>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Stack>
            <Card withBorder data-testid="next-step">
              <Group justify="space-between" mb="sm" wrap="nowrap" align="flex-start">
                <Title order={2} size="h4">
                  {stepWords(step)}
                </Title>
                <Countdown until={order.respond_by ?? order.deadline_at} />
              </Group>
              <Step step={step} order={order} />
              {order.allowed_actions.includes('decline') ? (
                <Group mt="md">
                  <Decline order={order} />
                </Group>
              ) : null}
            </Card>
            {order.allowed_actions.includes('dispute') ? <OpenDispute order={order} /> : null}
            <Statements order={order} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack>
            <Facts order={order} />
            <Escrow order={order} />
            <Proofs order={order} />
          </Stack>
        </Grid.Col>
      </Grid>
    </div>
  );
}

function Step({ step, order }: { readonly step: NextStep; readonly order: VendorOrderDetail }) {
  switch (step) {
    case 'accept':
      return <AcceptStep order={order} />;
    case 'sign-refund':
      return <SignRefundStep order={order} />;
    case 'fund':
      return <FundStep order={order} />;
    case 'confirm-fiat':
      return <ConfirmFiatStep order={order} />;
    case 'pay':
      return <PayStep order={order} />;
    case 'confirm-settlement':
      return <ConfirmSettlementStep order={order} />;
    case 'answer-dispute':
      return <AnswerStep order={order} />;
    case 'sign-release':
      return <SignReleaseStep order={order} />;
    case 'wait-for-fiat':
      return order.payment_request ? (
        <Instructions order={order} title="Ask this payer for the money:" />
      ) : (
        <Waiting>You are told here when the customer says that it was paid.</Waiting>
      );
    case 'ended':
      return <Ended order={order} />;
    case 'held':
      return (
        <Waiting>An operator looks at this order. It goes on by itself when the review is over.</Waiting>
      );
    default:
      return <Waiting>Nothing to do now. This page changes by itself.</Waiting>;
  }
}

function Waiting({ children }: { readonly children: string }) {
  return <Text size="sm">{children}</Text>;
}

function Ended({ order }: { readonly order: VendorOrderDetail }) {
  if (order.failure === null)
    return <Waiting>The trade is done. It is in your earnings once the escrow has paid out.</Waiting>;
  return (
    <Alert color="orange" title={order.failure.code.replaceAll('_', ' ').toLowerCase()}>
      {order.failure.message}
    </Alert>
  );
}

function OpenDispute({ order }: { readonly order: VendorOrderDetail }) {
  const may = useMay();
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="xs">
        Something is wrong?
      </Title>
      <Text size="sm" mb="sm">
        {order.failure === null
          ? 'If the payment does not come, or not as agreed, open a dispute.'
          : 'The order was cancelled when you knew already where to pay. If you have paid, open a dispute before the review is over: after it the crypto goes back.'}{' '}
        Nothing moves then until the operator has decided; you can say what happened.
      </Text>
      <Action
        color="red"
        variant="light"
        run={() => api.vendor.orders.openDispute(order.order_id)}
        confirm="The order stops where it is, and the operator decides who gets the crypto."
        done="The dispute is open. Say what happened."
        disabled={!may('openVendorDispute')}
        testId="open-dispute"
      >
        Open a dispute
      </Action>
    </Card>
  );
}

function Facts({ order }: { readonly order: VendorOrderDetail }) {
  const isSale = order.direction === 'onramp';
  return (
    <Card withBorder>
      <Title order={2} size="h4" mb="xs">
        The trade
      </Title>
      <dl style={{ margin: 0 }}>
        <Fact label={isSale ? 'You give' : 'You get'}>
          <Money amount={order.crypto_amount} currency={order.crypto_currency} />
        </Fact>
        {isSale ? null : (
          <Fact label="Less the platform’s fee">
            <Money amount={order.platform_fee} currency={order.crypto_currency} />
          </Fact>
        )}
        <Fact label={isSale ? 'You get' : 'You pay'}>
          <Money amount={order.fiat_amount} currency={order.fiat_currency} />
        </Fact>
        <Fact label="Rate">
          <Money amount={order.rate} currency={order.fiat_currency} />
        </Fact>
        <Fact label="Rail">{order.payment_network_slug}</Fact>
        <Fact label="Network">{order.chain}</Fact>
        <Fact label="Order">
          <Id value={order.order_id} name="order id" />
        </Fact>
        <Fact label="Offered">
          <Time at={order.offered_at} />
        </Fact>
        <Fact label="Changed">
          <Time at={order.updated_at} />
        </Fact>
        {order.hold === null ? null : <Fact label="Held">{order.hold.reason.replaceAll('_', ' ')}</Fact>}
      </dl>
    </Card>
  );
}

/** What the amount of an escrow means in its state. */
const AMOUNT_WORDS: Readonly<Record<string, string>> = { awaited: 'Expects', emptied: 'Held' };

function Escrow({
  order: { funding, signed, tx_hash, crypto_currency },
}: {
  readonly order: VendorOrderDetail;
}) {
  if (funding === null) return null;
  return (
    <Card withBorder data-testid="escrow" data-state={funding.state}>
      <Title order={2} size="h4" mb="xs">
        The escrow
      </Title>
      <dl style={{ margin: 0 }}>
        <Fact label="State">
          <Status value={funding.state} />
        </Fact>
        <Fact label="Address">
          <Id value={funding.escrow_address} name="escrow address" />
        </Fact>
        <Fact label={AMOUNT_WORDS[funding.state] ?? 'Holds'}>
          <Money amount={funding.amount} currency={crypto_currency} />
        </Fact>
        <Fact label="You signed">
          {[signed.refund ? 'refund' : null, signed.release ? 'release' : null].filter(Boolean).join(', ') ||
            '–'}
        </Fact>
        <Fact label="Transaction">
          <Id value={tx_hash} name="transaction" />
        </Fact>
      </dl>
      {funding.deposits.length === 0 ? null : (
        <Table.ScrollContainer minWidth={0}>
          <Table fz="sm" mt="xs">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Found on chain</Table.Th>
                <Table.Th scope="col">Is</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {funding.deposits.map(({ deposit_id, tx_hash: hash, disposition }) => (
                <Table.Tr key={deposit_id}>
                  <Table.Td>
                    <Id value={hash} name="transaction" />
                  </Table.Td>
                  <Table.Td>
                    <Status value={disposition} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Card>
  );
}

function Proofs({ order: { proofs } }: { readonly order: VendorOrderDetail }) {
  if (proofs.length === 0) return null;
  return (
    <Card withBorder data-testid="proofs">
      <Title order={2} size="h4" mb="xs">
        Payment proofs
      </Title>
      <dl style={{ margin: 0 }}>
        {proofs.map(({ proof_id, verdict, submitted_at }) => (
          <Fact key={proof_id} label="Handed in">
            <Time at={submitted_at} /> <Status value={verdict ?? 'waits for review'} />
          </Fact>
        ))}
      </dl>
    </Card>
  );
}
