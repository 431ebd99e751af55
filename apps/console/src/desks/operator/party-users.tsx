import { ROLE_MEANINGS, ROLES, type Role } from '@causeway/protocol/console';
import { Select, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, consoleCall } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { Action } from '../../ui/actions.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { PartHead } from '../../ui/part-head.tsx';
import { Empty, Loaded } from '../../ui/states.tsx';
import { Tone } from '../../ui/tone.tsx';
import { Time } from '../../ui/values.tsx';
import { type Secret, SecretsShown } from './key-list.tsx';
import { Rows } from './order-sections.tsx';

interface Team {
  readonly members: readonly {
    readonly user_id: string;
    readonly email: string;
    readonly name: string;
    readonly role: Role;
    readonly second_factor: readonly string[];
    readonly last_signed_in_at: string | null;
    readonly disabled_at: string | null;
    readonly locked_until: string | null;
  }[];
  readonly invitations: readonly {
    readonly invitation_id: string;
    readonly email: string;
    readonly role: Role;
    readonly expires_at: string;
  }[];
}

/** Who signs in for a partner or a vendor, and inviting more of them. */
export function PartyUsers({
  desk,
  ownerId,
}: {
  readonly desk: 'partner' | 'vendor';
  readonly ownerId: string;
}) {
  const may = useMay();
  const [secrets, setSecrets] = useState<readonly Secret[]>([]);
  const query = useQuery({
    queryKey: ['operator', 'party-users', ownerId],
    queryFn: ({ signal }) => consoleCall<Team>('getTeam', { query: { owner_id: ownerId }, signal }),
  });
  return (
    <>
      <PartHead title="Users">
        <Invite
          desk={desk}
          ownerId={ownerId}
          onInvited={(url) => setSecrets([{ label: 'Invitation link', value: url }])}
        />
      </PartHead>
      <Loaded query={query}>
        {({ members, invitations }) => (
          <>
            {members.length === 0 ? (
              <Empty title="Nobody signs in yet">Invite a first admin: it invites the others.</Empty>
            ) : (
              <Rows
                label="Users"
                titles={['Name', 'E-mail', 'Role', 'Second factor', 'State', 'Last signed in']}
                rows={members.map((user) => ({
                  key: user.user_id,
                  cells: [
                    user.name,
                    user.email,
                    user.role,
                    user.second_factor.join(', ') || 'none',
                    <Tone key="state" tone={user.disabled_at === null ? 'good' : 'bad'}>
                      {user.disabled_at === null ? 'active' : 'disabled'}
                    </Tone>,
                    <Time key="at" at={user.last_signed_in_at} />,
                  ],
                }))}
              />
            )}
            {invitations.length === 0 ? null : (
              <>
                <PartHead title="Open invitations" />
                <Rows
                  label="Open invitations"
                  titles={['E-mail', 'Role', 'Good until', '']}
                  rows={invitations.map((one) => ({
                    key: one.invitation_id,
                    cells: [
                      one.email,
                      one.role,
                      <Time key="until" at={one.expires_at} />,
                      <Action
                        key="withdraw"
                        variant="light"
                        color="red"
                        confirm={`The link that ${one.email} was given no longer works.`}
                        done="The invitation is withdrawn"
                        disabled={!may('withdrawInvitation')}
                        run={() => api.operator.invitations.withdraw(one.invitation_id)}
                        testId="withdraw-invitation"
                      >
                        Withdraw
                      </Action>,
                    ],
                  }))}
                />
              </>
            )}
          </>
        )}
      </Loaded>
      <SecretsShown secrets={secrets} onClose={() => setSecrets([])} />
    </>
  );
}

function Invite({
  desk,
  ownerId,
  onInvited,
}: {
  readonly desk: 'partner' | 'vendor';
  readonly ownerId: string;
  readonly onInvited: (url: string) => void;
}) {
  const may = useMay();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('admin');
  return (
    <FormDialog
      label="Invite a user"
      done="The invitation is made"
      testId="invite-user"
      disabled={!may('createInvitation')}
      isReady={/^\S+@\S+$/.test(email.trim())}
      run={() =>
        api.operator.invitations.create({ desk, owner_id: ownerId, email: email.trim().toLowerCase(), role })
      }
      onDone={(made) => {
        setEmail('');
        onInvited(made.url);
      }}
    >
      <TextInput
        label="E-mail"
        type="email"
        required
        value={email}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        data-testid="invite-email"
      />
      <Select
        label="Role"
        data={[...ROLES]}
        value={role}
        allowDeselect={false}
        description={ROLE_MEANINGS[role]}
        onChange={(value) => setRole((value ?? 'admin') as Role)}
        data-testid="invite-role"
      />
      <Text size="sm">
        The link is shown once, and mailed where this deployment sends mail. It is good once.
      </Text>
    </FormDialog>
  );
}
