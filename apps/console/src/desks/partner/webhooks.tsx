import type { EventType, WebhookEndpointInput } from '@causeway/sdk';
import { Checkbox, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { FormDialog, ShownOnce } from '../../ui/form-dialog.tsx';
import { Empty, Loaded, PageHead } from '../../ui/states.tsx';
import { Id, Status, Time } from '../../ui/values.tsx';
import { Rows } from './customer.tsx';
import { Health } from './webhook-health.tsx';

/** What each event tells; one that is missing here does not compile. */
export const EVENTS: Readonly<Record<Exclude<EventType, 'webhook.test'>, string>> = {
  'order.status.changed': 'An order moved to a new status',
  'order.refund.required': 'An off-ramp order stopped and its crypto waits in escrow',
  'order.release.required': 'A dispute was decided for you; your signature releases the crypto',
  'user.kyc.updated': 'A customer was verified, refused or put under review',
  'retail.settlement.completed': 'A deposit on a fiat account was collected for you',
};

export default function Webhooks() {
  const may = useMay();
  const query = useQuery({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => api.webhookEndpoints.list({ signal }),
  });
  return (
    <>
      <PageHead
        title="Webhooks"
        about="Where your events are sent, and how it goes. Nothing is lost while a receiver is down: it is tried again, and can be replayed."
      >
        {may('createWebhookEndpoint') ? <NewEndpoint /> : null}
      </PageHead>
      <Loaded query={query}>
        {({ endpoints }) =>
          endpoints.length === 0 ? (
            <Empty title="No endpoint yet">
              Create one: an https address of yours that answers 2xx. Its secret is shown once and signs what
              is sent.
            </Empty>
          ) : (
            <div data-testid="webhooks">
              <Rows
                heads={['Endpoint', 'Events', 'State', 'Health', 'Waiting', 'Created']}
                rows={endpoints.map((endpoint) => [
                  <Stack key="url" gap={2}>
                    <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                      {endpoint.url}
                      {endpoint.is_default ? ' (default)' : ''}
                    </Text>
                    <Id value={endpoint.id} to={`/partner/webhooks/${endpoint.id}`} name="endpoint id" />
                  </Stack>,
                  endpoint.events.includes('*') ? 'all' : endpoint.events.join(', '),
                  <Status key="state" value={endpoint.enabled ? 'enabled' : 'disabled'} />,
                  <Health key="health" endpoint={endpoint} />,
                  String(endpoint.health.pending_deliveries),
                  <Time key="at" at={endpoint.created_at} />,
                ])}
              />
            </div>
          )
        }
      </Loaded>
    </>
  );
}

/** Which events are sent; none chosen means all, those of later releases included. */
export function EventChoice({
  chosen,
  onChange,
}: {
  readonly chosen: readonly string[];
  readonly onChange: (events: readonly string[]) => void;
}) {
  const isAll = chosen.includes('*');
  return (
    <Stack gap={6}>
      <Checkbox
        label="All events, those of later releases too"
        checked={isAll}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? ['*'] : [])}
        data-testid="event-all"
      />
      {Object.entries(EVENTS).map(([type, says]) => (
        <Checkbox
          key={type}
          label={type}
          description={says}
          disabled={isAll}
          checked={isAll || chosen.includes(type)}
          onChange={({ currentTarget }) =>
            onChange(currentTarget.checked ? [...chosen, type] : chosen.filter((one) => one !== type))
          }
          data-testid={`event-${type}`}
        />
      ))}
    </Stack>
  );
}

function NewEndpoint() {
  const [url, setUrl] = useState('');
  const [events, setEvents] = useState<readonly string[]>(['*']);
  return (
    <FormDialog
      label="New endpoint"
      submit="Create"
      testId="create-endpoint"
      done="The endpoint is created."
      isReady={events.length > 0}
      onOpen={() => {
        setUrl('');
        setEvents(['*']);
      }}
      run={() => api.webhookEndpoints.create({ url: url.trim(), events } as WebhookEndpointInput)}
      result={({ secret }) => (
        <ShownOnce value={secret} label="secret">
          Your receiver checks the signature of each event with it. Rotate it if it is lost.
        </ShownOnce>
      )}
    >
      <TextInput
        label="Address"
        description="https, to a public address"
        placeholder="https://hooks.example.com/causeway"
        required
        value={url}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
        data-testid="endpoint-url"
      />
      <EventChoice chosen={events} onChange={setEvents} />
    </FormDialog>
  );
}
