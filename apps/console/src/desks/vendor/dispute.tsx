import type { VendorOrderDetail } from '@causeway/sdk';
import { Button, Card, Group, Select, Stack, Text, Textarea, Title } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Problem } from '../../ui/states.tsx';
import { Time } from '../../ui/values.tsx';

/** A vendor’s side of a dispute: said until the operator decides, as often as needed. */
export function AnswerStep({ order }: { readonly order: VendorOrderDetail }) {
  const [text, setText] = useState('');
  const [proofId, setProofId] = useState<string | null>(null);
  const may = useMay();
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: () =>
      api.vendor.orders.stateInDispute(order.order_id, {
        text: text.trim(),
        ...(proofId === null ? {} : { proof_id: proofId }),
      }),
    onSuccess: async () => {
      setText('');
      notifications.show({ message: 'The operator can read it now.', color: 'teal' });
      await client.invalidateQueries();
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send.mutate();
      }}
    >
      <Stack>
        <Text size="sm">
          The order is in dispute: nothing moves until the operator has decided who is paid. Say what
          happened, with dates, amounts and names as your bank shows them.
        </Text>
        <Textarea
          label="What happened"
          required
          autosize
          minRows={3}
          maxLength={4_000}
          value={text}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
          data-testid="statement-text"
        />
        {order.proofs.length === 0 ? null : (
          <Select
            label="About the payment proof"
            data={order.proofs.map(({ proof_id, submitted_at }) => ({
              value: proof_id,
              label: `of ${new Date(submitted_at).toLocaleString()}`,
            }))}
            value={proofId}
            clearable
            onChange={setProofId}
            data-testid="statement-proof"
          />
        )}
        {send.isError ? <Problem error={send.error} /> : null}
        <Group>
          <Button
            type="submit"
            loading={send.isPending}
            disabled={text.trim() === '' || !may('submitDisputeStatement')}
            data-testid="send-statement"
          >
            Tell the operator
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

export function Statements({ order }: { readonly order: VendorOrderDetail }) {
  if (order.dispute_statements.length === 0) return null;
  return (
    <Card withBorder data-testid="statements">
      <Title order={2} size="h4" mb="xs">
        What you said in the dispute
      </Title>
      <Stack gap="sm">
        {order.dispute_statements.map(({ statement_id, text, created_at, proof_id }) => (
          <div key={statement_id} data-testid="statement">
            <Text size="xs" c="dimmed" component="div">
              <Time at={created_at} />
              {proof_id === null ? '' : ', about a payment proof'}
            </Text>
            <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
              {text}
            </Text>
          </div>
        ))}
      </Stack>
    </Card>
  );
}
