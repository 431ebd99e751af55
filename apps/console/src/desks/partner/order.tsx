import { HOLD_REASONS, type HoldReason, ORDER_FAILURES } from '@causeway/protocol/failures';
import type { Order } from '@causeway/sdk';
import { Alert, Card, Grid, Group, SimpleGrid, Stack, Text, Timeline } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useLiveOrders } from '../../api/live.ts';
import { useSession } from '../../api/session.ts';
import { directionOf } from '../../order/layout.ts';
import { OrderMachine } from '../../order/machine.tsx';
import { Live } from '../../ui/live.tsx';
import { useParam } from '../../ui/navigation.tsx';
import { Loaded, PageHead } from '../../ui/states.tsx';
import { Fact, Id, Status, Time } from '../../ui/values.tsx';
import { words } from '../../ui/words.ts';
import { OrderActions } from './order-actions.tsx';
import { OrderDetails } from './order-log.tsx';
import { Amounts, ChainLink, useFunds } from './order-money.tsx';
import { SandboxPanel } from './order-sandbox.tsx';
import { ACTOR_WORDS, ORDER_TYPE_WORDS } from './order-words.ts';

/** Steps that no event tells of are seen by looking, while something is still to come. */
const LOOK_AGAIN_MS = 3_000;

export default function PartnerOrder() {
  const orderId = useParam('orderId');
  const live = useLiveOrders(orderId);
  const query = useQuery({
    queryKey: ['order', orderId],
    queryFn: ({ signal }) => api.orders.get(orderId, { signal }),
    refetchInterval: ({ state }) => (isMoving(state.data) ? LOOK_AGAIN_MS : false),
  });
  return (
    <Loaded query={query} page={{ title: 'Order', list: '/partner/orders', listTitle: 'All orders' }}>
      {(order) => (
        <>
          <PageHead
            title={
              <Group gap="sm" component="span">
                {ORDER_TYPE_WORDS[order.order_type] ?? order.order_type} order
                <span data-testid="order-status">
                  <Status value={order.status} />
                </span>
              </Group>
            }
            about={<Id value={order.order_id} whole name="order id" />}
          >
            <Live state={live} />
          </PageHead>
          <OrderPage order={order} />
        </>
      )}
    </Loaded>
  );
}

/** Whether anything but the partner may still change it. */
function isMoving(order: Order | undefined): boolean {
  return order !== undefined && order.next_action !== 'none';
}

function OrderPage({ order }: { readonly order: Order }) {
  const { environment } = useSession();
  const refetchMs = isMoving(order) ? LOOK_AGAIN_MS : false;
  return (
    <Stack>
      <Reasons order={order} />
      <SimpleGrid cols={{ base: 1, md: environment === 'sandbox' ? 2 : 1 }}>
        <OrderActions order={order} />
        {environment === 'sandbox' ? <SandboxPanel order={order} /> : null}
      </SimpleGrid>
      <Grid>
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack>
            <Card withBorder>
              <Text fw={600} component="h2" size="sm">
                Where it is
              </Text>
              <OrderMachine direction={directionOf(order.order_type)} order={order} />
            </Card>
            <Card withBorder>
              <OrderDetails order={order} refetchMs={refetchMs} />
            </Card>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <Stack>
            <Amounts order={order} />
            <Facts order={order} />
            <History order={order} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  );
}

/** Why it stopped or stands still, and what to do about it. */
function Reasons({ order: { failure, cancelled_by: by, hold } }: { readonly order: Order }) {
  const known = failure === null ? undefined : ORDER_FAILURES[failure.code as keyof typeof ORDER_FAILURES];
  return (
    <>
      {failure === null ? null : (
        <Alert
          color="red"
          variant="light"
          title={failure.message}
          data-testid="failure"
          data-code={failure.code}
        >
          <Text size="sm">
            {known?.when} {by === null ? '' : `Ended by ${ACTOR_WORDS[by] ?? by}.`}{' '}
            {failure.retryable
              ? 'A new order with the same request may succeed.'
              : 'The same request would fail again.'}
          </Text>
        </Alert>
      )}
      {hold === null ? null : (
        <Alert
          color="orange"
          variant="light"
          title="Held for review: nothing moves until an operator releases it"
          data-testid="hold"
          data-reason={hold.reason}
        >
          <Text size="sm">
            {HOLD_REASONS[hold.reason as HoldReason]?.when ?? words(hold.reason)} Since{' '}
            <Time at={hold.since} />.
          </Text>
        </Alert>
      )}
    </>
  );
}

function Facts({ order }: { readonly order: Order }) {
  const { data: funds } = useFunds(order.order_id, false);
  const recipient = order.recipient_context?.recipient.recipient_id;
  return (
    <Card withBorder>
      <Text fw={600} component="h2" size="sm" mb="xs">
        Details
      </Text>
      <dl>
        <Fact label="Reference">{order.reference_id ?? '–'}</Fact>
        <Fact label="Customer">
          <Id value={order.user_id} name="customer id" to={`/partner/customers/${order.user_id}`} />
        </Fact>
        {recipient === undefined ? null : (
          <Fact label="Recipient">
            <Id value={recipient} name="recipient id" to={`/partner/recipients/${recipient}`} />
          </Fact>
        )}
        <Fact label="Quote">
          <Id value={order.quote_id} name="quote id" />
        </Fact>
        <Fact label="Payment by">
          {words(order.payment_method_slug)}, {order.payment_network_slug}
        </Fact>
        {order.vendor_payment_details === undefined
          ? null
          : Object.entries(order.vendor_payment_details).map(([name, value]) => (
              <Fact key={name} label={`Pay to: ${words(name).toLowerCase()}`}>
                {value}
              </Fact>
            ))}
        <Fact label="Settling transaction">
          <ChainLink chain={funds?.chain} kind="tx" value={order.tx_hash} />
        </Fact>
        {order.send_out_tx_hash ? (
          <Fact label="Send-out transaction">
            <ChainLink chain={funds?.chain} kind="tx" value={order.send_out_tx_hash} />
          </Fact>
        ) : null}
        <Fact label="Created">
          <Time at={order.created_at} />
        </Fact>
        <Fact label="Changed">
          <Time at={order.updated_at} />
        </Fact>
      </dl>
    </Card>
  );
}

function History({ order }: { readonly order: Order }) {
  const entries = order.timeline;
  return (
    <Card withBorder data-testid="timeline">
      <Text fw={600} component="h2" size="sm" mb="sm">
        Timeline
      </Text>
      <Timeline active={entries.length} bulletSize={14} lineWidth={2}>
        <Timeline.Item title={<Text size="sm">Created</Text>}>
          <Text size="xs" c="dimmed" component="div">
            <Time at={order.created_at} />
          </Text>
        </Timeline.Item>
        {entries.map(({ status, at }, index) => (
          <Timeline.Item
            // biome-ignore lint/suspicious/noArrayIndexKey: a status may be passed twice, and entries only grow
            key={`${status} ${index}`}
            title={<Text size="sm">{words(status)}</Text>}
          >
            <Text size="xs" c="dimmed" component="div">
              <Time at={at} />
            </Text>
          </Timeline.Item>
        ))}
      </Timeline>
    </Card>
  );
}
