import {
  Alert,
  Anchor,
  Button,
  Center,
  Divider,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { ConsoleProblem, consoleCall } from '../api/client.ts';
import { useSearch } from '../ui/navigation.tsx';
import { Problem } from '../ui/states.tsx';
import { useArrive } from './arrive.ts';
import type { ConsoleOptions, SecondStep, SignInAnswer } from './wire.ts';

/** A page for somebody who is not signed in. */
export function Entrance({
  title,
  about = 'Causeway console',
  children,
}: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Causeway`;
  }, [title]);
  return (
    <Center mih="100vh" p="md">
      <Paper withBorder radius="md" p="xl" w="100%" maw={420} component="main">
        <Stack>
          <div>
            <Title order={1} size="h2">
              {title}
            </Title>
            <Text c="dimmed" size="sm" component="div">
              {about}
            </Text>
          </div>
          {children}
        </Stack>
      </Paper>
    </Center>
  );
}

export default function SignIn() {
  const options = useQuery({
    queryKey: ['console-options'],
    queryFn: () => consoleCall<ConsoleOptions>('getConsoleOptions'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [step, setStep] = useState<SecondStep | null>(null);
  const [expired, setExpired] = useState<unknown>(null);
  const { over } = useSearch();
  const arrive = useArrive();
  if (step !== null) {
    return (
      <SecondStepForm
        step={step}
        onDone={arrive}
        onBack={(error) => {
          setExpired(error);
          setStep(null);
        }}
      />
    );
  }
  const hasPasskeys = options.data?.passkeys === true && 'PublicKeyCredential' in window;
  return (
    <Entrance title="Sign in">
      {over === undefined ? null : (
        <Alert color="yellow" title="You were signed out" data-testid="session-over">
          Your session is over, or it was ended elsewhere. Sign in to go on where you were.
        </Alert>
      )}
      {options.isError ? <Problem error={options.error} retry={() => void options.refetch()} /> : null}
      {expired === null ? null : <Problem error={expired} />}
      <PasswordForm
        onAnswer={(answer) => {
          setExpired(null);
          if (answer.second_step === null) return arrive();
          setStep(answer.second_step);
          return Promise.resolve();
        }}
      />
      {hasPasskeys ? <PasskeyButton onDone={arrive} /> : null}
      <SandboxAccounts accounts={options.data?.sandbox_accounts ?? []} onDone={arrive} />
    </Entrance>
  );
}

function PasswordForm({ onAnswer }: { readonly onAnswer: (answer: SignInAnswer) => Promise<void> }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signIn = useMutation({
    mutationFn: async () =>
      onAnswer(await consoleCall<SignInAnswer>('signInToConsole', { body: { email, password } })),
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        signIn.mutate();
      }}
    >
      <Stack gap="sm">
        <TextInput
          label="E-mail address"
          type="email"
          autoComplete="username webauthn"
          required
          value={email}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
          data-testid="email"
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
          data-testid="password"
        />
        <SignInProblem error={signIn.error} />
        <Button type="submit" loading={signIn.isPending} data-testid="sign-in">
          Sign in
        </Button>
        <Text size="xs" c="dimmed">
          Forgotten the password? Ask an admin of your team to disable you and to invite you again.
        </Text>
      </Stack>
    </form>
  );
}

/** A lock says when it opens; everything else speaks for itself. */
function SignInProblem({ error }: { readonly error: unknown }) {
  if (error === null) return null;
  const seconds =
    error instanceof ConsoleProblem && error.code === 'SIGN_IN_LOCKED'
      ? (error.details as { retry_after_seconds?: number } | undefined)?.retry_after_seconds
      : undefined;
  return (
    <>
      <Problem error={error} />
      {seconds === undefined ? null : (
        <Text size="sm" data-testid="locked-for">
          It can be tried again in {waitOf(seconds)}. A passkey signs in meanwhile.
        </Text>
      )}
    </>
  );
}

function waitOf(seconds: number): string {
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return `${Math.ceil(minutes / 60)} hours`;
}

/** The password was right: now a code of the app, or one of the codes that were kept for the day it is lost. */
export function SecondStepForm({
  step,
  onDone,
  onBack,
}: {
  readonly step: SecondStep;
  readonly onDone: () => Promise<void>;
  readonly onBack: (error: unknown) => void;
}) {
  const [isRecovery, setRecovery] = useState(!step.methods.includes('totp'));
  const [code, setCode] = useState('');
  const send = useMutation({
    mutationFn: async (given: string) => {
      await consoleCall('completeConsoleSignIn', { body: { token: step.token, code: given.trim() } });
      await onDone();
    },
    onError: (error) => {
      setCode('');
      if (error instanceof ConsoleProblem && error.code === 'SIGN_IN_STEP_EXPIRED') onBack(error);
    },
  });
  const change = (given: string) => {
    setCode(given);
    if (!isRecovery && /^\d{6}$/.test(given.trim()) && !send.isPending) send.mutate(given);
  };
  const back = (
    <Anchor component="button" type="button" size="sm" onClick={() => onBack(null)} data-testid="back">
      Sign in as somebody else
    </Anchor>
  );
  if (!step.methods.some((method) => method !== 'passkey')) {
    return (
      <Entrance title="One more step" about="The password was right. Your second factor is a passkey.">
        <PasskeyButton onDone={onDone} />
        {back}
      </Entrance>
    );
  }
  return (
    <Entrance title="One more step" about="The password was right.">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate(code);
        }}
      >
        <Stack gap="sm">
          {isRecovery ? (
            <TextInput
              key="recovery"
              label="Recovery code"
              description="One of the ten that you kept. Each is good once."
              required
              autoFocus
              autoComplete="off"
              value={code}
              onChange={({ currentTarget }) => change(currentTarget.value)}
              data-testid="recovery-code"
            />
          ) : (
            <TextInput
              key="totp"
              label="Code of your authenticator app"
              description="Six digits; each code is good once."
              required
              autoFocus
              inputMode="numeric"
              autoComplete="one-time-code"
              maxLength={7}
              value={code}
              onChange={({ currentTarget }) => change(currentTarget.value)}
              data-testid="totp-code"
            />
          )}
          <SignInProblem error={send.error} />
          <Button type="submit" loading={send.isPending} data-testid="second-step">
            Go on
          </Button>
          {step.methods.includes('passkey') ? <PasskeyButton onDone={onDone} /> : null}
          {step.methods.includes('recovery_code') && step.methods.includes('totp') ? (
            <Anchor
              component="button"
              type="button"
              size="sm"
              onClick={() => {
                setRecovery(!isRecovery);
                setCode('');
              }}
              data-testid="other-code"
            >
              {isRecovery ? 'Use a code of the app' : 'The phone is not here: use a recovery code'}
            </Anchor>
          ) : null}
          {back}
        </Stack>
      </form>
    </Entrance>
  );
}

/** The code for passkeys is loaded when it is needed; where the browser can, it offers them in the form by itself. */
function PasskeyButton({ onDone }: { readonly onDone: () => Promise<void> }) {
  const use = useMutation({
    mutationFn: async (offered: boolean) => {
      const { signInWithPasskey, passkeyProblem } = await import('./passkeys.ts');
      try {
        await signInWithPasskey({ offered });
      } catch (error) {
        const problem = passkeyProblem(error);
        // What was only offered, and not asked for, fails quietly.
        if (problem === null || (offered && !(error instanceof ConsoleProblem))) return;
        throw problem;
      }
      await onDone();
    },
  });
  const { mutate } = use;
  useEffect(() => {
    const field = document.querySelector('input[autocomplete~="webauthn"]');
    if (field === null) return;
    let isShown = true;
    void window.PublicKeyCredential?.isConditionalMediationAvailable?.().then((isAvailable) => {
      if (isAvailable && isShown) mutate(true);
    });
    return () => {
      isShown = false;
    };
  }, [mutate]);
  return (
    <>
      {use.isError ? <Problem error={use.error} /> : null}
      <Button
        variant="default"
        loading={use.isPending && use.variables === false}
        onClick={() => use.mutate(false)}
        data-testid="passkey-sign-in"
      >
        Sign in with a passkey
      </Button>
    </>
  );
}

function SandboxAccounts({
  accounts,
  onDone,
}: {
  readonly accounts: ConsoleOptions['sandbox_accounts'];
  readonly onDone: () => Promise<void>;
}) {
  const enter = useMutation({
    mutationFn: async ({ desk, email }: ConsoleOptions['sandbox_accounts'][number]) => {
      await consoleCall('signInToSandboxConsole', { body: { desk, email } });
      await onDone();
    },
  });
  if (accounts.length === 0) return null;
  return (
    <>
      <Divider label="or, in this sandbox" />
      {enter.isError ? <Problem error={enter.error} /> : null}
      <Alert variant="light" title="One click enters a desk" data-testid="sandbox-accounts">
        <Stack gap="xs" mt="xs">
          {accounts.map((account) => (
            <Button
              key={account.email}
              variant="default"
              justify="space-between"
              loading={enter.isPending && enter.variables.email === account.email}
              onClick={() => enter.mutate(account)}
              data-testid={`enter-${account.desk}`}
              data-email={account.email}
            >
              {account.name}, {account.owner_name ?? 'operator'}
            </Button>
          ))}
        </Stack>
      </Alert>
    </>
  );
}
