import { Alert, Button, type ButtonProps, Code, Group, List, Modal, Stack, Textarea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { CodeBlock } from './code.tsx';
import { FocusHere } from './focus-here.tsx';
import { heldDialog } from './held-dialog.ts';
import { Problem } from './states.tsx';

/** A button that opens a form; what the service refuses is shown in it, field by field. */
export interface FormDialogProps<T> extends Omit<ButtonProps, 'onClick'> {
  readonly label: string;
  readonly title?: string;
  /** What the button of the form says; the label unless given. */
  readonly submit?: string;
  readonly run: (reason: string) => Promise<T>;
  /** Whether why it is done is asked for; the audit log keeps it. */
  readonly reason?: 'required' | 'optional';
  readonly done: string;
  readonly onDone?: (result: T) => void;
  /** Shown in place of the form once it is done: a secret that is shown once, a link. Without it the dialog closes. */
  readonly result?: (result: T) => ReactNode;
  readonly onOpen?: () => void;
  readonly testId: string;
  readonly isReady?: boolean;
  readonly children: ReactNode;
}

export function FormDialog<T>({
  label,
  title,
  submit,
  run,
  reason,
  done,
  onDone,
  result,
  onOpen,
  testId,
  isReady = true,
  children,
  ...button
}: FormDialogProps<T>) {
  const [isOpen, { open, close }] = useDisclosure(false);
  const [why, setWhy] = useState('');
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: () => run(why.trim()),
    onSuccess: async (answer) => {
      setWhy('');
      notifications.show({ message: done, color: 'teal' });
      onDone?.(answer);
      if (result !== undefined) return;
      close();
      await client.invalidateQueries();
    },
  });
  // What is shown once stays until it is closed: reading anew may take away the button, and the dialog with it.
  const end = () => {
    close();
    if (result !== undefined && mutation.isSuccess) void client.invalidateQueries();
  };
  const start = () => {
    mutation.reset();
    onOpen?.();
    open();
  };
  // While it is being done, too: what comes back would be shown to nobody.
  const isHeld = result !== undefined && (mutation.isPending || mutation.isSuccess);
  const shown = result !== undefined && mutation.isSuccess ? result(mutation.data) : undefined;
  return (
    <>
      <Button size="xs" {...button} onClick={start} data-testid={testId}>
        {label}
      </Button>
      <Modal
        opened={isOpen}
        onClose={end}
        title={title ?? label}
        size="lg"
        centered
        closeButtonProps={{ 'aria-label': 'Close' }}
        {...heldDialog(isHeld)}
      >
        {shown === undefined ? (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              mutation.mutate();
            }}
          >
            <Stack gap="sm">
              {children}
              {reason === undefined ? null : (
                <Reason isRequired={reason === 'required'} value={why} onChange={setWhy} />
              )}
              {mutation.isError ? <Refusal error={mutation.error} /> : null}
              <Group justify="flex-end">
                <Button variant="default" onClick={close} disabled={isHeld}>
                  Cancel
                </Button>
                <Button
                  type="submit"
                  loading={mutation.isPending}
                  disabled={!isReady || (reason === 'required' && why.trim() === '')}
                  data-testid={`${testId}-submit`}
                >
                  {submit ?? label}
                </Button>
              </Group>
            </Stack>
          </form>
        ) : (
          <FocusHere testId={`${testId}-result`}>
            <Stack gap="sm">
              {shown}
              <Group justify="flex-end">
                <Button onClick={end} data-testid={`${testId}-close`}>
                  Close
                </Button>
              </Group>
            </Stack>
          </FocusHere>
        )}
      </Modal>
    </>
  );
}

function Reason({
  isRequired,
  value,
  onChange,
}: {
  readonly isRequired: boolean;
  readonly value: string;
  readonly onChange: (text: string) => void;
}) {
  return (
    <Textarea
      label="Reason"
      description="Kept in the audit log; name no person in it"
      required={isRequired}
      maxLength={500}
      autosize
      minRows={2}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
      data-testid="reason"
    />
  );
}

/** What was refused, and all that is wrong with its fields. It may stand below what the dialog shows. */
function Refusal({ error }: { readonly error: unknown }) {
  const { details } = error as { details?: { fields?: { path: string; message: string }[] } };
  const fields = details?.fields ?? [];
  return (
    <FocusHere testId="refusal">
      {fields.length === 0 ? (
        <Problem error={error} />
      ) : (
        <Problem error={error} title="Something in it is not right">
          <List size="sm" mb="xs" style={{ overflowWrap: 'anywhere' }}>
            {fields.map(({ path, message }) => (
              <List.Item key={`${path} ${message}`} data-fault={path}>
                <Code>{path}</Code> {message}
              </List.Item>
            ))}
          </List>
        </Problem>
      )}
    </FocusHere>
  );
}

/** Something that is never shown again. */
export function ShownOnce({
  value,
  label,
  children,
}: {
  readonly value: string;
  readonly label: string;
  readonly children: ReactNode;
}) {
  return (
    <>
      <Alert color="yellow" title="Copy it now: it is shown this once">
        {children}
      </Alert>
      <div data-testid="shown-once" data-value={value}>
        <CodeBlock code={value} label={label} />
      </div>
    </>
  );
}
