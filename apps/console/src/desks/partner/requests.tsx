import type { ListRequestsQuery, RequestLog } from '@causeway/sdk';
import { Alert, Anchor, Badge, Drawer, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Json } from '../../ui/code.tsx';
import { List } from '../../ui/list.tsx';
import { Empty, PageHead } from '../../ui/states.tsx';
import { Fact, Id, Time } from '../../ui/values.tsx';

type LoggedRequest = RequestLog['requests'][number];

export default function PartnerRequests() {
  const [opened, setOpened] = useState<LoggedRequest | null>(null);
  return (
    <>
      <PageHead
        title="API log"
        about="Your programs’ calls, newest first, a second after each answer. No bodies and nothing personal is kept."
      />
      <List<LoggedRequest>
        id="requests"
        queryKey={['requests']}
        filters={[
          { name: 'request_id', label: 'Request id', kind: 'text' },
          {
            name: 'status',
            label: 'Status',
            kind: 'one',
            options: ['2xx', '4xx', '5xx', '400', '401', '404', '409', '422', '429'],
          },
          {
            name: 'method',
            label: 'Method',
            kind: 'one',
            options: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
          },
          { name: 'error_code', label: 'Error code', kind: 'text' },
          { name: 'order_id', label: 'Order id', kind: 'text' },
        ]}
        load={async ({ filters, limit, cursor }, signal) => {
          const query = { ...filters, limit, ...(cursor === undefined ? {} : { cursor }) };
          const page = await api.requestLog.list(query as ListRequestsQuery, { signal });
          return { rows: page.requests, nextCursor: page.pagination.next_cursor };
        }}
        rowKey={({ cursor }) => cursor}
        onOpen={setOpened}
        refetchMs={10_000}
        columns={[
          { title: 'When', cell: ({ at }) => <Time at={at} /> },
          { title: 'Call', cell: ({ method, path }) => <Call method={method} path={path} /> },
          { title: 'Status', cell: (request) => <Answer of={request} /> },
          { title: 'Error', cell: ({ error_code }) => error_code ?? '–' },
          { title: 'Took', end: true, cell: ({ duration_ms }) => `${duration_ms}\u00a0ms` },
          { title: 'Request', cell: ({ request_id }) => <Id value={request_id} name="request id" /> },
        ]}
        empty={
          <Empty title="No calls found">
            A request id stands in X-Request-Id of every answer, failed ones too.
          </Empty>
        }
      />
      <Drawer
        opened={opened !== null}
        onClose={() => setOpened(null)}
        position="right"
        size="lg"
        title="Request"
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {opened === null ? null : <Detail request={opened} />}
      </Drawer>
    </>
  );
}

function Call({ method, path }: { readonly method: string; readonly path: string }) {
  return (
    <Text span size="sm" style={{ overflowWrap: 'anywhere' }}>
      <b>{method}</b> {path.replace(/^\/api\/v1/, '')}
    </Text>
  );
}

function Answer({ of: { status } }: { readonly of: LoggedRequest }) {
  const [word, color] =
    status < 400 ? ['ok', 'teal'] : status < 500 ? ['refused', 'orange'] : ['failed', 'red'];
  return (
    <Badge
      color={color}
      variant="light"
      tt="none"
      style={{ overflow: 'visible' }}
      title={word}
      data-status={status}
    >
      {status}
    </Badge>
  );
}

function Detail({ request }: { readonly request: LoggedRequest }) {
  return (
    <Stack data-testid="request">
      <dl style={{ margin: 0 }}>
        <Fact label="Call">
          <Call method={request.method} path={request.path} />
        </Fact>
        <Fact label="Query">{request.query ?? '–'}</Fact>
        <Fact label="Answer">
          <Answer of={request} />
        </Fact>
        <Fact label="When">
          <Time at={request.at} />
        </Fact>
        <Fact label="Took">{request.duration_ms} ms</Fact>
        <Fact label="Request id">
          <Id value={request.request_id} whole name="request id" />
        </Fact>
        <Fact label="Order">
          <Id
            value={request.order_id}
            name="order id"
            {...(request.order_id === null ? {} : { to: `/partner/orders/${request.order_id}` })}
          />
        </Fact>
        <Fact label="Called with">{request.key.hint ?? 'the console'}</Fact>
        <Fact label="From">
          {[request.caller_network, request.user_agent].filter(Boolean).join(' · ') || '–'}
        </Fact>
        <Fact label="Idempotency key">
          {request.idempotency_key
            ? request.idempotent_replay
              ? 'sent; answered before'
              : 'sent'
            : 'not sent'}
        </Fact>
      </dl>
      {request.error_code === null ? null : (
        <Explanation code={request.error_code} fields={request.error_fields} />
      )}
      <Json value={request} label="as it is kept" />
    </Stack>
  );
}

/** What the catalogue of errors says of a code: when it happens and what to do. Loaded when it is first needed. */
function Explanation({ code, fields }: { readonly code: string; readonly fields: readonly string[] }) {
  const query = useQuery({
    queryKey: ['error-catalogue'],
    queryFn: async () => (await import('@causeway/protocol/errors')).ERROR_CATALOGUE,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const catalogue: Readonly<Record<string, { message: string; doc: string; retryable: boolean }>> =
    query.data ?? {};
  const entry = catalogue[code];
  return (
    <Alert
      color="orange"
      title={`${code}${entry === undefined ? '' : `: ${entry.message}`}`}
      data-testid="explanation"
    >
      {entry === undefined ? null : <p>{entry.doc}</p>}
      {fields.length === 0 ? null : <p>Fields that were refused: {fields.join(', ')}.</p>}
      {entry === undefined ? null : (
        <p>
          {entry.retryable ? 'The same request may succeed later.' : 'Repeating it unchanged does not help.'}
        </p>
      )}
      <Anchor
        href="/docs/reference/errors"
        target="_blank"
        rel="noreferrer"
        size="sm"
        c="inherit"
        underline="always"
      >
        All errors in the documentation
      </Anchor>
    </Alert>
  );
}
