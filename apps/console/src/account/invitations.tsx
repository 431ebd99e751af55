import type { Role } from '@causeway/protocol/console';
import { Alert, Button, Group, Modal, Stack, Table, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleCall } from '../api/client.ts';
import { useMay } from '../api/session.ts';
import { Action } from '../ui/actions.tsx';
import { CodeBlock } from '../ui/code.tsx';
import { FocusHere } from '../ui/focus-here.tsx';
import { heldDialog } from '../ui/held-dialog.ts';
import { Empty, Problem } from '../ui/states.tsx';
import { Time } from '../ui/values.tsx';
import { RoleChoice } from './team-members.tsx';
import type { NewInvitation, TeamInvitation } from './wire.ts';

/** A button whose dialog invites somebody, and then shows the link this once. */
export function Invite() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)} data-testid="invite">
        Invite somebody
      </Button>
      {isOpen ? <InviteDialog onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const client = useQueryClient();
  const invite = useMutation({
    mutationFn: () =>
      consoleCall<NewInvitation>('inviteToTeam', { body: { email: email.trim().toLowerCase(), role } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['team'] }),
  });
  if (invite.data !== undefined) {
    const { url, expires_at, mailed } = invite.data;
    return (
      <Modal opened onClose={onClose} title="The invitation" centered size="lg" {...heldDialog()}>
        <FocusHere testId="invitation-result">
          <Stack>
            <Alert color="orange" title="This link is shown this once">
              {mailed ? `It is on its way to ${email}.` : `Hand it to ${email} yourself.`} Whoever opens it
              first becomes the user, so give it to nobody else. It is good until <Time at={expires_at} />.
            </Alert>
            <div data-testid="invitation-link" data-url={url}>
              <CodeBlock code={url} label="link" />
            </div>
            <Group justify="flex-end">
              <Button onClick={onClose} data-testid="invitation-kept">
                Done
              </Button>
            </Group>
          </Stack>
        </FocusHere>
      </Modal>
    );
  }
  return (
    <Modal
      opened
      onClose={onClose}
      title="Invite somebody"
      centered
      // While it is being made, too: its link would be shown to nobody.
      {...heldDialog(invite.isPending)}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          invite.mutate();
        }}
      >
        <Stack>
          <TextInput
            label="E-mail address"
            type="email"
            required
            maxLength={254}
            value={email}
            onChange={({ currentTarget }) => setEmail(currentTarget.value)}
            data-testid="invite-email"
            data-autofocus
          />
          <RoleChoice role={role} onChange={setRole} />
          {invite.isError ? <Problem error={invite.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose} disabled={invite.isPending}>
              Cancel
            </Button>
            <Button type="submit" loading={invite.isPending} data-testid="send-invitation">
              Make the link
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

export function Invitations({ invitations }: { readonly invitations: readonly TeamInvitation[] }) {
  const may = useMay();
  if (invitations.length === 0) {
    return <Empty title="No open invitations">A link that somebody has used is gone from here.</Empty>;
  }
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table verticalSpacing="xs" data-testid="invitations">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">E-mail address</Table.Th>
            <Table.Th scope="col">Role</Table.Th>
            <Table.Th scope="col">Invited</Table.Th>
            <Table.Th scope="col">Good until</Table.Th>
            {may('withdrawTeamInvitation') ? (
              <Table.Th scope="col" ta="end">
                Actions
              </Table.Th>
            ) : null}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {invitations.map(({ invitation_id, email, role, created_at, expires_at }) => (
            <Table.Tr key={invitation_id} data-testid="open-invitation" data-email={email}>
              <Table.Td>{email}</Table.Td>
              <Table.Td>{role}</Table.Td>
              <Table.Td>
                <Time at={created_at} age />
              </Table.Td>
              <Table.Td>
                <Time at={expires_at} />
              </Table.Td>
              {may('withdrawTeamInvitation') ? (
                <Table.Td ta="end">
                  <Action
                    variant="subtle"
                    color="red"
                    confirm={<Text size="sm">The link that {email} was given no longer works.</Text>}
                    run={() => consoleCall('withdrawTeamInvitation', { params: { invitation_id } })}
                    done="The invitation is withdrawn."
                    testId="withdraw"
                  >
                    Withdraw
                  </Action>
                </Table.Td>
              ) : null}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
