import { ROLE_MEANINGS } from '@causeway/protocol/console';
import { Anchor, Badge, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { consoleCall } from '../api/client.ts';
import { Link, useGo } from '../ui/navigation.tsx';
import { Loading, Problem } from '../ui/states.tsx';
import { Time } from '../ui/values.tsx';
import { useArrive } from './arrive.ts';
import { fitsRules, NewPassword } from './new-password.tsx';
import { Entrance, SecondStepForm } from './sign-in.tsx';
import type { OpenInvitation, SecondStep, SignInAnswer } from './wire.ts';

/** The link of an invitation: what is secret stands behind the #, which browsers send to no server. */
export default function Invitation() {
  const [token] = useState(() => decodeURIComponent(location.hash.slice(1)));
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => consoleCall<OpenInvitation>('readInvitation', { body: { token } }),
    enabled: token !== '',
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (token === '') {
    return (
      <Entrance title="Invitation">
        <Text size="sm" data-testid="no-token">
          This address is not whole: copy the whole link that you were given, with everything behind the #.
        </Text>
        <ToSignIn />
      </Entrance>
    );
  }
  if (invitation.data !== undefined) return <Welcome token={token} invitation={invitation.data} />;
  return (
    <Entrance title="Invitation">
      {invitation.isError ? (
        <>
          <Problem error={invitation.error} />
          <ToSignIn />
        </>
      ) : (
        <Loading />
      )}
    </Entrance>
  );
}

function ToSignIn() {
  return (
    <Anchor component={Link} to="/sign-in" size="sm">
      Sign in, if you have an account already
    </Anchor>
  );
}

function Welcome({ token, invitation }: { readonly token: string; readonly invitation: OpenInvitation }) {
  const { email, role, owner_name: owner, expires_at } = invitation;
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [step, setStep] = useState<SecondStep | null>(null);
  const arrive = useArrive();
  const go = useGo();
  const accept = useMutation({
    mutationFn: async () => {
      const body = { token, name: name.trim(), password };
      const answer = await consoleCall<SignInAnswer>('acceptInvitation', { body });
      if (answer.second_step === null) await arrive();
      else setStep(answer.second_step);
    },
  });
  // The invitation is used: who comes back from here signs in.
  if (step !== null) return <SecondStepForm step={step} onDone={arrive} onBack={() => go('/sign-in')} />;
  const isReady = name.trim() !== '' && fitsRules(password, email);
  return (
    <Entrance
      title="Welcome"
      about={
        <>
          You are invited to the console of {owner ?? 'the operator'}, until <Time at={expires_at} />.
        </>
      }
    >
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Badge variant="light" tt="none" style={{ flexShrink: 0 }} data-testid="invited-role">
          {role}
        </Badge>
        <Text size="sm">{ROLE_MEANINGS[role]}.</Text>
      </Group>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          accept.mutate();
        }}
      >
        <Stack gap="sm">
          <TextInput
            label="E-mail address"
            description="You sign in with it"
            value={email}
            readOnly
            autoComplete="username"
            data-testid="invited-email"
          />
          <TextInput
            label="Your name"
            description="Your team sees it beside what you do"
            required
            maxLength={120}
            autoComplete="name"
            value={name}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
            data-testid="name"
          />
          <NewPassword email={email} value={password} onChange={setPassword} />
          {accept.isError ? <Problem error={accept.error} /> : null}
          <Button type="submit" disabled={!isReady} loading={accept.isPending} data-testid="accept">
            Begin
          </Button>
        </Stack>
      </form>
    </Entrance>
  );
}
