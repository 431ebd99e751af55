import type { CausewayEvent, ListOrdersQuery, Order, OrderFunds } from '@causeway/sdk';
import { flag, type Run, text, texts } from '../command.ts';
import { fields, type Paint, table } from '../output.ts';
import { firstOf } from '../signals.ts';
import { numberOf, timeOf } from '../values.ts';
import { HOLD_REASONS, hasEnded, NEXT_ACTIONS } from '../words.ts';

export const list: Run = async (invocation) => {
  const { client, output, signal } = invocation;
  const status = texts(invocation, 'status');
  const wanted = {
    status: status.length === 0 ? undefined : [...status],
    order_type: text(invocation, 'type'),
    user_uuid: text(invocation, 'user'),
    reference_id: text(invocation, 'reference'),
    created_from: timeOf(invocation, 'from'),
    created_to: timeOf(invocation, 'to'),
    limit: numberOf(invocation, 'limit'),
    page: numberOf(invocation, 'page'),
  };
  const query = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  const orders = (await client()).orders.list(query as ListOrdersQuery, { signal });
  if (!flag(invocation, 'all')) {
    const page = await orders;
    output.result(page, (paint) => orderTable(page.orders, paint));
    const { pagination } = page;
    if (pagination.page * pagination.limit < pagination.total) {
      output.note(`${page.orders.length} of ${pagination.total}; --page or --all for more.`);
    }
    return;
  }
  for await (const page of orders.pages()) {
    if (output.json) for (const order of page.orders) output.line(order, () => order.order_id);
    else output.line(page.orders, (paint) => orderTable(page.orders, paint));
  }
};

function orderTable(orders: readonly Order[], paint: Paint): string {
  if (orders.length === 0) return 'No orders.';
  return table(
    ['ORDER', 'CREATED', 'TYPE', 'STATUS', 'FIAT', 'CRYPTO', 'NEXT', 'REFERENCE'],
    orders.map(({ amounts, ...order }) => [
      order.order_id,
      order.created_at,
      order.order_type,
      paintStatus(order, paint),
      `${amounts.fiat_amount} ${amounts.fiat_currency}`,
      `${amounts.crypto_amount} ${amounts.crypto_currency}`,
      order.next_action,
      order.reference_id ?? '',
    ]),
    paint,
  );
}

function paintStatus(
  { status, failure, hold }: Pick<Order, 'status' | 'failure' | 'hold'>,
  paint: Paint,
): string {
  if (failure !== null) return paint('red', status);
  return hold === null ? paint('bold', status) : `${paint('yellow', status)} (held)`;
}

/** The order as it is; for people with where its money is. */
export const show: Run = async ({ args, client, output, signal }) => {
  const causeway = await client();
  const orderId = args[0] ?? '';
  const order = await causeway.orders.get(orderId, { signal });
  const funds = output.json
    ? undefined
    : await causeway.orders.funds(orderId, { signal }).catch(() => undefined);
  output.result(order, (paint) => describeOrder(order, funds, paint));
};

function describeOrder(order: Order, funds: OrderFunds | undefined, paint: Paint): string {
  const { amounts, failure, hold } = order;
  const fiat = `${amounts.fiat_amount} ${amounts.fiat_currency}`;
  const crypto = `${amounts.crypto_amount} ${amounts.crypto_currency}`;
  const isBuying = order.order_type !== 'offramp';
  return [
    fields(
      [
        ['order', order.order_id],
        ['type', `${order.order_type}${order.payment_request ? ', a payment request' : ''}`],
        ['reference', order.reference_id],
        ['customer', order.user_id],
        ['status', paintStatus(order, paint)],
        ['until', order.expires_at],
        ['next', `${order.next_action}: ${NEXT_ACTIONS[order.next_action] ?? 'see the API'}`],
        ['call', order.action_required === null ? null : callOf(order.action_required)],
        ['amounts', `${isBuying ? `${fiat} for ${crypto}` : `${crypto} for ${fiat}`}, at ${amounts.rate}`],
        ['fees', feesOf(order.fee_breakdown, amounts.crypto_currency)],
        ['paid by', `${order.payment_method_slug} over ${order.payment_network_slug}`],
        ['failure', failure === null ? null : paint('red', `${failure.code}: ${failure.message}`)],
        ['', failure === null ? null : afterFailure(failure.retryable)],
        ['cancelled by', order.cancelled_by],
        ['held', hold === null ? null : paint('yellow', `${hold.reason} since ${hold.since}`)],
        ['', hold === null ? null : (HOLD_REASONS[hold.reason] ?? null)],
        ['funds', funds?.summary ?? 'not known at the moment'],
        ['transaction', order.tx_hash],
        ['send-out', order.send_out_tx_hash],
      ],
      paint,
    ),
    ...paymentOf(order, paint),
    '',
    paint('dim', 'timeline'),
    ...order.timeline.map(({ at, status }) => `  ${at}  ${status}`),
  ].join('\n');
}

const callOf = ({ method, endpoint }: { readonly method: string; readonly endpoint: string }) =>
  `${method} ${endpoint}`;

function afterFailure(retryable: boolean): string {
  return retryable ? 'A new order with the same request may succeed.' : 'The same request would fail again.';
}

