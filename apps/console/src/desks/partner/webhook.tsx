import { DELIVERY_STATUSES } from '@causeway/protocol/machines';
import type {
  Delivery,
  ListWebhookEndpointDeliveriesQuery,
  WebhookEndpoint,
  WebhookEndpointChange,
} from '@causeway/sdk';
import { Drawer, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { CodeBlock, Json } from '../../ui/code.tsx';
import { FormDialog, ShownOnce } from '../../ui/form-dialog.tsx';
import { List } from '../../ui/list.tsx';
import { useGo, useParam, usePath, useSearch } from '../../ui/navigation.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Loaded, PageHead } from '../../ui/states.tsx';
import { Fact, Id, Status, Time } from '../../ui/values.tsx';
import { Health } from './webhook-health.tsx';
import { EVENTS, EventChoice } from './webhooks.tsx';

export default function Webhook() {
  const endpointId = useParam('endpointId');
  const query = useQuery({
    queryKey: ['webhook', endpointId],
    queryFn: ({ signal }) => api.webhookEndpoints.get(endpointId, { signal }),
  });
  return (
    <Loaded
      query={query}
      page={{ title: 'Webhook endpoint', list: '/partner/webhooks', listTitle: 'All endpoints' }}
    >
      {(endpoint) => (
        <>
          <PageHead title="Webhook endpoint" about={endpoint.url}>
            <Actions endpoint={endpoint} />
          </PageHead>
          <Stack>
            <Facts endpoint={endpoint} />
            <Deliveries endpointId={endpointId} />
          </Stack>
        </>
      )}
    </Loaded>
  );
}

function Facts({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { health, previous_secret_valid_until: until } = endpoint;
  return (
    <Panel title="How it goes" testId="endpoint-facts">
      <dl style={{ margin: 0 }}>
        <Fact label="State">
          <Status value={endpoint.enabled ? 'enabled' : 'disabled'} />
        </Fact>
        <Fact label="Health">
          <Health endpoint={endpoint} />
        </Fact>
        <Fact label="Failures in a row">{health.consecutive_failures}</Fact>
        <Fact label="Failing since">
          <Time at={health.failing_since} />
        </Fact>
        <Fact label="Last error">{health.last_error ?? '–'}</Fact>
        <Fact label="Waiting to be sent">{health.pending_deliveries}</Fact>
        <Fact label="Events">{endpoint.events.includes('*') ? 'all' : endpoint.events.join(', ')}</Fact>
        <Fact label="Shape of events">{endpoint.api_version}</Fact>
        {until === null ? null : (
          <Fact label="Old secret also signs until">
            <Time at={until} />
          </Fact>
        )}
      </dl>
      {endpoint.is_default ? (
        <Text size="xs" c="dimmed">
          This is the default endpoint, which gets every event; only its address can be changed.
        </Text>
      ) : null}
    </Panel>
  );
}

function Actions({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const may = useMay();
  const go = useGo();
  const { id, is_default: isDefault } = endpoint;
  return (
    <>
      {may('testWebhookEndpoint') ? (
        <Action
          variant="default"
          run={() => api.webhookEndpoints.test(id)}
          done="The test event was taken."
          testId="test-endpoint"
        >
          Send a test event
        </Action>
      ) : null}
      {may('replayLatestEventsToEndpoint') ? <ReplaySince endpointId={id} /> : null}
      {may('changeWebhookEndpoint') ? <Change endpoint={endpoint} /> : null}
      {may('rotateWebhookEndpointSecret') ? (
        <FormDialog
          label="Rotate the secret"
          variant="default"
          testId="rotate-secret"
          done="There is a new secret."
          run={() => (isDefault ? api.webhooks.rotateSecret() : api.webhookEndpoints.rotateSecret(id))}
          result={({ secret, previous_secret_valid_until: until }) => (
            <ShownOnce value={secret} label="secret">
              The old secret signs beside it until <Time at={until} />; change your receiver before.
            </ShownOnce>
          )}
        >
          <Text size="sm">
            A new secret signs from now on. The old one signs beside it for a day, so that your receiver can
            change over without a gap.
          </Text>
        </FormDialog>
      ) : null}
      {may('deleteWebhookEndpoint') ? (
        <Action
          color="red"
          variant="light"
          run={() => (isDefault ? api.webhooks.delete('default') : api.webhookEndpoints.delete(id))}
          done="The endpoint is removed."
          confirm="Nothing is sent there any more, and what waits is cancelled. Events can still be read from the list of events."
          onDone={() => go('/partner/webhooks')}
          testId="delete-endpoint"
        >
          Remove
        </Action>
      ) : null}
    </>
  );
}

function Change({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const { id, is_default: isDefault } = endpoint;
  const [url, setUrl] = useState(endpoint.url);
  const [events, setEvents] = useState<readonly string[]>(endpoint.events);
  const [isEnabled, setEnabled] = useState(endpoint.enabled);
  return (
    <FormDialog<unknown>
      label="Change"
      variant="default"
      submit="Save"
      testId="change-endpoint"
      done="The endpoint is changed."
      isReady={events.length > 0}
      onOpen={() => {
        setUrl(endpoint.url);
        setEvents(endpoint.events);
        setEnabled(endpoint.enabled);
      }}
      run={async () =>
        isDefault
          ? api.webhooks.set({ url: url.trim() })
          : api.webhookEndpoints.update(id, {
              url: url.trim(),
              events,
              enabled: isEnabled,
            } as WebhookEndpointChange)
      }
    >
      <TextInput
        label="Address"
        required
        value={url}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        data-testid="endpoint-url"
      />
      {isDefault ? null : (
        <>
          <Switch
            label="Enabled"
            description="Switched off, what is waiting is cancelled"
            checked={isEnabled}
            onChange={({ currentTarget }) => setEnabled(currentTarget.checked)}
            data-testid="endpoint-enabled"
          />
          <EventChoice chosen={events} onChange={setEvents} />
        </>
      )}
    </FormDialog>
  );
}

const HOUR_MS = 3_600_000;
/** As a field of date and time has it, in the viewer’s zone. */
const fieldTime = (at: number): string =>
  new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

function ReplaySince({ endpointId }: { readonly endpointId: string }) {
  const [since, setSince] = useState('');
  return (
    <FormDialog
      label="Replay since …"
      variant="default"
      submit="Replay"
      testId="replay-since"
      done="The events are sent again."
      isReady={since !== ''}
      onOpen={() => setSince(fieldTime(Date.now() - HOUR_MS))}
      run={() => api.webhookEndpoints.replay(endpointId, { since: new Date(since).toISOString() })}
      result={({ replayed, has_more: hasMore }) => (
        <Text size="sm" data-testid="replayed">
          {replayed} sent again.{hasMore ? ' There are more: replay once more from a later time.' : ''}
        </Text>
      )}
    >
      <TextInput
        label="Since"
        description="The latest event of each order and customer since then is sent once more, with the same event id"
        type="datetime-local"
        value={since}
        onChange={({ currentTarget }) => setSince(currentTarget.value)}
        data-testid="replay-since-time"
      />
    </FormDialog>
  );
}

function Deliveries({ endpointId }: { readonly endpointId: string }) {
  // In the address, so that a search and the page of an order lead to it.
  const [path, search, go] = [usePath(), useSearch(), useGo()];
  const opened = typeof search.delivery === 'string' ? search.delivery : null;
  const setOpened = (id: string | undefined) =>
    go(path, { search: { ...search, delivery: id }, replace: true });
  return (
    <Panel title="Deliveries">
      <List<Delivery>
        id="deliveries"
        queryKey={['deliveries', endpointId]}
        filters={[
          { name: 'status', label: 'Status', kind: 'one', options: DELIVERY_STATUSES },
          {
            name: 'event_type',
            label: 'Event',
            kind: 'one',
            options: [...Object.keys(EVENTS), 'webhook.test'],
          },
          { name: 'order_id', label: 'Order id', kind: 'text' },
          { name: 'event_id', label: 'Event id', kind: 'text' },
        ]}
        load={async ({ filters, limit, cursor }, signal) => {
          const query = { ...filters, limit, ...(cursor === undefined ? {} : { cursor }) };
          const page = await api.webhookEndpoints.listDeliveries(
            endpointId,
            query as ListWebhookEndpointDeliveriesQuery,
            { signal },
          );
          return { rows: page.deliveries, nextCursor: page.pagination.next_cursor };
        }}
        rowKey={({ id }) => id}
        onOpen={({ id }) => setOpened(id)}
        refetchMs={10_000}
        columns={[
          { title: 'Event', cell: ({ event_type }) => event_type },
          { title: 'Status', cell: ({ status }) => <Status value={status} /> },
          { title: 'Attempts', cell: ({ attempts }) => String(attempts.length) },
          { title: 'Last answer', cell: ({ attempts }) => lastAnswer(attempts.at(-1)) },
          { title: 'Next attempt', cell: ({ next_attempt_at }) => <Time at={next_attempt_at} /> },
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty="Nothing was sent here yet"
      />
      <Drawer
        opened={opened !== null}
        onClose={() => setOpened(undefined)}
        position="right"
        size="xl"
        title="Delivery"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {opened === null ? null : <DeliveryDetail endpointId={endpointId} deliveryId={opened} />}
      </Drawer>
    </Panel>
  );
}

function lastAnswer(attempt: Delivery['attempts'][number] | undefined): string {
  if (attempt === undefined) return '–';
  return [attempt.http_status, attempt.error?.replaceAll('_', ' ')].filter(Boolean).join(' ') || '–';
}

function DeliveryDetail({
  endpointId,
  deliveryId,
}: {
  readonly endpointId: string;
  readonly deliveryId: string;
}) {
  const may = useMay();
  const query = useQuery({
    queryKey: ['delivery', endpointId, deliveryId],
    queryFn: ({ signal }) => api.webhookEndpoints.getDelivery(endpointId, deliveryId, { signal }),
  });
  return (
    <Loaded query={query}>
      {(delivery) => (
        <Stack data-testid="delivery">
          <dl style={{ margin: 0 }}>
            <Fact label="Event">{delivery.event_type}</Fact>
            <Fact label="Event id">
              <Id value={delivery.event_id} name="event id" />
            </Fact>
            <Fact label="Status">
              <Status value={delivery.status} />
            </Fact>
            <Fact label="About">
              <Id value={delivery.subject_id} name="id" {...subjectAddress(delivery)} />
            </Fact>
            <Fact label="Replay of">
              <Id value={delivery.replay_of} name="delivery id" />
            </Fact>
          </dl>
          {may('replayWebhookEndpointDelivery') ? (
            <Action
              variant="default"
              run={() => api.webhookEndpoints.replayDelivery(endpointId, deliveryId)}
              done="It is sent again."
              testId="replay-one"
            >
              Send it again
            </Action>
          ) : null}
          <CodeBlock code={pretty(delivery.body)} label="payload" maxHeight={260} />
          {delivery.attempts.map((attempt, index) => (
            <Stack key={attempt.at} gap={6} data-testid="attempt">
              <Text fw={600} size="sm">
                Attempt {index + 1}, <Time at={attempt.at} />: {lastAnswer(attempt)} in {attempt.duration_ms}{' '}
                ms
              </Text>
              {attempt.request === null ? null : (
                <Json value={attempt.request.headers} label={`headers as sent to ${attempt.request.url}`} />
              )}
              {attempt.response_headers === null ? null : (
                <Json value={attempt.response_headers} label="headers of the answer" />
              )}
              {attempt.response_body === null || attempt.response_body === '' ? null : (
                <CodeBlock code={attempt.response_body} label="body of the answer" maxHeight={160} />
              )}
            </Stack>
          ))}
        </Stack>
      )}
    </Loaded>
  );
}

function subjectAddress({ event_type, subject_id }: Delivery): { to?: string } {
  if (subject_id === null) return {};
  if (event_type.startsWith('order.')) return { to: `/partner/orders/${subject_id}` };
  return event_type.startsWith('user.') ? { to: `/partner/customers/${subject_id}` } : {};
}

/** Shown in lines; what was signed is the text without them. */
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
