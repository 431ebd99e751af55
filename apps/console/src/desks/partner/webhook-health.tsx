import type { WebhookEndpoint } from '@causeway/sdk';
import { Badge, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { Status } from '../../ui/values.tsx';

const WORDS: Readonly<Record<string, string>> = {
  ok: 'delivers',
  failing: 'fails, and is tried again',
  circuit_open: 'fails for long: one delivery a second is tried',
};

/**
 * How deliveries go. The service calls an endpoint `ok` that has not failed; whether it has ever taken an event is looked up
 * in its deliveries, so that a new one does not seem proven.
 */
export function Health({ endpoint: { id, enabled, health } }: { readonly endpoint: WebhookEndpoint }) {
  const hasNotFailed = health.state === 'ok';
  const delivered = useQuery({
    queryKey: ['deliveries', id, 'any delivered'],
    queryFn: ({ signal }) =>
      api.webhookEndpoints.listDeliveries(id, { status: 'delivered', limit: 1 }, { signal }),
    enabled: enabled && hasNotFailed,
    refetchInterval: 10_000,
  });
  if (!enabled) return <Said state="off" word="off" text="nothing is sent" />;
  if (!hasNotFailed) return <Said state={health.state} text={WORDS[health.state] ?? ''} />;
  if (delivered.data === undefined) return null;
  return delivered.data.deliveries.length === 0 ? (
    <Said state="unproven" word="nothing yet" text="nothing has been delivered" />
  ) : (
    <Said state="ok" text={WORDS.ok ?? ''} />
  );
}

/** A state of the service’s own has its colour; a word in its place has none. */
function Said({
  state,
  word,
  text,
}: {
  readonly state: string;
  readonly word?: string;
  readonly text: string;
}) {
  return (
    <Group gap={6} data-testid="health" data-health={state}>
      {word === undefined ? (
        <Status value={state} />
      ) : (
        <Badge color="gray" variant="light" tt="none" miw="max-content">
          {word}
        </Badge>
      )}
      <Text size="xs" c="dimmed">
        {text}
      </Text>
    </Group>
  );
}
