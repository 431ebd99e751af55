import {
  formatFixed,
  NEW,
  ORDER_MACHINES,
  type OrderTransition,
  orderStatusesWithOutcome,
  POSTING_KINDS,
  type PostingKind,
} from '@causeway/protocol';
import { SYSTEM } from '../../../db/database.ts';
import {
  type Difference,
  difference,
  type ReconciliationPart,
  secondLook,
} from '../../../engine/reconciliation-part.ts';
import type { UnitDeps } from '../../../engine/unit-of-work.ts';
import { inSlices } from '../../../lib/pacing.ts';
import { assetOf, entryForOrder } from './postings.ts';
import {
  type BookedEntry,
  QUOTED_FIGURES,
  type QuotedFigure,
  type RecordedOrderRow,
  recordedOrder,
  recordedOrders,
} from './reconcile-orders.store.ts';

/**
 * Orders against their quotes and what was written with them in the same transactions: entries of the books, effects,
 * events. What is there to be is worked out anew from the order and from the tables of the machines.
 */

/** Rows a look; so many looks a run. */
const PAGE = 500;
const PAGES = 4;
const DAY_MS = 86_400_000;

interface OrderPartDeps extends Pick<UnitDeps, 'db' | 'clock'> {
  readonly config: { readonly eventRetentionDays: number };
  /** What the books call a fiat account. */
  readonly depositAccountOf: (accountNumber: string) => string;
}

export function orderPart(deps: OrderPartDeps): ReconciliationPart {
  const differencesOf = ({ paid_from: paidFrom, ...order }: RecordedOrderRow) => {
    const account = paidFrom === null ? {} : { deposit_account: deps.depositAccountOf(paidFrom) };
    const recorded = { ...order, ...account };
    return [
      ...entryDifferences(recorded),
      ...quoteDifferences(recorded),
      ...effectDifferences(recorded),
      // What is about to be purged for its age may be gone between two looks.
      ...eventDifferences(recorded, deps.clock.now() - (deps.config.eventRetentionDays - 0.5) * DAY_MS),
    ];
  };
  return {
    name: 'orders',
    kinds: [
      'entry_missing',
      'entry_unexpected',
      'entry_amount',
      'order_amount',
      'effect_missing',
      'event_missing',
    ],
    async sweep(cursor) {
      let next = cursor;
      let checked = 0;
      const found: Difference[] = [];
      for (let page = 0; page < PAGES; page++) {
        const orders = await deps.db.query(SYSTEM, recordedOrders, [next, PAGE]);
        checked += orders.length;
        found.push(...(await inSlices(orders, differencesOf)));
        next = orders.length < PAGE ? null : (orders.at(-1)?.order_id ?? null);
        if (next === null) break;
      }
      return { checked, found, unreachable: 0, next };
    },
    async again(subject, kind) {
      const [order] = await deps.db.query(SYSTEM, recordedOrder, [subject.split(':', 1)[0] ?? '']);
      return secondLook(order === undefined ? [] : differencesOf(order), subject, kind);
    },
  };
}

type RecordedOrder = Omit<RecordedOrderRow, 'paid_from'>;

/** What an order books; what its deposits book is theirs. */
const OF_ORDERS = [
  'vendor_escrow_funded',
  'partner_escrow_funded',
  'customer_deposit_applied',
  'escrow_released',
  'escrow_refunded',
  'escrow_returned_to_vendor',
  'escrow_settled_elsewhere',
  'send_out_settled',
] as const satisfies readonly PostingKind[];
type OrderEntryKind = (typeof OF_ORDERS)[number];
const OF_OTHERS: readonly string[] = POSTING_KINDS.filter(
  (kind) => !(OF_ORDERS as readonly string[]).includes(kind),
);

const FUNDED = { onramp: 'vendor_escrow_funded', offramp: 'partner_escrow_funded' } as const;
const RETURNED = { onramp: 'escrow_returned_to_vendor', offramp: 'escrow_refunded' } as const;
const SETTLED_ELSEWHERE = 'escrow_settled_elsewhere' as const;
/** The escrow has paid the buyer. */
const PAID_OUT: readonly string[] = orderStatusesWithOutcome('settled');

