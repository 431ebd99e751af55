import {
  INITIAL_ORDER_FACTS,
  type OrderFacts,
  type OrderStatus,
  SANDBOX_ORDER_EVENTS,
  type SandboxOrderEvent,
  sandboxEventsOf,
} from '@causeway/protocol/machines';
import type { Order, OrderFunds } from '@causeway/sdk';
import { Card, Group, Text } from '@mantine/core';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { directionOf } from '../../order/layout.ts';
import { Action } from '../../ui/actions.tsx';
import { words } from '../../ui/words.ts';
import { useFunds } from './order-money.tsx';
import { SANDBOX_EVENT_WORDS } from './order-words.ts';

const WORSE_COST = '1.25';
/** What goes wrong stands apart from what goes on. */
const TROUBLE: ReadonlySet<string> = new Set<SandboxOrderEvent>([
  'bridge_fails',
  'proof_rejected',
  'dispute_opened',
  'escrow_error',
  'order_expires',
  'hold_for_review',
  'reprice',
]);

/** In a sandbox: what others would do, at a click. */
export function SandboxPanel({ order }: { readonly order: Order }) {
  const may = useMay();
  const { data: funds } = useFunds(order.order_id, false);
  if (!may('sandboxOrderEvent')) return null;
  const events = possibleEvents(order, funds);
  const button = (event: SandboxOrderEvent) => (
    <Action
      key={event}
      size="xs"
      variant={TROUBLE.has(event) ? 'default' : 'light'}
      run={() =>
        api.sandbox.orderEvent(order.order_id, {
          event,
          ...(event === 'reprice' ? { cost_multiplier: WORSE_COST } : {}),
        })
      }
      done={`Done: ${SANDBOX_EVENT_WORDS[event] ?? words(event)}`}
      testId={`event-${event}`}
    >
      {SANDBOX_EVENT_WORDS[event] ?? words(event)}
    </Action>
  );
  return (
    <Card withBorder data-testid="sandbox-panel">
      <Text fw={600} component="h2" size="sm">
        Sandbox
      </Text>
      <Text size="xs" c="dimmed" mb="xs">
        {events.length === 0
          ? 'Nobody else can do anything with this order now.'
          : 'Play the other parties: what can happen to this order now.'}
      </Text>
      <Group gap="xs" mb="xs">
        {events.filter((event) => !TROUBLE.has(event)).map(button)}
      </Group>
      <Group gap="xs">{events.filter((event) => TROUBLE.has(event)).map(button)}</Group>
    </Card>
  );
}

/**
 * The events that the machine would take, as far as the order tells its facts; what it does not tell is tried either way. The
 * service decides, and says why where it refuses one.
 */
export function possibleEvents(order: Order, funds: OrderFunds | undefined): SandboxOrderEvent[] {
  const direction = directionOf(order.order_type);
  const known: OrderFacts = {
    ...INITIAL_ORDER_FACTS,
    held: order.hold !== null,
    heldForDeposit: order.hold?.reason === 'DEPOSIT_REVIEW',
    fundingSource: order.fiat_funding_source === 'own_iban' ? 'own_iban' : 'vendor_details',
    paymentRequest: order.payment_request,
    anchor: order.anchor_type === 'crypto' ? 'crypto' : 'fiat',
    settlementNotification: order.has_fiat_settlement_notification,
    escrow: (funds?.escrow?.state as OrderFacts['escrow'] | undefined) ?? 'none',
  };
  const variants: readonly OrderFacts[] = [
    known,
    { ...known, proofPending: true, releaseSigned: true, sendOut: 'in_progress' },
  ];
  const status = order.status as OrderStatus;
  const possible = new Set(variants.flatMap((facts) => sandboxEventsOf({ direction, status, facts })));
  return SANDBOX_ORDER_EVENTS.filter((event) => possible.has(event));
}
