import type { ListedKey, NewKey } from '@causeway/sdk';
import { Alert, Button, Group, Modal, Select, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { CodeBlock } from '../../ui/code.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { heldDialog } from '../../ui/held-dialog.ts';
import { KEY_STATE, LAST_USED } from '../../ui/key-columns.tsx';
import { List, type ListPage } from '../../ui/list.tsx';
import { Time } from '../../ui/values.tsx';

/** What is shown this once: keys and secrets that only their hashes are kept of. */
export interface Secret {
  readonly label: string;
  readonly value: string;
}

export function SecretsShown({
  secrets,
  onClose,
}: {
  readonly secrets: readonly Secret[];
  readonly onClose: () => void;
}) {
  return (
    <Modal
      opened={secrets.length > 0}
      onClose={onClose}
      title="Shown this once"
      centered
      size="lg"
      {...heldDialog()}
    >
      <Stack data-testid="secrets">
        <Alert color="orange">
          Copy it now and hand it over safely. It cannot be shown again; a lost one is replaced by another.
        </Alert>
        {secrets.map(({ label, value }) => (
          <CodeBlock key={label} label={label} code={value} />
        ))}
        <Group justify="flex-end">
          <Button onClick={onClose} data-testid="secrets-kept">
            Done
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

interface KeyListProps {
  readonly queryKey: readonly unknown[];
  readonly load: (
    page: { limit: number; offset: number },
    signal: AbortSignal,
  ) => Promise<ListPage<ListedKey>>;
  readonly create: (given: { label: string; kind: 'secret' | 'widget'; reason?: string }) => Promise<NewKey>;
  readonly operation: 'createPartnerKey' | 'createVendorKey' | 'createOperatorKey';
  /** A partner has two kinds. */
  readonly hasKinds?: boolean;
}

export function KeyList({ queryKey, load, create, operation, hasKinds = false }: KeyListProps) {
  const may = useMay();
  const [label, setLabel] = useState('');
  const [kind, setKind] = useState<'secret' | 'widget'>('secret');
  const [secrets, setSecrets] = useState<readonly Secret[]>([]);
  return (
    <>
      <List<ListedKey>
        id="keys"
        queryKey={queryKey}
        load={({ limit, offset }, signal) => load({ limit, offset }, signal)}
        rowKey={({ key_id }) => key_id}
        actions={
          <FormDialog
            label="Create a key"
            done="The key works now"
            reason="optional"
            testId="create-key"
            disabled={!may(operation)}
            run={async (reason) => {
              const key = await create({ label, kind, ...(reason === '' ? {} : { reason }) });
              setSecrets([{ label: label === '' ? 'Key' : label, value: key.key }]);
              setLabel('');
            }}
          >
            {hasKinds ? (
              <Select
                label="Kind"
                data={[
                  { value: 'secret', label: 'Secret: for the partner’s servers' },
                  { value: 'widget', label: 'Widget: for its pages, public' },
                ]}
                value={kind}
                allowDeselect={false}
                onChange={(value) => setKind(value === 'widget' ? 'widget' : 'secret')}
                data-testid="key-kind"
              />
            ) : null}
            <TextInput
              label="What it is for"
              placeholder="production servers"
              maxLength={200}
              value={label}
              onChange={({ currentTarget }) => setLabel(currentTarget.value)}
              data-testid="key-label"
            />
            <Text size="sm">The key works at once and is shown one time.</Text>
          </FormDialog>
        }
        columns={[
          { title: 'Key', cell: ({ hint }) => <code>{hint}</code> },
          { title: 'For', cell: (key) => (key.label === '' ? '–' : key.label) },
          { title: 'Kind', cell: (key) => key.kind },
          KEY_STATE,
          // What operators do is in the audit, and counted nowhere else.
          ...(operation === 'createOperatorKey' ? [] : [LAST_USED]),
          { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            title: '',
            end: true,
            cell: ({ key_id, hint, status }) =>
              status === 'live' || status === 'ending' ? (
                <Action
                  color="red"
                  variant="light"
                  reason
                  confirm={`${hint} is refused everywhere within a second, for good. Whoever uses it stops working.`}
                  done="The key is revoked"
                  disabled={!may('revokeKey')}
                  run={(reason) => api.operator.keys.revoke(key_id, { reason })}
                  testId="revoke-key"
                >
                  Revoke
                </Action>
              ) : null,
          },
        ]}
        empty="There is no key"
      />
      <SecretsShown secrets={secrets} onClose={() => setSecrets([])} />
    </>
  );
}
