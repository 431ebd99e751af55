import type { ConsoleOperation } from '@causeway/protocol/console';
import { Button, Group, Kbd, Text } from '@mantine/core';
import { type UseMutationResult, useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMay } from '../../../api/session.ts';
import { Problem } from '../../../ui/states.tsx';
import { useKeys } from './keys.ts';

/** Why it is looked at, for the audit log. */
export const WHY = 'To decide the case in the queue';

/** What is personal stays hidden until it is asked for on purpose; each look is in the audit log. */
export function Revealed<T>({
  operation,
  what,
  reveal,
  children,
}: {
  readonly operation: ConsoleOperation;
  readonly what: string;
  readonly reveal: () => Promise<T>;
  readonly children: (shown: T) => ReactNode;
}) {
  const may = useMay();
  const mutation: UseMutationResult<T, unknown, void> = useMutation({ mutationFn: reveal });
  useKeys({
    v: () => {
      if (may(operation) && !mutation.isPending && mutation.data === undefined) mutation.mutate();
    },
  });
  if (mutation.data !== undefined) return children(mutation.data);
  return (
    <>
      <Group gap="sm">
        <Button
          size="xs"
          variant="default"
          disabled={!may(operation)}
          loading={mutation.isPending}
          onClick={() => mutation.mutate()}
          rightSection={<Kbd size="xs">V</Kbd>}
          data-testid="reveal"
        >
          Reveal {what}
        </Button>
        <Text size="xs" c="dimmed">
          {may(operation) ? 'Written to the audit log' : 'Your role does not show personal data'}
        </Text>
      </Group>
      {mutation.isError ? <Problem error={mutation.error} /> : null}
    </>
  );
}