/** Statuses that no order reaches without this movement. */
function reachedBy(posting: PostingKind): readonly string[] {
  const rows = Object.values(ORDER_MACHINES).flatMap(
    (machine) => machine.transitions as readonly OrderTransition[],
  );
  const isBooked = (status: string) =>
    rows
      .filter(({ to, from }) => to === status && ![from].flat().includes(to))
      .every(({ posts }) => posts === posting);
  return [...new Set(rows.filter(({ posts }) => posts === posting).map(({ to }) => to))].filter(isBooked);
}
const SENT_OUT = reachedBy('send_out_settled');

/** The movements that an order in this state has made. */
function entriesDue({ direction, status, facts, deposit_account, entries }: RecordedOrder): OrderEntryKind[] {
  const isFunded = facts.escrow !== 'none' || PAID_OUT.includes(status);
  // One of the two has emptied the escrow of an order that stopped; which, the order itself does not say.
  const isElsewhere = entries.some(({ kind }) => kind === SETTLED_ELSEWHERE);
  return [
    ...(isFunded ? [FUNDED[direction]] : []),
    ...(deposit_account === undefined ? [] : (['customer_deposit_applied'] as const)),
    ...(PAID_OUT.includes(status) ? (['escrow_released'] as const) : []),
    ...(facts.escrow === 'emptied' && !PAID_OUT.includes(status)
      ? [isElsewhere ? SETTLED_ELSEWHERE : RETURNED[direction]]
      : []),
    ...(SENT_OUT.includes(status) ? (['send_out_settled'] as const) : []),
  ];
}

function entryDifferences(order: RecordedOrder): Difference[] {
  const due = entriesDue(order);
  const about = (kind: string) => ({ orderId: order.order_id, about: kind, asset: assetOf(order) });
  const missing = due
    .filter((kind) => !order.entries.some((entry) => entry.kind === kind))
    .map((kind) =>
      difference('entry_missing', `${order.order_id}:${kind}`, {
        ...about(kind),
        expected: wordsOf(order, dueEntry(order, kind)),
        found: `no entry; the order is ${order.status}, its escrow ${order.facts.escrow}`,
      }),
    );
  const booked = order.entries.filter(({ kind }) => !OF_OTHERS.includes(kind) && !isReturned(order, kind));
  const others = booked.flatMap((entry) => {
    const kind = due.find((one) => one === entry.kind);
    if (kind === undefined) {
      return difference('entry_unexpected', `${order.order_id}:${entry.kind}`, {
        ...about(entry.kind),
        expected: `no such entry; the order is ${order.status}, its escrow ${order.facts.escrow}`,
        found: wordsOf(order, entry),
      });
    }
    const expected = dueEntry(order, kind);
    if (keyOf(expected) === keyOf(entry)) return [];
    return difference('entry_amount', `${order.order_id}:${kind}`, {
      ...about(kind),
      expected: wordsOf(order, expected),
      found: wordsOf(order, entry),
    });
  });
  return [...missing, ...others];
}

/** The customer has back what it had paid for the order: its payment has no order any more, and the two entries cancel out. */
function isReturned({ entries, facts, deposit_account }: RecordedOrder, kind: string): boolean {
  if (kind !== 'customer_deposit_applied') return false;
  if (facts.vendorPayment !== 'refused' || deposit_account !== undefined) return false;
  const net = new Map<string, bigint>();
  for (const entry of entries) {
    if (entry.kind !== kind && entry.kind !== 'customer_deposit_returned') continue;
    for (const { account, amount } of entry.postings) {
      net.set(account, (net.get(account) ?? 0n) + BigInt(amount));
    }
  }
  return [...net.values()].every((sum) => sum === 0n);
}

function dueEntry(order: RecordedOrder, kind: OrderEntryKind): BookedEntry {
  const { postings } = entryForOrder(order, kind);
  const moved = postings.filter(({ amount }) => amount !== 0n);
  return { kind, postings: moved.map(({ amount, ...rest }) => ({ ...rest, amount: amount.toString() })) };
}

const keyOf = ({ postings }: BookedEntry) =>
  postings
    .map(({ account, asset, amount }) => `${account} ${asset} ${amount}`)
    .sort()
    .join('\n');

/** `escrow: -115.198178, outside:partner: 115.000000`: accounts without their ids, which the order has. */
function wordsOf(order: RecordedOrder, { postings }: BookedEntry): string {
  const asset = assetOf(order);
  const words = postings.map((posting) => {
    const decimals = posting.asset === asset ? order.crypto_decimals : order.fiat_decimals;
    const account = posting.account.replace(/:[0-9a-f-]{36}$/, '');
    return `${account} ${formatFixed(BigInt(posting.amount), decimals)}`;
  });
  return words.join(', ') || 'nothing moved';
}

