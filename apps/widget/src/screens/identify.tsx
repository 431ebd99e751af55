import { useEffect, useState } from 'preact/hooks';
import { clockTime } from '../i18n/format.ts';
import { t } from '../i18n/i18n.ts';
import { ApiError, type EmailCode, type Session } from '../session/api.ts';
import { useSecondsLeft } from '../session/clock.ts';
import { api, change, draft, session } from '../session/store.ts';
import { Button, Field, Heading, Notice, Problem, useTask } from '../ui/kit.tsx';

const CODE_LENGTH = 6;
/** Only what cannot be an address is refused here; whether it exists the code tells. */
const ADDRESS = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

interface Sent {
  readonly email: string;
  readonly code: EmailCode;
  readonly isRepeated: boolean;
}

/** Who the customer is: an e-mail address and the code sent to it. The address is kept nowhere but in this screen. */
export function IdentifyScreen() {
  const [email, setEmail] = useState('');
  const [sent, setSent] = useState<Sent | null>(null);
  const send = async (address: string) => {
    const code = await api().requestEmailCode(address);
    setSent((before) => ({ email: address, code, isRepeated: before !== null }));
  };
  return sent === null ? (
    <EmailForm email={email} setEmail={setEmail} send={send} />
  ) : (
    <CodeForm sent={sent} send={() => send(sent.email)} changeEmail={() => setSent(null)} />
  );
}

type EmailFormProps = {
  readonly email: string;
  readonly setEmail: (email: string) => void;
  readonly send: (email: string) => Promise<void>;
};

function EmailForm({ email, setEmail, send }: EmailFormProps) {
  const { busy, error, run } = useTask();
  const [isChecked, setChecked] = useState(false);
  const address = email.trim();
  const isWrong = isChecked && !ADDRESS.test(address);
  const wantsOrders = draft.value.showsOrders || draft.value.orderId !== '';
  return (
    <form
      class="screen"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setChecked(true);
        if (ADDRESS.test(address) && !busy) void run(() => send(address));
      }}
    >
      <Heading>{t(wantsOrders ? 'identify.title_orders' : 'identify.title')}</Heading>
      <Field
        label={t('identify.email')}
        hint={t('identify.email.hint')}
        value={email}
        onInput={setEmail}
        error={isWrong ? t('identify.email.invalid') : undefined}
        input={{ type: 'email', inputMode: 'email', autocomplete: 'email', maxLength: 320, dir: 'ltr' }}
        testId="email"
      />
      <Refused error={error} />
      <Button type="submit" busy={busy} testId="send-code">
        {t('identify.send')}
      </Button>
    </form>
  );
}

/** Limits say how long to wait; a wrong code says how many tries are left. */
function Refused({ error }: { readonly error: unknown }) {
  if (error instanceof ApiError) {
    const details = (error.details ?? {}) as { retry_after?: number; attempts_left?: number };
    if (error.code === 'RATE_LIMITED' && details.retry_after !== undefined)
      return (
        <Notice kind="danger" testId="problem">
          <p>{t('identify.wait', { seconds: details.retry_after })}</p>
        </Notice>
      );
    if (error.code === 'EMAIL_CODE_INVALID' && details.attempts_left !== undefined)
      return (
        <Notice kind="danger" testId="problem">
          <p>{t('identify.tries_left', { count: details.attempts_left })}</p>
        </Notice>
      );
  }
  return <Problem error={error} />;
}

type CodeFormProps = {
  readonly sent: Sent;
  readonly send: () => Promise<void>;
  readonly changeEmail: () => void;
};

function CodeForm({ sent, send, changeEmail }: CodeFormProps) {
  const [code, setCode] = useState('');
  const [isChecked, setChecked] = useState(false);
  const confirming = useTask();
  const sending = useTask();
  const validFor = useSecondsLeft(sent.code.expires_at);
  const isExpired = validFor === 0;
  const isWhole = code.length === CODE_LENGTH;
  const confirm = () =>
    confirming.run(async () => {
      const identified = await api().identify(sent.email, code);
      enter(identified);
    });
  return (
    <form
      class="screen"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setChecked(true);
        if (isWhole && !isExpired && !confirming.busy) void confirm();
      }}
    >
      <Heading>{t('identify.title_code')}</Heading>
      <p>{t('identify.sent', { email: sent.email })}</p>
      {sent.isRepeated ? <Notice kind="success">{t('identify.resent')}</Notice> : null}
      {sent.code.sandbox_code === undefined ? null : (
        <Notice>
          <p>
            {t('identify.sandbox_code')} <strong data-testid="sandbox-code">{sent.code.sandbox_code}</strong>
          </p>
        </Notice>
      )}
      <Field
        label={t('identify.code')}
        hint={t('identify.code.hint', { time: clockTime(sent.code.expires_at) })}
        value={code}
        onInput={(typed) => setCode(onlyDigits(typed))}
        error={isChecked && !isWhole ? t('identify.code.incomplete') : undefined}
        input={{ inputMode: 'numeric', autocomplete: 'one-time-code', class: 'code-input', dir: 'ltr' }}
        testId="code"
      />
      {isExpired ? (
        <Notice kind="warning" testId="code-expired">
          {t('identify.expired')}
        </Notice>
      ) : null}
      <Refused error={confirming.error} />
      <Refused error={sending.error} />
      <Button type="submit" busy={confirming.busy} disabled={isExpired} testId="confirm-code">
        {t('identify.confirm')}
      </Button>
      <div class="row between">
        <Resend
          key={sent.code.expires_at}
          after={sent.code.resend_after_seconds}
          busy={sending.busy}
          onClick={() => sending.run(send)}
        />
        <Button kind="link" onClick={changeEmail} testId="change-email">
          {t('identify.change_email')}
        </Button>
      </div>
    </form>
  );
}

/** A pasted code may come with spaces, or in the digits of another script. */
function onlyDigits(typed: string): string {
  return typed.normalize('NFKC').replaceAll(/\D/g, '').slice(0, CODE_LENGTH);
}

type ResendProps = { readonly after: number; readonly busy: boolean; readonly onClick: () => unknown };

/** Counted on this device alone: the service has the last word when the button is pressed. */
function Resend({ after, busy, onClick }: ResendProps) {
  const [left, setLeft] = useState(after);
  useEffect(() => {
    if (left <= 0) return;
    const timer = setTimeout(() => setLeft(left - 1), 1_000);
    return () => clearTimeout(timer);
  }, [left]);
  return left > 0 ? (
    <p class="hint">{t('identify.resend_in', { seconds: left })}</p>
  ) : (
    <Button kind="link" busy={busy} onClick={onClick} testId="resend-code">
      {t('identify.resend')}
    </Button>
  );
}

/** A customer with an open order is shown it before a second one is begun. */
function enter(identified: Session): void {
  const hasOpen = identified.orders.some((order) => order.is_open);
  if (hasOpen && draft.value.orderId === '') change({ showsOrders: true });
  session.value = identified;
}
