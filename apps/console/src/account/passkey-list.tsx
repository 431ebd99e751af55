import { Button, Group, Modal, Stack, Table, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleCall } from '../api/client.ts';
import { Action } from '../ui/actions.tsx';
import { Panel } from '../ui/panel.tsx';
import { Problem } from '../ui/states.tsx';
import { Time } from '../ui/values.tsx';
import { OnOff } from './on-off.tsx';
import { useProven } from './proof.tsx';
import type { OwnAccount, Passkey } from './wire.ts';

export function Passkeys({ account }: { readonly account: OwnAccount }) {
  const [isAdding, setAdding] = useState(false);
  const canAdd = 'PublicKeyCredential' in window;
  const { passkeys } = account;
  return (
    <Panel
      title="Passkeys"
      actions={<OnOff isOn={passkeys.length > 0} />}
      about="Sign in with the fingerprint, face or PIN of a device, or with a security key, without a password."
      testId="passkeys-part"
    >
      <Stack gap="sm">
        {passkeys.length === 0 ? null : (
          <Table.ScrollContainer minWidth={480}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th scope="col">Name</Table.Th>
                  <Table.Th scope="col">Added</Table.Th>
                  <Table.Th scope="col">Used</Table.Th>
                  <Table.Th scope="col" ta="end">
                    Actions
                  </Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {passkeys.map((passkey) => (
                  <PasskeyRow key={passkey.passkey_id} passkey={passkey} />
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
        )}
        <div>
          <Button size="xs" disabled={!canAdd} onClick={() => setAdding(true)} data-testid="add-passkey">
            Add a passkey
          </Button>
          {canAdd ? null : (
            <Text size="sm" c="dimmed" mt={4}>
              This browser has no passkeys, or the page is not open by https.
            </Text>
          )}
        </div>
      </Stack>
      {isAdding ? <NewPasskey account={account} onClose={() => setAdding(false)} /> : null}
    </Panel>
  );
}

function NewPasskey({ account, onClose }: { readonly account: OwnAccount; readonly onClose: () => void }) {
  const [label, setLabel] = useState('');
  const add = useProven<boolean>(
    account,
    async (proof) => {
      const { addPasskey, passkeyProblem } = await import('./passkeys.ts');
      try {
        await addPasskey(label.trim(), proof);
        return true;
      } catch (error) {
        const problem = passkeyProblem(error);
        if (problem === null) return false;
        throw problem;
      }
    },
    (isAdded) => {
      if (!isAdded) return;
      notifications.show({ message: 'The passkey is added.', color: 'teal' });
      onClose();
    },
  );
  return (
    <>
      <Modal opened={add.dialog === null} onClose={onClose} title="Add a passkey" centered>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            add.start();
          }}
        >
          <Stack>
            <TextInput
              label="What to call it"
              description="So that you know later which device it is"
              placeholder="Laptop"
              required
              maxLength={80}
              value={label}
              onChange={({ currentTarget }) => setLabel(currentTarget.value)}
              data-testid="passkey-label"
              data-autofocus
            />
            {add.error === null ? null : <Problem error={add.error} />}
            <Group justify="flex-end">
              <Button variant="default" onClick={onClose}>
                Cancel
              </Button>
              <Button
                type="submit"
                loading={add.isPending}
                disabled={label.trim() === ''}
                data-testid="create-passkey"
              >
                Go on
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
      {add.dialog}
    </>
  );
}

function PasskeyRow({ passkey }: { readonly passkey: Passkey }) {
  const { passkey_id, label, created_at, last_used_at } = passkey;
  const [name, setName] = useState<string | null>(null);
  const client = useQueryClient();
  const rename = useMutation({
    mutationFn: (given: string) =>
      consoleCall('renamePasskey', { params: { passkey_id }, body: { label: given.trim() } }),
    onSuccess: async () => {
      setName(null);
      await client.invalidateQueries();
    },
  });
  return (
    <Table.Tr data-testid="passkey" data-label={label}>
      <Table.Td>
        {name === null ? (
          label
        ) : (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              rename.mutate(name);
            }}
          >
            <Group gap={4} wrap="nowrap">
              <TextInput
                size="xs"
                aria-label="Name of the passkey"
                maxLength={80}
                value={name}
                onChange={({ currentTarget }) => setName(currentTarget.value)}
                autoFocus
                data-testid="rename-field"
              />
              <Button size="xs" type="submit" disabled={name.trim() === ''} data-testid="save-passkey">
                Save
              </Button>
            </Group>
          </form>
        )}
        {rename.isError ? <Problem error={rename.error} /> : null}
      </Table.Td>
      <Table.Td>
        <Time at={created_at} />
      </Table.Td>
      <Table.Td>
        <Time at={last_used_at} age />
      </Table.Td>
      <Table.Td>
        <Group gap={4} justify="flex-end" wrap="nowrap">
          <Button
            size="xs"
            variant="subtle"
            onClick={() => setName(name === null ? label : null)}
            data-testid="rename-passkey"
          >
            {name === null ? 'Rename' : 'Cancel'}
          </Button>
          <Action
            variant="subtle"
            color="red"
            confirm={`“${label}” no longer signs you in. Remove it from the device as well.`}
            run={() => consoleCall('deletePasskey', { params: { passkey_id } })}
            done="The passkey is removed."
            testId="delete-passkey"
          >
            Remove
          </Action>
        </Group>
      </Table.Td>
    </Table.Tr>
  );
}
