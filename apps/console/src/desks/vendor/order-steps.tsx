import type { VendorOrderDetail } from '@causeway/sdk';
import { Alert, Code, FileInput, Group, Stack, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { base64Of } from '../../ui/files.ts';
import { Loaded } from '../../ui/states.tsx';
import { Copy, Fact, Id } from '../../ui/values.tsx';
import { SendTransaction, SignTypedData } from '../../wallet/signing.tsx';
import { prepareFunding, preparePayout } from './order-signing.ts';
import { type GivenDetails, PaymentFields } from './payment-fields.tsx';
import { forgetPayment, payOnce, useSentPayment } from './sent-payment.ts';

interface StepProps {
  readonly order: VendorOrderDetail;
}

/** A refund or a release, and where its signature is handed in. */
function Payout({
  order,
  purpose,
  label,
  done,
  submit,
  disabled = false,
}: StepProps & {
  readonly purpose: 'refund' | 'release';
  readonly label: string;
  readonly done: string;
  readonly submit: (signature: string) => Promise<unknown>;
  readonly disabled?: boolean;
}) {
  return (
    <SignTypedData
      queryKey={[order.order_id, purpose, order.status]}
      prepare={() => preparePayout(order, purpose)}
      submit={submit}
      label={label}
      done={done}
      network={order.chain}
      disabled={disabled}
      testId={`sign-${purpose}`}
    />
  );
}

export function AcceptStep({ order }: StepProps) {
  const [given, setGiven] = useState<GivenDetails>({ details: {}, isComplete: false });
  const needsDetails = order.direction === 'onramp' && !order.payment_request;
  const may = useMay();
  if (!may('acceptVendorOrder')) return <NotYours />;
  return (
    <Stack>
      {needsDetails ? <PaymentFields order={order} onChange={setGiven} /> : null}
      <Text size="sm">
        To accept, sign the refund of the escrow: with it the crypto can always go back to its seller,
        whatever happens. Signing costs no gas and moves nothing now.
      </Text>
      {needsDetails && !given.isComplete ? (
        <Text size="sm" c="dimmed" data-testid="details-missing">
          Say first where the customer pays, in the form of the rail.
        </Text>
      ) : null}
      <Payout
        order={order}
        purpose="refund"
        label="Sign and accept"
        done="The order is yours."
        disabled={needsDetails && !given.isComplete}
        submit={(refund_signature) =>
          api.vendor.orders.accept(order.order_id, {
            refund_signature,
            ...(needsDetails ? { payment_details: given.details } : {}),
          })
        }
      />
    </Stack>
  );
}

export function SignRefundStep({ order }: StepProps) {
  const may = useMay();
  if (!may('signVendorRefund')) return <NotYours />;
  return (
    <Stack>
      <Text size="sm">
        Your quote serves this order. Sign the refund, so that the customer’s crypto can go back if the trade
        stops. Signing costs no gas.
      </Text>
      <Payout
        order={order}
        purpose="refund"
        label="Sign the refund"
        done="Signed."
        submit={(refund_signature) => api.vendor.orders.signRefund(order.order_id, { refund_signature })}
      />
    </Stack>
  );
}

export function FundStep({ order }: StepProps) {
  const sent = useSentPayment(order.order_id);
  const may = useMay();
  const { funding } = order;
  if (funding === null) return null;
  if (sent !== null) {
    return (
      <Stack data-testid="funding-sent">
        <Text size="sm" component="div">
          Sent in transaction <Id value={sent} name="transaction" />. It counts after {funding.confirmations}{' '}
          blocks; this page shows it by itself.
        </Text>
        <Group>
          <Action
            variant="subtle"
            confirm="Only if your wallet shows that the transaction failed or was dropped. A second payment of the same order waits for the operator and comes back later."
            run={async () => forgetPayment(order.order_id)}
            done="You can send it again."
            testId="send-again"
          >
            It failed: send it again
          </Action>
        </Group>
      </Stack>
    );
  }
  if (!may('acceptVendorOrder')) return <NotYours />;
  return (
    <Stack>
      <Text size="sm">
        Send exactly this amount, in one transfer, from your own wallet. Anything else waits for the operator.
      </Text>
      <SendTransaction
        queryKey={[order.order_id, 'funding']}
        prepare={() => prepareFunding(order)}
        once={(send) => payOnce(order.order_id, send)}
        label="Send with your wallet"
        network={order.chain}
        testId="fund"
      />
    </Stack>
  );
}

export function ConfirmFiatStep({ order }: StepProps) {
  const may = useMay();
  return (
    <Stack>
      <Alert color="orange" data-testid="check-bank">
        The customer says that {order.fiat_amount} {order.fiat_currency} were paid. Look at your bank account
        first: after this signature the crypto is gone. If the money has not come, open a dispute below.
      </Alert>
      {order.payment_request ? <Instructions order={order} title="You asked this payer:" /> : null}
      {may('confirmVendorFiat') ? (
        <Payout
          order={order}
          purpose="release"
          label="I have the money: sign the release"
          done="Confirmed. The crypto is being released."
          submit={(release_signature) => api.vendor.orders.confirmFiat(order.order_id, { release_signature })}
        />
      ) : (
        <NotYours />
      )}
    </Stack>
  );
}

export function SignReleaseStep({ order }: StepProps) {
  const may = useMay();
  if (!may('signVendorRelease')) return <NotYours />;
  return (
    <Stack>
      <Text size="sm">
        {order.status !== 'dispute_started'
          ? 'The release that you signed could not be sent. Look at what it pays now and sign it again; it goes on after the operator’s review.'
          : order.direction === 'offramp'
            ? 'The dispute was decided for you. Sign the release, and the escrow pays you.'
            : 'The dispute was decided for the buyer. Sign the release to give in; the buyer can also do it alone.'}
      </Text>
      <Payout
        order={order}
        purpose="release"
        label="Sign the release"
        done={order.status === 'dispute_started' ? 'Signed. The crypto is being released.' : 'Signed.'}
        submit={(release_signature) => api.vendor.orders.signRelease(order.order_id, { release_signature })}
      />
    </Stack>
  );
}

/** A request may have 10 MiB, and base64 takes a third more than the file. */
const MOST_BYTES = 7_000_000;
const TYPES = ['image/jpeg', 'image/png', 'image/webp', 'application/pdf'] as const;

export function PayStep({ order }: StepProps) {
  const [reference, setReference] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const may = useMay();
  const problem =
    file === null
      ? null
      : file.size > MOST_BYTES
        ? `The file has ${(file.size / 1_000_000).toFixed(1)} MB; at most 7 MB can be sent.`
        : TYPES.some((type) => type === file.type)
          ? null
          : 'Choose a JPEG, PNG, WebP or PDF file.';
  return (
    <Stack>
      <Instructions
        order={order}
        title={`Pay ${order.fiat_amount} ${order.fiat_currency} over ${order.payment_network_slug} to:`}
      />
      {may('submitVendorProof') ? (
        <>
          <TextInput
            label="Reference of the payment"
            description="What your bank calls it"
            required
            maxLength={200}
            value={reference}
            onChange={({ currentTarget }) => setReference(currentTarget.value)}
            data-testid="payment-reference"
          />
          <FileInput
            label="Slip of the bank"
            description="JPEG, PNG, WebP or PDF, at most 7 MB. It is stored encrypted; the operator who reviews it sees it."
            accept={TYPES.join(',')}
            clearable
            value={file}
            onChange={setFile}
            error={problem}
            data-testid="proof-file"
          />
          <Text size="sm">
            Then sign the release that you will be paid by. It is used once the proof is accepted.
          </Text>
          <Payout
            order={order}
            purpose="release"
            label="I have paid: sign and hand in"
            done="Handed in. The operator checks it."
            disabled={reference.trim() === '' || problem !== null}
            submit={async (release_signature) =>
              api.vendor.orders.submitProof(order.order_id, {
                payment_reference: reference.trim(),
                release_signature,
                ...(file === null ? {} : { content_type: file.type, content: await base64Of(file) }),
              })
            }
          />
        </>
      ) : (
        <NotYours />
      )}
    </Stack>
  );
}

/** Whom to pay or to ask. Refused while a check of the person is open: then nothing is to be paid. */
export function Instructions({ order, title }: StepProps & { readonly title: string }) {
  const query = useQuery({
    queryKey: ['vendor-orders', 'instructions', order.order_id, order.status],
    queryFn: ({ signal }) => api.vendor.orders.paymentInstructions(order.order_id, { signal }),
    retry: false,
  });
  return (
    <Loaded query={query}>
      {({ details }) => (
        <div data-testid="instructions">
          <Text size="sm" fw={600}>
            {title}
          </Text>
          <dl style={{ margin: 0 }}>
            {Object.entries(details).map(([key, value]) => (
              <Fact key={key} label={key.replaceAll('_', ' ')}>
                <Group gap={4} wrap="nowrap" component="span" display="inline-flex">
                  <Code>{value}</Code>
                  <Copy value={value} label={`Copy ${key.replaceAll('_', ' ')}`} />
                </Group>
              </Fact>
            ))}
            <Fact label="amount">
              <Group gap={4} wrap="nowrap" component="span" display="inline-flex">
                <Code>{order.fiat_amount}</Code>
                <Copy value={order.fiat_amount} label="Copy amount" />
              </Group>
            </Fact>
          </dl>
        </div>
      )}
    </Loaded>
  );
}

export function ConfirmSettlementStep({ order }: StepProps) {
  const may = useMay();
  return (
    <Action
      run={() => api.vendor.orders.confirmSettlement(order.order_id)}
      confirm="The escrow pays you when this is confirmed. Say it only when your bank reports that the recipient has the money."
      done="Confirmed."
      disabled={!may('confirmVendorSettlement')}
      testId="confirm-settlement"
    >
      The recipient has the money
    </Action>
  );
}

function NotYours() {
  return (
    <Text size="sm" c="dimmed" data-testid="not-allowed">
      Your role may look but not act here. Ask an administrator of your team.
    </Text>
  );
}
