import { ROLE_MEANINGS } from '@causeway/protocol/console';
import { Alert, Button, Group, PasswordInput, Stack, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleCall } from '../api/client.ts';
import { useSession } from '../api/session.ts';
import { Panel } from '../ui/panel.tsx';
import { Loaded, PageHead, Problem } from '../ui/states.tsx';
import { Fact, Time } from '../ui/values.tsx';
import { AuthenticatorApp } from './authenticator-app.tsx';
import { fitsRules, NewPassword } from './new-password.tsx';
import { Passkeys } from './passkey-list.tsx';
import { Sessions } from './session-list.tsx';
import type { OwnAccount } from './wire.ts';

/** Whoever is signed in, at every desk: name, the ways to sign in, and where one is signed in. */
export default function Account() {
  const account = useQuery({
    queryKey: ['own-account'],
    queryFn: ({ signal }) => consoleCall<OwnAccount>('getOwnAccount', { signal }),
  });
  const session = useSession();
  return (
    <>
      <PageHead title="Your account" about="Your name, how you sign in, and where you are signed in." />
      {session.must_add_second_factor ? (
        <Alert color="orange" title="Add a second factor first" mb="md" data-testid="must-add-second-factor">
          This deployment asks everybody for one. Add an authenticator app or a passkey below; the other pages
          open then.
        </Alert>
      ) : null}
      <Loaded query={account}>
        {(own) => (
          <Stack maw={760}>
            <Profile account={own} />
            <Password account={own} />
            <AuthenticatorApp account={own} />
            <Passkeys account={own} />
            <Sessions />
          </Stack>
        )}
      </Loaded>
    </>
  );
}

function Profile({ account }: { readonly account: OwnAccount }) {
  const [name, setName] = useState(account.name);
  const client = useQueryClient();
  const { desk, owner } = useSession();
  const save = useMutation({
    mutationFn: () => consoleCall('changeOwnName', { body: { name: name.trim() } }),
    onSuccess: async () => {
      notifications.show({ message: 'Your name is changed.', color: 'teal' });
      await client.invalidateQueries();
    },
  });
  return (
    <Panel title="Profile" testId="profile">
      <dl>
        <Fact label="E-mail address">{account.email}</Fact>
        <Fact label="Desk">{owner?.name ?? desk}</Fact>
        <Fact label="Role">
          <span data-testid="own-role">{account.role}</span>: {ROLE_MEANINGS[account.role].toLowerCase()}
        </Fact>
      </dl>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Group align="flex-end" mt="sm">
          <TextInput
            label="Name"
            required
            maxLength={120}
            autoComplete="name"
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
            style={{ flexGrow: 1 }}
            data-testid="own-name"
          />
          <Button
            type="submit"
            variant="default"
            loading={save.isPending}
            disabled={name.trim() === '' || name.trim() === account.name}
            data-testid="save-name"
          >
            Save
          </Button>
        </Group>
        {save.isError ? <Problem error={save.error} /> : null}
      </form>
    </Panel>
  );
}

function Password({ account }: { readonly account: OwnAccount }) {
  const [isOpen, setOpen] = useState(false);
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const client = useQueryClient();
  const close = () => {
    setOpen(false);
    setCurrent('');
    setNext('');
    change.reset();
  };
  const change = useMutation({
    mutationFn: () =>
      consoleCall('changeOwnPassword', { body: { current_password: current, new_password: next } }),
    onSuccess: async () => {
      close();
      notifications.show({
        message: 'Your password is changed. All your other sessions are ended.',
        color: 'teal',
      });
      await client.invalidateQueries();
    },
  });
  const changedAt = account.password_changed_at;
  return (
    <Panel
      title="Password"
      about={
        changedAt === null ? undefined : (
          <>
            Changed <Time at={changedAt} age />. Changing it ends your sessions everywhere else.
          </>
        )
      }
      testId="password-part"
    >
      {isOpen ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            change.mutate();
          }}
        >
          <Stack gap="sm">
            <input type="text" autoComplete="username" value={account.email} readOnly hidden />
            <PasswordInput
              label="Current password"
              required
              autoComplete="current-password"
              value={current}
              onChange={({ currentTarget }) => setCurrent(currentTarget.value)}
              data-testid="current-password"
            />
            <NewPassword label="New password" email={account.email} value={next} onChange={setNext} />
            {change.isError ? <Problem error={change.error} /> : null}
            <Group>
              <Button
                type="submit"
                loading={change.isPending}
                disabled={current === '' || !fitsRules(next, account.email)}
                data-testid="save-password"
              >
                Change the password
              </Button>
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <Button variant="default" size="xs" onClick={() => setOpen(true)} data-testid="change-password">
          Change the password
        </Button>
      )}
    </Panel>
  );
}
