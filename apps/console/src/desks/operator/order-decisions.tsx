import type { OrderAuditTrail } from '@causeway/sdk';
import { Card, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Link } from '../../ui/navigation.tsx';
import { PartHead } from '../../ui/part-head.tsx';
import { Loading } from '../../ui/states.tsx';

/** Brings the signing code along only where something is to be signed. */
const OwnerSignature = lazy(async () => {
  const { OwnerSignature: component } = await import('./order-sign.tsx');
  return { default: component as ComponentType<Parameters<typeof component>[0]> };
});

interface Decision {
  readonly key: string;
  readonly operation: 'decideOrderHold' | 'decideOrderDispute' | 'reviewProof' | 'settleEscrowElsewhere';
  readonly label: string;
  readonly done: string;
  readonly confirm: string;
  readonly color?: string;
  readonly run: (orderId: string, reason: string) => Promise<unknown>;
}

const DECISIONS: readonly Decision[] = [
  {
    key: 'hold:place',
    operation: 'decideOrderHold',
    label: 'Hold the order',
    done: 'The order is held',
    confirm: 'No money of this order moves until the hold is released. What has been sent already goes on.',
    color: 'orange',
    run: (orderId, reason) => api.operator.orders.decideHold(orderId, { decision: 'place', reason }),
  },
  {
    key: 'dispute:open',
    operation: 'decideOrderDispute',
    label: 'Open a dispute',
    done: 'The dispute is open',
    confirm: 'The crypto stays in escrow until the dispute is decided for the buyer or the seller.',
    color: 'orange',
    run: (orderId, reason) => api.operator.orders.decideDispute(orderId, { decision: 'open', reason }),
  },
  {
    key: 'dispute:for_buyer',
    operation: 'decideOrderDispute',
    label: 'Decide for the buyer',
    done: 'Decided for the buyer',
    confirm: 'The escrow is paid out to the buyer, as soon as one of its owners has signed that.',
    run: (orderId, reason) => api.operator.orders.decideDispute(orderId, { decision: 'for_buyer', reason }),
  },
  {
    key: 'dispute:for_seller',
    operation: 'decideOrderDispute',
    label: 'Decide for the seller',
    done: 'Decided for the seller',
    confirm: 'The escrow goes back to the seller, and the order ends.',
    run: (orderId, reason) => api.operator.orders.decideDispute(orderId, { decision: 'for_seller', reason }),
  },
  {
    key: 'escrow:settled_elsewhere',
    operation: 'settleEscrowElsewhere',
    label: 'The owners have emptied the escrow',
    done: 'The order has ended',
    confirm:
      'Only where two owners of the escrow have moved its crypto in a transaction of their own: that is looked up on the chain. The order ends, and nothing more is paid out.',
    color: 'red',
    run: (orderId, reason) => api.operator.orders.settleEscrowElsewhere(orderId, { reason }),
  },
  {
    key: 'proof-review:start',
    operation: 'reviewProof',
    label: 'Start the proof’s review',
    done: 'The review has begun',
    confirm: 'Tells both sides that the proof of payment is being looked at.',
    run: (orderId, reason) => api.operator.orders.reviewProof(orderId, { decision: 'start', reason }),
  },
  {
    key: 'proof-review:accepted',
    operation: 'reviewProof',
    label: 'Accept the proof',
    done: 'The proof is accepted',
    confirm: 'The payment counts as made, and the order goes on.',
    run: (orderId, reason) => api.operator.orders.reviewProof(orderId, { decision: 'accepted', reason }),
  },
  {
    key: 'proof-review:rejected',
    operation: 'reviewProof',
    label: 'Refuse the proof',
    done: 'The proof is refused',
    confirm: 'The vendor is asked for another one; after too many the order is cancelled.',
    color: 'red',
    run: (orderId, reason) => api.operator.orders.reviewProof(orderId, { decision: 'rejected', reason }),
  },
];

