import { Anchor, Button, type ButtonProps, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { problemOf } from '../api/client.ts';
import { Link } from './navigation.tsx';
import { Problem } from './states.tsx';

/**
 * A button that does something at the service: it waits, says what came of it, and has everything that is shown read again.
 * Where it cannot be undone it asks first; where the service wants a reason it asks for one.
 */
export interface ActionProps extends Omit<ButtonProps, 'onClick'> {
  readonly children: ReactNode;
  readonly run: (reason: string) => Promise<unknown>;
  /** What is told when it is done. */
  readonly done: string;
  /** Asked before it is done: what will happen, in words. */
  readonly confirm?: ReactNode;
  /** The service keeps why it was done. */
  readonly reason?: boolean;
  /** More than what is shown has to be read again by default: everything. */
  readonly onDone?: (result: unknown) => void;
  readonly testId?: string;
  readonly disabled?: boolean;
}

export function Action({
  children,
  run,
  done,
  confirm,
  reason = false,
  onDone,
  testId,
  ...button
}: ActionProps) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [why, setWhy] = useState('');
  const client = useQueryClient();
  const asks = confirm !== undefined || reason;
  const mutation = useMutation({
    mutationFn: () => run(why.trim()),
    onSuccess: async (result) => {
      close();
      setWhy('');
      notifications.show({ message: done, color: 'teal' });
      onDone?.(result);
      await client.invalidateQueries();
    },
    onError: async (error) => {
      if (problemOf(error).code === 'APPROVAL_REQUIRED') {
        // Not a failure: it is kept until somebody else agrees.
        close();
        setWhy('');
        tellOfApproval();
        await client.invalidateQueries();
      } else if (!asks)
        notifications.show({ message: problemOf(error).message, color: 'red', autoClose: 10_000 });
    },
  });
  const label = typeof children === 'string' ? children : 'Confirm';
  return (
    <>
      <Button
        size="xs"
        {...button}
        loading={mutation.isPending && !isOpen}
        onClick={asks ? open : () => mutation.mutate()}
        data-testid={testId}
      >
        {children}
      </Button>
      <Modal opened={isOpen} onClose={close} title={label} centered>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            mutation.mutate();
          }}
        >
          <Stack>
            {confirm === undefined ? null : (
              <Text size="sm" component="div">
                {confirm}
              </Text>
            )}
            {reason ? (
              <Textarea
                label="Reason"
                description="Kept in the audit log"
                required
                maxLength={500}
                autosize
                minRows={2}
                value={why}
                onChange={({ currentTarget }) => setWhy(currentTarget.value)}
                data-testid="reason"
                data-autofocus
              />
            ) : null}
            {mutation.isError ? <Problem error={mutation.error} /> : null}
            <Group justify="flex-end">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button
                type="submit"
                color={button.color}
                loading={mutation.isPending}
                disabled={reason && why.trim() === ''}
                data-testid="confirm"
              >
                {label}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  );
}

function tellOfApproval(): void {
  notifications.show({
    color: 'orange',
    autoClose: 10_000,
    title: 'Waits for a second person',
    message: (
      <Anchor component={Link} to="/operator/approvals" data-testid="to-approvals">
        Another person has to approve it: open Approvals
      </Anchor>
    ),
  });
}
