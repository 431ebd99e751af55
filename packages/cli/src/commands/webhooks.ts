import type {
  Causeway,
  Delivery,
  DeliveryDetail,
  DeliveryList,
  ListWebhookDeliveriesQuery,
} from '@causeway/sdk';
import { flag, type Invocation, type Run, text } from '../command.ts';
import { CommandError, EXIT } from '../exit.ts';
import { fields, type Paint, table } from '../output.ts';
import { numberOf } from '../values.ts';

/** Deliveries to the default endpoint, or to the one that is named. */
export const deliveries: Run = async (invocation) => {
  const { client, output, signal } = invocation;
  const wanted = {
    event_type: text(invocation, 'event-type'),
    event_id: text(invocation, 'event'),
    order_id: text(invocation, 'order'),
    status: text(invocation, 'status'),
    limit: numberOf(invocation, 'limit'),
    cursor: text(invocation, 'cursor'),
  };
  const query = Object.fromEntries(
    Object.entries(wanted).filter(([, value]) => value !== undefined),
  ) as ListWebhookDeliveriesQuery;
  const causeway = await client();
  const endpoint = text(invocation, 'endpoint');
  const list =
    endpoint === undefined
      ? causeway.webhooks.listDeliveries(query, { signal })
      : causeway.webhookEndpoints.listDeliveries(endpoint, query, { signal });
  if (!flag(invocation, 'all')) {
    const page: DeliveryList = await list;
    output.result(page, (paint) => deliveryTable(page.deliveries, paint));
    const { next_cursor: next } = page.pagination;
    if (next !== null) output.note(`There are more: --cursor ${next}, or --all.`);
    return;
  }
  for await (const page of list.pages()) {
    if (output.json) for (const delivery of page.deliveries) output.line(delivery, () => delivery.id);
    else output.line(page.deliveries, (paint) => deliveryTable(page.deliveries, paint));
  }
};

function deliveryTable(list: readonly Delivery[], paint: Paint): string {
  if (list.length === 0) return 'No deliveries.';
  return table(
    ['DELIVERY', 'CREATED', 'EVENT', 'ABOUT', 'STATUS', 'ATTEMPTS', 'LAST ANSWER', 'NEXT'],
    list.map((delivery) => [
      delivery.id,
      delivery.created_at,
      delivery.event_type,
      delivery.subject_id ?? '',
      paintStatus(delivery, paint),
      String(delivery.attempts.length),
      answerOf(delivery.attempts.at(-1)),
      delivery.next_attempt_at ?? '',
    ]),
    paint,
  );
}

function paintStatus({ status }: { readonly status: string }, paint: Paint): string {
  if (status === 'delivered') return paint('green', status);
  return status === 'failed' ? paint('red', status) : status;
}

type Attempt = Pick<Delivery['attempts'][number], 'http_status' | 'duration_ms' | 'error'>;

function answerOf(attempt: Attempt | undefined): string {
  if (attempt === undefined) return 'not tried yet';
  const { http_status, error, duration_ms } = attempt;
  return `${http_status ?? error ?? 'none'} in ${duration_ms} ms`;
}

/** One delivery with each attempt: what was sent, and what was answered. */
export const show: Run = async (invocation) => {
  const { args, client, output } = invocation;
  const causeway = await client();
  const id = args[0] ?? '';
  const detail = await findDelivery(invocation, causeway, id);
  output.result(detail, (paint) => describeDelivery(detail, paint));
};

/** A delivery is found at its endpoint; where none is named, each is asked. */
async function findDelivery(invocation: Invocation, causeway: Causeway, id: string): Promise<DeliveryDetail> {
  const { signal } = invocation;
  const named = text(invocation, 'endpoint');
  if (named !== undefined) return causeway.webhookEndpoints.getDelivery(named, id, { signal });
  const { endpoints } = await causeway.webhookEndpoints.list({ signal });
  let last: unknown;
  for (const endpoint of endpoints) {
    try {
      return await causeway.webhookEndpoints.getDelivery(endpoint.id, id, { signal });
    } catch (error) {
      if ((error as { status?: unknown }).status !== 404) throw error;
      last = error;
    }
  }
  throw (
    last ??
    new CommandError('There is no webhook endpoint, so there are no deliveries.', { exitCode: EXIT.notFound })
  );
}

function describeDelivery(detail: DeliveryDetail, paint: Paint): string {
  return [
    fields(
      [
        ['delivery', detail.id],
        ['endpoint', detail.endpoint_id],
        ['event', `${detail.event_type} ${detail.event_id}`],
        ['about', detail.subject_id],
        ['status', paintStatus(detail, paint)],
        ['created', detail.created_at],
        ['next attempt', detail.next_attempt_at],
        ['replay of', detail.replay_of],
        ['body', detail.body],
      ],
      paint,
    ),
    ...detail.attempts.flatMap((attempt, index) => [
      '',
      paint('bold', `attempt ${index + 1}, ${attempt.at}: ${answerOf(attempt)}`),
      ...(attempt.request === null
        ? []
        : [`  ${attempt.request.method} ${attempt.request.url}`, headersOf(attempt.request.headers, '  > ')]),
      ...(attempt.response_headers === null ? [] : [headersOf(attempt.response_headers, '  < ')]),
      ...(attempt.response_body === null
        ? []
        : [`  ${attempt.response_body.replaceAll('\n', '\n  ')}${attempt.response_truncated ? ' …' : ''}`]),
    ]),
  ].join('\n');
}

function headersOf(headers: Readonly<Record<string, unknown>>, before: string): string {
  return Object.entries(headers)
    .map(([name, value]) => `${before}${name}: ${String(value)}`)
    .join('\n');
}

/** Sends an event again; the answer is the new delivery. */
export const replay: Run = async (invocation) => {
  const { args, client, output, signal } = invocation;
  const causeway = await client();
  const id = args[0] ?? '';
  const { endpoint_id: endpoint } = await findDelivery(invocation, causeway, id);
  const made = await causeway.webhookEndpoints.replayDelivery(endpoint, id, { signal });
  output.result(made, (paint) =>
    fields(
      [
        ['delivery', made.id],
        ['replay of', made.replay_of],
        ['event', `${made.event_type} ${made.event_id}`],
        ['status', made.status],
      ],
      paint,
    ),
  );
};
