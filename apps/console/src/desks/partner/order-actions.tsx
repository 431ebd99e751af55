import type { ConsoleOperation } from '@causeway/protocol/console';
import type { PartnerAction } from '@causeway/protocol/machines';
import type { Order } from '@causeway/sdk';
import { Alert, Anchor, Button, Card, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { Link } from '../../ui/navigation.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';
import { payersOf, titleOfAction } from './order-calls.ts';
import type { SignedAction } from './order-signing.ts';
import { ACTION_WORDS } from './order-words.ts';

const SignDialog = lazy(() => import('./order-sign-dialog.tsx'));

const OPERATIONS: Readonly<Record<PartnerAction, ConsoleOperation>> = {
  cancel: 'cancelOrder',
  'confirm-payment-sent': 'confirmPaymentSent',
  'confirm-fiat-received': 'confirmFiatReceived',
  'submit-payer-details': 'submitPayerDetails',
  'authorize-crypto-transfer': 'authorizeCryptoTransfer',
  'authorize-refund': 'authorizeRefund',
  'authorize-release': 'authorizeRelease',
  'authorize-bridge': 'authorizeBridge',
};

/** What the partner may do with the order now, by its own allowed actions and by what the user’s role allows. */
export function OrderActions({ order }: { readonly order: Order }) {
  const may = useMay();
  const allowed = order.allowed_actions as PartnerAction[];
  const shown = allowed.filter((action) => action in OPERATIONS && may(OPERATIONS[action]));
  const refused = allowed.length - shown.length;
  const isYours = order.next_action !== 'wait' && order.next_action !== 'none';
  return (
    <Card withBorder data-testid="next-step" data-next={order.next_action}>
      <Text fw={600} component="h2" size="sm" mb="xs">
        {isYours ? 'Your turn' : 'Next step'}
      </Text>
      <Text size="sm" mb="xs">
        {isYours
          ? `${ACTION_WORDS[order.next_action] ?? order.next_action}.`
          : order.next_action === 'wait'
            ? 'Others have to act first; nothing is asked of you.'
            : 'Nothing more is asked of you.'}
        {order.expires_at === null ? null : (
          <>
            {' '}
            Time runs out <Time at={order.expires_at} />.
          </>
        )}
      </Text>
      <Group gap="xs">
        {shown.map((action) => (
          <ActionButton key={action} order={order} action={action} />
        ))}
      </Group>
      {refused === 0 ? null : (
        <Text size="xs" c="dimmed" mt="xs">
          Your role may not take {refused === 1 ? 'one more step' : `${refused} more steps`}; an admin of your
          team can.
        </Text>
      )}
    </Card>
  );
}

function ActionButton({ order, action }: { readonly order: Order; readonly action: PartnerAction }) {
  const id = order.order_id;
  const testId = `action-${action}`;
  const title = titleOfAction(action);
  switch (action) {
    case 'cancel':
      return (
        <Action
          variant="default"
          run={(reason) => api.orders.cancel(id, { reason })}
          done="The order is cancelled"
          confirm="The order ends without a trade. What is in escrow goes back to whom it belongs."
          reason
          testId={testId}
        >
          {title}
        </Action>
      );
    case 'confirm-payment-sent':
      return (
        <Action
          run={() => api.orders.confirmPaymentSent(id)}
          done="Noted: the payment was sent"
          confirm={`You say that the customer has sent ${order.amounts.fiat_amount} ${order.amounts.fiat_currency} to the vendor.`}
          testId={testId}
        >
          {title}
        </Action>
      );
    case 'confirm-fiat-received':
      return (
        <Action
          run={() => api.orders.confirmFiatReceived(id)}
          done="Noted: the money arrived"
          confirm={`You say that ${order.amounts.fiat_amount} ${order.amounts.fiat_currency} have arrived at the recipient. The escrow then pays the vendor, which cannot be undone.`}
          testId={testId}
        >
          {title}
        </Action>
      );
    case 'submit-payer-details':
      return <PayerDetails order={order} title={title} />;
    default:
      return <SignButton order={order} action={action} title={title} />;
  }
}

function SignButton({
  order,
  action,
  title,
}: {
  readonly order: Order;
  readonly action: SignedAction;
  readonly title: string;
}) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button
        size="xs"
        variant={action === 'authorize-bridge' ? 'default' : 'filled'}
        onClick={open}
        data-testid={`action-${action}`}
      >
        {title}
      </Button>
      {isOpen ? (
        <Suspense fallback={null}>
          <SignDialog order={order} action={action} onClose={close} />
        </Suspense>
      ) : null}
    </>
  );
}

/** The payer is one of the customer’s saved accounts. */
function PayerDetails({ order, title }: { readonly order: Order; readonly title: string }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button size="xs" onClick={open} data-testid="action-submit-payer-details">
        {title}
      </Button>
      <Modal opened={isOpen} onClose={close} title={title} centered>
        {isOpen ? <PayerForm order={order} onDone={close} /> : null}
      </Modal>
    </>
  );
}

function PayerForm({ order, onDone }: { readonly order: Order; readonly onDone: () => void }) {
  const [chosen, choose] = useState<string | null>(null);
  const query = useQuery({
    queryKey: ['payment-details', order.user_id],
    queryFn: ({ signal }) => api.paymentDetails.list(order.user_id, { limit: 100 }, { signal }),
  });
  return (
    <Loaded query={query}>
      {({ payment_details: saved }) => {
        const fitting = payersOf(order, saved);
        if (fitting.length === 0) {
          return (
            <Empty
              title={`The customer has no account of ${order.payment_network_slug} in ${order.amounts.fiat_currency}`}
            >
              Only such an account may pay. Your program saves one, or says who pays without saving it: see
              Next call on this page. What is saved is on the{' '}
              <Anchor component={Link} to={`/partner/customers/${order.user_id}`} underline="always">
                page of the customer
              </Anchor>
              .
            </Empty>
          );
        }
        return (
          <Stack>
            <Select
              label="Account that pays"
              data={fitting.map(({ id, rail, currency }) => ({
                value: String(id),
                label: `${id}: ${rail}, ${currency}`,
              }))}
              value={chosen}
              onChange={choose}
              data-testid="payer-account"
            />
            <Alert variant="light">The vendor asks this account for the payment.</Alert>
            <Group justify="flex-end">
              <Action
                disabled={chosen === null}
                run={() =>
                  api.orders.submitPayerDetails(order.order_id, { payment_details_id: Number(chosen) })
                }
                done="The vendor knows who pays"
                onDone={onDone}
                testId="payer-submit"
              >
                Hand it in
              </Action>
            </Group>
          </Stack>
        );
      }}
    </Loaded>
  );
}
