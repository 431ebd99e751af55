import type { Order } from '@causeway/sdk';
import { Anchor, Badge, Stack, Table, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { CodeBlock, Json } from '../../ui/code.tsx';
import { Link } from '../../ui/navigation.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Id, Status, Time } from '../../ui/values.tsx';
import { samplesOf } from './order-calls.ts';
import { WhereIsTheMoney } from './order-money.tsx';

const SHOWN = 50;

/** Everything about an order that is looked at rather than done. */
export function OrderDetails({
  order,
  refetchMs,
}: {
  readonly order: Order;
  readonly refetchMs: number | false;
}) {
  return (
    <Tabs defaultValue="money" keepMounted={false}>
      <Tabs.List mb="md">
        <Tabs.Tab value="money" data-testid="tab-money">
          Where is the money
        </Tabs.Tab>
        <Tabs.Tab value="calls" data-testid="tab-calls">
          Next call
        </Tabs.Tab>
        <Tabs.Tab value="requests" data-testid="tab-requests">
          API requests
        </Tabs.Tab>
        <Tabs.Tab value="webhooks" data-testid="tab-webhooks">
          Webhooks
        </Tabs.Tab>
        <Tabs.Tab value="json" data-testid="tab-json">
          JSON
        </Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="money">
        <WhereIsTheMoney orderId={order.order_id} refetchMs={refetchMs} />
      </Tabs.Panel>
      <Tabs.Panel value="calls">
        <Calls order={order} />
      </Tabs.Panel>
      <Tabs.Panel value="requests">
        <Requests orderId={order.order_id} />
      </Tabs.Panel>
      <Tabs.Panel value="webhooks">
        <Deliveries orderId={order.order_id} />
      </Tabs.Panel>
      <Tabs.Panel value="json">
        <Json value={order} label={`GET /api/v1/partner/orders/${order.order_id}`} />
      </Tabs.Panel>
    </Tabs>
  );
}

function Calls({ order }: { readonly order: Order }) {
  return (
    <Stack data-testid="calls">
      {samplesOf(order, location.origin).map(({ title, curl, code }) => (
        <Stack gap="xs" key={title}>
          <Text fw={600} size="sm" component="h3">
            {title}
          </Text>
          <CodeBlock code={curl} label="curl" />
          <CodeBlock code={code} label="TypeScript" />
        </Stack>
      ))}
    </Stack>
  );
}

function Requests({ orderId }: { readonly orderId: string }) {
  const query = useQuery({
    queryKey: ['order', orderId, 'requests'],
    queryFn: ({ signal }) => api.requestLog.list({ order_id: orderId, limit: SHOWN }, { signal }),
  });
  return (
    <Loaded query={query}>
      {({ requests }) =>
        requests.length === 0 ? (
          <Empty title="No request of a key about this order">
            The log has what keys asked, not what is done here.
          </Empty>
        ) : (
          <Table.ScrollContainer minWidth={600}>
            <Table fz="sm" data-testid="order-requests">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th scope="col">At</Table.Th>
                  <Table.Th scope="col">Request</Table.Th>
                  <Table.Th scope="col">Answer</Table.Th>
                  <Table.Th scope="col">Request id</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {requests.map((one) => (
                  <Table.Tr key={one.cursor}>
                    <Table.Td>
                      <Time at={one.at} />
                    </Table.Td>
                    <Table.Td>
                      {one.method} {one.path.split('/').slice(4).join('/')}
                    </Table.Td>
                    <Table.Td>
                      <Badge color={one.status < 400 ? 'teal' : 'red'} variant="light" tt="none">
                        {one.status} {one.error_code ?? ''}
                      </Badge>
                    </Table.Td>
                    <Table.Td>
                      <Id
                        value={one.request_id}
                        name="request id"
                        to={`/partner/requests?request_id=${encodeURIComponent(one.request_id)}`}
                      />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )
      }
    </Loaded>
  );
}

/** To every endpoint: the default one and those beside it. */
async function deliveriesAbout(orderId: string, signal: AbortSignal) {
  const { endpoints } = await api.webhookEndpoints.list({ signal });
  const pages = await Promise.all(
    endpoints.map(({ id }) =>
      api.webhookEndpoints.listDeliveries(id, { order_id: orderId, limit: SHOWN }, { signal }),
    ),
  );
  return pages.flatMap(({ deliveries }) => deliveries).sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
}

function Deliveries({ orderId }: { readonly orderId: string }) {
  const query = useQuery({
    queryKey: ['order', orderId, 'deliveries'],
    queryFn: ({ signal }) => deliveriesAbout(orderId, signal),
  });
  return (
    <Loaded query={query}>
      {(deliveries) =>
        deliveries.length === 0 ? (
          <Empty title="No webhook about this order">
            Events are sent where an{' '}
            <Anchor component={Link} to="/partner/webhooks" underline="always">
              endpoint
            </Anchor>{' '}
            is set.
          </Empty>
        ) : (
          <Table.ScrollContainer minWidth={600}>
            <Table fz="sm" data-testid="order-deliveries">
              <Table.Thead>
                <Table.Tr>
                  <Table.Th scope="col">At</Table.Th>
                  <Table.Th scope="col">Event</Table.Th>
                  <Table.Th scope="col">Status</Table.Th>
                  <Table.Th scope="col">Attempts</Table.Th>
                  <Table.Th scope="col">Delivery</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {deliveries.map((one) => (
                  <Table.Tr key={one.id}>
                    <Table.Td>
                      <Time at={one.created_at} />
                    </Table.Td>
                    <Table.Td>
                      {one.event_type}, {statusIn(one.body)}
                    </Table.Td>
                    <Table.Td>
                      <Status value={one.status} />
                    </Table.Td>
                    <Table.Td>{one.attempts.length}</Table.Td>
                    <Table.Td>
                      <Id
                        value={one.id}
                        name="delivery id"
                        to={`/partner/webhooks/${one.endpoint_id}?delivery=${one.id}`}
                      />
                    </Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )
      }
    </Loaded>
  );
}

function statusIn(body: string): string {
  const { data } = JSON.parse(body) as { readonly data?: { readonly status?: string } };
  return data?.status ?? '';
}