/** Fees are in the crypto currency, whichever way it goes. */
export function feesOf(fees: Order['fee_breakdown'], currency: string): string {
  const one = (name: string, amount: string, percent: number) => `${name} ${amount} (${percent} %)`;
  const parts = [
    one('platform', fees.platform_fee, fees.platform_fee_pct),
    one('partner', fees.partner_fee, fees.partner_fee_pct),
  ];
  return `${parts.join(', ')}, total ${fees.total_fee} ${currency}`;
}

function paymentOf({ vendor_payment_details: details }: Order, paint: Paint): string[] {
  if (details === undefined) return [];
  const known = Object.entries(details).map(([name, value]) => [`  ${name}`, String(value)] as const);
  return known.length === 0 ? [] : ['', paint('dim', 'the customer pays to'), fields(known, paint)];
}

/**
 * A line for every event of the order until it has ended. The order is read whenever the stream stands, so that nothing is
 * waited for that has happened already.
 */
export const watch: Run = async ({ args, client, output, signal }) => {
  const causeway = await client();
  const orderId = args[0] ?? '';
  const first = await causeway.orders.get(orderId, { signal });
  const state = { order: first };
  output.line({ order: first }, (paint) => stateLine(first, paint));
  if (hasEnded(first)) return;
  output.progress('Waiting for events; Ctrl-C stops.');
  const ended = new AbortController();
  let failed: unknown;
  let told: string | undefined;
  const read = async () => {
    try {
      state.order = await causeway.orders.get(orderId, { signal });
    } catch (error) {
      failed = error;
      ended.abort();
    }
    if (hasEnded(state.order)) ended.abort();
  };
  try {
    const stop = firstOf(signal, ended.signal);
    for await (const { cursor, event } of causeway.events.stream({
      signal: stop,
      onOpen: () => void read(),
    })) {
      if (!isAbout(event, orderId)) continue;
      output.line({ cursor, event }, (paint) => lineOf(event, paint));
      told = 'status' in event.data ? event.data.status : told;
      await read();
    }
  } catch (error) {
    if (!ended.signal.aborted || signal.aborted) throw error;
  }
  if (failed !== undefined) throw failed;
  const { order } = state;
  // People have just read it in the last event's line.
  if (output.json || order.status !== told) output.line({ order }, (paint) => stateLine(order, paint));
};

function stateLine(order: Order, paint: Paint): string {
  const failure = order.failure === null ? '' : `, ${order.failure.code}`;
  return `${order.updated_at}  ${paintStatus(order, paint)}  next: ${order.next_action}${failure}`;
}

function isAbout({ data }: CausewayEvent, orderId: string): boolean {
  return 'order_id' in data && data.order_id === orderId;
}

function lineOf({ created_at, event_type, data }: CausewayEvent, paint: Paint): string {
  const status = 'status' in data ? data.status : '';
  const failure = 'failure' in data && data.failure !== null ? `  ${data.failure.code}` : '';
  const hold = 'hold' in data && data.hold !== null ? `  held: ${data.hold.reason}` : '';
  return `${created_at}  ${paint('cyan', event_type)}  ${paint('bold', status)}${failure}${hold}`;
}

/** Where the money of an order is, who can move it, and what it waits for. */
export const funds: Run = async ({ args, client, output, signal }) => {
  const found = await (await client()).orders.funds(args[0] ?? '', { signal });
  output.result(found, (paint) => describeFunds(found, paint));
};

function describeFunds(found: OrderFunds, paint: Paint): string {
  const { escrow } = found;
  const step = ({ actor, fact }: OrderFunds['who_can_move_it'][number]) => `${actor}: ${fact}`;
  const amount = (value: string | null) =>
    value === null ? 'no node answers' : `${value} ${found.crypto_currency}`;
  return [
    found.summary,
    '',
    fields(
      [
        ['order', found.order_id],
        ['status', found.held_for_review ? `${found.status} (held for review)` : found.status],
        ['chain', found.chain],
        ['escrow', escrow === null ? 'none' : `${escrow.address} (${escrow.state})`],
        ['expected', escrow === null ? null : amount(escrow.expected_amount)],
        ['booked', escrow === null ? null : amount(escrow.booked_amount)],
        ['on chain', escrow === null ? null : amount(escrow.balance_on_chain)],
        ['held back', escrow === null ? null : amount(escrow.held_amount)],
        ['waits for', found.waiting_for === null ? null : step(found.waiting_for)],
        ['until', found.deadline_at],
        ['can move it', found.who_can_move_it.map(step).join(', ') || 'nobody'],
      ],
      paint,
    ),
    ...found.deposits.map(
      ({ amount: paid, token, amount_atomic, status, note, tx_hash }) =>
        `deposit  ${paid ?? amount_atomic} ${token ?? 'of an unknown token'}  ${status}  ${note}  ${tx_hash}`,
    ),
    ...found.movements.flatMap(({ kind, at, postings }) => [
      paint('dim', `${at}  ${kind}`),
      ...postings.map(({ account, asset, amount: moved }) => `  ${moved} ${asset}  ${account}`),
    ]),
  ].join('\n');
}
