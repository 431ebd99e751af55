import { Button, Group, Modal, PasswordInput, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ConsoleProblem } from '../api/client.ts';
import { Problem } from '../ui/states.tsx';
import type { OwnAccount } from './wire.ts';

/** Who is signed in says so once more. */
export interface Proof {
  readonly password?: string;
  readonly code?: string;
}

const asksForProof = (error: unknown) =>
  error instanceof ConsoleProblem && error.code === 'REAUTHENTICATION_REQUIRED';

/**
 * For what changes how one signs in: it is tried, and where the service wants to know once more who it is, a dialog asks and it
 * is tried again with the answer.
 */
export function useProven<T>(
  account: OwnAccount,
  run: (proof: Proof) => Promise<T>,
  onDone?: (result: T) => void,
): {
  readonly start: () => void;
  readonly isPending: boolean;
  /** What went wrong, unless it is the dialog’s. */
  readonly error: unknown;
  readonly dialog: ReactNode;
} {
  const [isAsking, setAsking] = useState(false);
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: run,
    onSuccess: async (result) => {
      setAsking(false);
      onDone?.(result);
      await client.invalidateQueries();
    },
    onError: (error) => {
      if (asksForProof(error)) setAsking(true);
    },
  });
  const isPlain = mutation.isError && !isAsking && !asksForProof(mutation.error);
  return {
    start: () => mutation.mutate({}),
    isPending: mutation.isPending && !isAsking,
    error: isPlain ? mutation.error : null,
    dialog: isAsking ? (
      <ProofDialog
        account={account}
        isPending={mutation.isPending}
        error={mutation.isError && !asksForProof(mutation.error) ? mutation.error : null}
        onGiven={(proof) => mutation.mutate(proof)}
        onClose={() => {
          setAsking(false);
          mutation.reset();
        }}
      />
    ) : null,
  };
}

function ProofDialog({
  account,
  isPending,
  error,
  onGiven,
  onClose,
}: {
  readonly account: OwnAccount;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly onGiven: (proof: Proof) => void;
  readonly onClose: () => void;
}) {
  const hasApp = account.totp.enabled_at !== null;
  const [kind, setKind] = useState<'password' | 'code'>(account.has_password ? 'password' : 'code');
  const [text, setText] = useState('');
  return (
    <Modal opened onClose={onClose} title="Is it you?" centered>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onGiven(kind === 'password' ? { password: text } : { code: text.trim() });
        }}
      >
        <Stack>
          <Text size="sm">This changes how you sign in. Say once more who you are.</Text>
          {hasApp && account.has_password ? (
            <SegmentedControl
              value={kind}
              onChange={(chosen) => {
                setKind(chosen as typeof kind);
                setText('');
              }}
              data={[
                { value: 'password', label: 'Password' },
                { value: 'code', label: 'Code of the app' },
              ]}
            />
          ) : null}
          {kind === 'password' ? (
            <PasswordInput
              label="Your password"
              required
              autoComplete="current-password"
              value={text}
              onChange={({ currentTarget }) => setText(currentTarget.value)}
              data-testid="proof"
              data-autofocus
            />
          ) : (
            <TextInput
              label="Code of the app, or a recovery code"
              required
              autoComplete="one-time-code"
              value={text}
              onChange={({ currentTarget }) => setText(currentTarget.value)}
              data-testid="proof"
              data-autofocus
            />
          )}
          {error === null ? null : <Problem error={error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={isPending} data-testid="prove">
              Go on
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
