import type { VendorDeclineInput, VendorOrderDetail } from '@causeway/sdk';
import { Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { useGo } from '../../ui/navigation.tsx';
import { Problem } from '../../ui/states.tsx';

type Reason = NonNullable<VendorDeclineInput['reason']>;

const REASONS: readonly { readonly value: Reason; readonly label: string }[] = [
  { value: 'no_balance', label: 'I have not enough crypto or money' },
  { value: 'bank_unavailable', label: 'My bank or this rail is not available' },
  { value: 'price_moved', label: 'The price has moved' },
  { value: 'too_busy', label: 'I cannot do it in time' },
  { value: 'risk', label: 'The order looks risky' },
  { value: 'other', label: 'Another reason' },
];

/** Leaves the order to the next vendor. It is gone from this desk then, so the list is shown. */
export function Decline({ order }: { readonly order: VendorOrderDetail }) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [reason, setReason] = useState<Reason | null>(null);
  const go = useGo();
  const may = useMay();
  const client = useQueryClient();
  const decline = useMutation({
    mutationFn: () => api.vendor.orders.decline(order.order_id, reason === null ? {} : { reason }),
    onSuccess: async () => {
      notifications.show({ message: 'Declined. Another vendor is asked.', color: 'teal' });
      go('/vendor/orders');
      await client.invalidateQueries();
    },
  });
  return (
    <>
      <Button variant="default" onClick={open} disabled={!may('declineVendorOrder')} data-testid="decline">
        Decline
      </Button>
      <Modal opened={isOpen} onClose={close} title="Decline the order" centered>
        <Stack>
          <Text size="sm">Another vendor is asked. Why? The operator sees it, the customer does not.</Text>
          <Select
            label="Reason"
            required
            data={[...REASONS]}
            value={reason}
            onChange={(chosen) => setReason(REASONS.find(({ value }) => value === chosen)?.value ?? null)}
            comboboxProps={{ withinPortal: true }}
            data-testid="decline-reason"
          />
          {decline.isError ? <Problem error={decline.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Keep it
            </Button>
            <Button
              color="red"
              disabled={reason === null}
              loading={decline.isPending}
              onClick={() => decline.mutate()}
              data-testid="confirm-decline"
            >
              Decline
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
}