/** What can be decided now; each asks for its reason and says what it does. */
export function Decisions({ trail }: { readonly trail: OrderAuditTrail }) {
  const may = useMay();
  const allowed = trail.allowed_actions;
  const { order_id: orderId } = trail.order;
  const shown = DECISIONS.filter(({ key }) => allowed.includes(key));
  const signs = (['release', 'refund'] as const).filter((purpose) =>
    allowed.includes(`escrow-signature:${purpose}`),
  );
  const others = [
    ...(allowed.includes('hold:release') ? [<ReleaseHold key="release" trail={trail} />] : []),
    ...(allowed.includes('send-out:settled') || allowed.includes('send-out:failed')
      ? [<SendOut key="send-out" orderId={orderId} />]
      : []),
  ];
  return (
    <>
      <Group gap="xs" mb="md" data-testid="decisions">
        {shown.map(({ key, operation, label, done, confirm, color, run }) => (
          <Action
            key={key}
            reason
            confirm={confirm}
            done={done}
            disabled={!may(operation)}
            variant={color === undefined ? 'filled' : 'light'}
            {...(color === undefined ? {} : { color })}
            run={(reason) => run(orderId, reason)}
            testId={`decide-${key.replace(':', '-').replace('_', '-')}`}
          >
            {label}
          </Action>
        ))}
        {others}
        {shown.length + others.length + signs.length === 0 ? (
          <Text size="sm" c="dimmed">
            Nothing is to be decided about this order now.
          </Text>
        ) : null}
      </Group>
      {signs.map((purpose) => (
        <SignatureCard key={purpose} title={purpose === 'release' ? 'Pay out' : 'Pay back'}>
          {may('submitEscrowSignature') ? (
            <Suspense fallback={<Loading />}>
              <OwnerSignature trail={trail} purpose={purpose} />
            </Suspense>
          ) : (
            <Text size="sm">Your role may not hand in signatures. Ask somebody of finance.</Text>
          )}
        </SignatureCard>
      ))}
    </>
  );
}

function SignatureCard({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Card withBorder mb="md">
      <PartHead title={`${title}: a signature is needed`} />
      <Stack gap="sm">{children}</Stack>
    </Card>
  );
}

function ReleaseHold({ trail }: { readonly trail: OrderAuditTrail }) {
  const may = useMay();
  const [withoutKyc, setWithoutKyc] = useState(false);
  const canWaive = trail.allowed_actions.includes('hold:override_kyc');
  return (
    <FormDialog
      label="Release the hold"
      done="The hold is released"
      reason="required"
      testId="decide-hold-release"
      disabled={!may('decideOrderHold')}
      run={(reason) =>
        api.operator.orders.decideHold(trail.order.order_id, {
          decision: 'release',
          reason,
          ...(withoutKyc ? { override_kyc: true } : {}),
        })
      }
    >
      <Text size="sm">
        What the hold kept back goes on at once, a payout included.
        {trail.order.hold ? ` It is held because: ${reasonText(trail.order.hold)}` : ''}
      </Text>
      {canWaive ? (
        <Checkbox
          label="Let it go on although the customer’s KYC is refused"
          description="The fiat side has been paid already. You answer for it."
          checked={withoutKyc}
          onChange={({ currentTarget }) => setWithoutKyc(currentTarget.checked)}
          data-testid="override-kyc"
        />
      ) : null}
      <Text size="xs" c="dimmed">
        Where the hold is about a person, look at the <Link to="/operator/queue">queue</Link> first.
      </Text>
    </FormDialog>
  );
}

/** A reason of the catalogue, in its words where it has any. */
export function reasonText(reason: unknown): string {
  if (typeof reason === 'string') return reason;
  const { message, code } = (reason ?? {}) as { readonly message?: string; readonly code?: string };
  return message ?? code ?? '';
}

function SendOut({ orderId }: { readonly orderId: string }) {
  const may = useMay();
  const [hash, setHash] = useState('');
  return (
    <>
      <FormDialog
        label="The send-out has arrived"
        done="The send-out is confirmed"
        reason="required"
        testId="send-out-settled"
        disabled={!may('decideSendOut')}
        isReady={/^0x[0-9a-fA-F]{64}$/.test(hash.trim())}
        run={(reason) =>
          api.operator.orders.decideSendOut(orderId, { outcome: 'settled', tx_hash: hash.trim(), reason })
        }
      >
        <TextInput
          label="Transaction of the payout on the other chain"
          description="0x and 64 digits. On a chain that is configured here it is looked up and must be final."
          required
          value={hash}
          onChange={({ currentTarget }) => setHash(currentTarget.value)}
          data-testid="send-out-hash"
        />
      </FormDialog>
      <Action
        color="red"
        variant="light"
        reason
        confirm="Only where the bridge has given the deposit back, or never will: the partner may then send out again."
        done="The send-out counts as failed"
        disabled={!may('decideSendOut')}
        run={(reason) => api.operator.orders.decideSendOut(orderId, { outcome: 'failed', reason })}
        testId="send-out-failed"
      >
        The send-out has failed
      </Action>
    </>
  );
}