function quoteDifferences(order: RecordedOrder): Difference[] {
  const changed = QUOTED_FIGURES.filter((name) => order[name] !== order.quoted[name]);
  if (changed.length === 0) return [];
  const words = (of: Readonly<Record<QuotedFigure, string>>) =>
    changed.map((name) => `${name} ${figureInWords(order, name, of[name])}`).join(', ');
  return [
    difference('order_amount', order.order_id, {
      orderId: order.order_id,
      about: `quote ${order.quote_id}`,
      expected: words(order.quoted),
      found: words(order),
    }),
  ];
}

function figureInWords(order: RecordedOrder, name: QuotedFigure, value: string): string {
  if (name === 'rate') return value;
  return formatFixed(BigInt(value), name === 'fiat_amount' ? order.fiat_decimals : order.crypto_decimals);
}

type Machine = (typeof ORDER_MACHINES)[keyof typeof ORDER_MACHINES];

/** The effects of the transitions that set the escrow in motion, as the tables have them. */
function effectsThatMove(machine: Machine, escrow: 'releasing' | 'refunding'): readonly string[] {
  return (machine.transitions as readonly OrderTransition[])
    .filter(({ sets }) => sets?.escrow === escrow)
    .flatMap(({ effects = [] }) => effects);
}

/** The effects that begin with a status, where nothing leads to it without one. */
function effectsOfStatus(machine: Machine, status: string): readonly string[] {
  const into = (machine.transitions as readonly OrderTransition[]).filter(
    ({ to, from }) => to === status && ![from].flat().includes(to),
  );
  return into.some(({ effects = [] }) => effects.length === 0)
    ? []
    : into.flatMap(({ effects = [] }) => effects);
}

function effectDifferences(order: RecordedOrder): Difference[] {
  const machine = ORDER_MACHINES[order.direction];
  const { escrow } = order.facts;
  const isMoving = escrow === 'releasing' || escrow === 'refunding';
  const moving = isMoving ? effectsThatMove(machine, escrow) : [];
  const beginning = effectsOfStatus(machine, order.status);
  const lacks = (kinds: readonly string[], what: string, mustBeOpen: boolean): Difference[] => {
    const has = order.effects.some(({ kind, open }) => kinds.includes(kind) && (open || !mustBeOpen));
    if (kinds.length === 0 || has) return [];
    const wanted = [...new Set(kinds)].join(' or ');
    return [
      difference('effect_missing', `${order.order_id}:${what}`, {
        orderId: order.order_id,
        about: wanted.slice(0, 200),
        expected: `${mustBeOpen ? 'open work' : 'work'}: ${wanted}; ${what}`,
        found:
          order.effects.map(({ kind, open }) => `${kind} (${open ? 'open' : 'done'})`).join(', ') || 'none',
      }),
    ];
  };
  // What sets the escrow in motion is settled together with the movement it made.
  return isMoving
    ? lacks(moving, `the escrow is ${escrow}`, true)
    : lacks(beginning, `the order is ${order.status}`, false);
}

/** Whether every way from one status, or into being, to the next tells the partner of it. */
function isAnnounced(machine: Machine, from: string, to: string): boolean {
  const ways = (machine.transitions as readonly OrderTransition[]).filter(
    (one) => one.to === to && ([one.from].flat() as readonly string[]).includes(from),
  );
  return ways.length > 0 && ways.every(({ emits }) => emits.includes('order.status.changed'));
}

/** What one unit of work did, and so two events, may be of the same instant. */
function eventDifferences(order: RecordedOrder, since: number): Difference[] {
  const machine = ORDER_MACHINES[order.direction];
  const announced = order.announced_at.map(Number);
  return order.timeline.flatMap(({ status, at }, index) => {
    const from = order.timeline[index - 1]?.status ?? NEW;
    const instant = Date.parse(at);
    if (instant < since || !isAnnounced(machine, from, status)) return [];
    const event = announced.indexOf(instant);
    if (event >= 0) {
      announced.splice(event, 1);
      return [];
    }
    return difference('event_missing', `${order.order_id}:${at}`, {
      orderId: order.order_id,
      about: 'order.status.changed',
      expected: `an event of ${at}: the order became ${status}`,
      found: 'none',
    });
  });
}
