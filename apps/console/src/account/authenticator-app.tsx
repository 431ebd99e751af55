import { Alert, Button, Code, Group, Modal, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { consoleCall } from '../api/client.ts';
import { heldDialog } from '../ui/held-dialog.ts';
import { Panel } from '../ui/panel.tsx';
import { Loading, Problem } from '../ui/states.tsx';
import { Copy, Time } from '../ui/values.tsx';
import { OnOff } from './on-off.tsx';
import { useProven } from './proof.tsx';
import type { OwnAccount, RecoveryCodes, TotpEnrolment } from './wire.ts';

const QrCode = lazy(async () => ({ default: (await import('./qr.tsx')).QrCode }));
/** Fewer than this, and new ones are advised. */
const FEW_CODES = 4;

export function AuthenticatorApp({ account }: { readonly account: OwnAccount }) {
  const [enrolment, setEnrolment] = useState<TotpEnrolment | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const begin = useProven<TotpEnrolment>(
    account,
    (proof) => consoleCall('beginTotp', { body: proof }),
    setEnrolment,
  );
  const remove = useProven<unknown>(account, (proof) => consoleCall('disableTotp', { body: proof }));
  const renew = useProven<RecoveryCodes>(
    account,
    (proof) => consoleCall('renewRecoveryCodes', { body: proof }),
    ({ recovery_codes }) => setCodes(recovery_codes),
  );
  const { enabled_at: enabledAt, recovery_codes_left: left } = account.totp;
  const isOn = enabledAt !== null;
  const error = begin.error ?? remove.error ?? renew.error;
  return (
    <Panel
      title="Authenticator app"
      actions={<OnOff isOn={isOn} />}
      about="After the password, the sign-in asks for a code that an app on your phone shows."
      testId="totp-part"
    >
      <Stack gap="sm">
        {isOn ? (
          <Text size="sm">
            On since <Time at={enabledAt} />.{' '}
            <Text span inherit fw={left < FEW_CODES ? 700 : undefined} data-testid="codes-left">
              {left === 1 ? '1 recovery code' : `${left} recovery codes`} left
            </Text>
            {left < FEW_CODES ? ': make new ones before you need them.' : '.'}
          </Text>
        ) : null}
        {error === null ? null : <Problem error={error} />}
        <Group gap="xs">
          <Button
            size="xs"
            variant={isOn ? 'default' : 'filled'}
            loading={begin.isPending}
            onClick={begin.start}
            data-testid="begin-totp"
          >
            {isOn ? 'Move to another phone' : 'Add an app'}
          </Button>
          {isOn ? (
            <>
              <Button
                size="xs"
                variant="default"
                loading={renew.isPending}
                onClick={renew.start}
                data-testid="renew-codes"
              >
                New recovery codes
              </Button>
              <Button
                size="xs"
                variant="light"
                color="red"
                loading={remove.isPending}
                onClick={remove.start}
                data-testid="disable-totp"
              >
                Turn it off
              </Button>
            </>
          ) : null}
        </Group>
      </Stack>
      {begin.dialog}
      {remove.dialog}
      {renew.dialog}
      {enrolment === null ? null : (
        <Enrolment
          enrolment={enrolment}
          onClose={() => setEnrolment(null)}
          onDone={(made) => {
            setEnrolment(null);
            setCodes(made);
          }}
        />
      )}
      {codes === null ? null : (
        <RecoveryCodesDialog email={account.email} codes={codes} onClose={() => setCodes(null)} />
      )}
    </Panel>
  );
}

function Enrolment({
  enrolment,
  onClose,
  onDone,
}: {
  readonly enrolment: TotpEnrolment;
  readonly onClose: () => void;
  readonly onDone: (codes: readonly string[]) => void;
}) {
  const [code, setCode] = useState('');
  const client = useQueryClient();
  const confirm = useMutation({
    mutationFn: () =>
      consoleCall<RecoveryCodes>('confirmTotp', { body: { token: enrolment.token, code: code.trim() } }),
    onSuccess: async ({ recovery_codes }) => {
      onDone(recovery_codes);
      await client.invalidateQueries();
    },
  });
  return (
    <Modal opened onClose={onClose} title="Add an authenticator app" centered>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          confirm.mutate();
        }}
      >
        <Stack>
          <Text size="sm">1. Scan this with the app on your phone.</Text>
          <Group justify="center" mih={208}>
            <Suspense fallback={<Loading />}>
              <QrCode text={enrolment.otpauth_url} label="QR code for the authenticator app" />
            </Suspense>
          </Group>
          <div>
            <Text size="sm">Or type this key into it:</Text>
            <Group gap={4} wrap="nowrap">
              <Code data-testid="totp-secret" style={{ overflowWrap: 'anywhere' }}>
                {enrolment.secret}
              </Code>
              <Copy value={enrolment.secret} label="Copy the key" />
            </Group>
          </div>
          <TextInput
            label="2. The code that the app shows now"
            required
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={7}
            value={code}
            onChange={({ currentTarget }) => setCode(currentTarget.value)}
            data-testid="confirm-code"
            data-autofocus
          />
          {confirm.isError ? <Problem error={confirm.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button
              type="submit"
              loading={confirm.isPending}
              disabled={!/^\s*\d{6}\s*$/.test(code)}
              data-testid="confirm-totp"
            >
              Turn it on
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

/** Shown this once: it closes only by the button that says they are kept. */
function RecoveryCodesDialog({
  email,
  codes,
  onClose,
}: {
  readonly email: string;
  readonly codes: readonly string[];
  readonly onClose: () => void;
}) {
  const text = codes.join('\n');
  return (
    <Modal opened onClose={onClose} title="Your recovery codes" centered {...heldDialog()}>
      <Stack>
        <Alert color="orange" title="They are shown this once">
          Each signs you in once if the phone is lost. Keep them where the phone is not. Older ones are no
          longer good.
        </Alert>
        <SimpleGrid cols={2} spacing="xs" data-testid="recovery-codes">
          {codes.map((code) => (
            <Code key={code} data-code={code} ta="center" fz="sm">
              {code}
            </Code>
          ))}
        </SimpleGrid>
        <Group justify="space-between">
          <Group gap="xs">
            <Copy value={text} label="Copy the codes" />
            <Button
              size="xs"
              variant="default"
              onClick={() => download(email, text)}
              data-testid="download-codes"
            >
              Download
            </Button>
          </Group>
          <Button onClick={onClose} data-testid="codes-kept">
            I have kept them
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

function download(email: string, text: string): void {
  const file = new Blob([`Causeway recovery codes of ${email}. Each is good once.\n\n${text}\n`], {
    type: 'text/plain',
  });
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = 'causeway-recovery-codes.txt';
  link.click();
  URL.revokeObjectURL(link.href);
}
