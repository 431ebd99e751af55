import { SigningRefusedError } from '@causeway/sdk/signing';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { askWallet, type Connection } from '../host/wallet.ts';
import { dateTime } from '../i18n/format.ts';
import { t } from '../i18n/i18n.ts';
import { cryptoText } from '../order/amounts.ts';
import { isWithdrawal } from '../order/approval.ts';
import { rememberApproval, sentApproval } from '../order/approval-memory.ts';
import { act, useOrderTask } from '../order/order-actions.ts';
import { isolated } from '../order/progress.ts';
import { type Purpose, prepare, type ToSign, walletSigner } from '../order/signing.ts';
import { ApiError, type Funding, type Session } from '../session/api.ts';
import { serverNow } from '../session/clock.ts';
import { api } from '../session/store.ts';
import { Button, Facts, leftAfterRecovery, Notice, Problem, Spinner } from '../ui/kit.tsx';
import type { PhaseProps } from './order-sections.tsx';
import { WalletProblem } from './order-wallet.tsx';

interface StepProps extends PhaseProps {
  readonly around: Session;
  readonly funding: Funding;
  readonly connection: Connection;
}

type Approval = NonNullable<Funding['approval']>;

const ASK_AGAIN_AFTER_MS = 60_000;

/** A transaction of its own that lets the router take exactly the amount. It is confirmed when the service no longer asks for it. */
export function ApproveStep({
  order,
  around,
  funding,
  connection,
  approval,
  onSent,
}: StepProps & { readonly approval: Approval; readonly onSent: () => void }) {
  const { busy, error, once } = useOrderTask();
  const [sent, setSent] = useState(() => sentApproval(order.order_id, approval.amount_atomic));
  const [mayRepeat, setMayRepeat] = useState(false);
  useEffect(() => {
    if (sent === null) return;
    const left = sent.sentAt + ASK_AGAIN_AFTER_MS - Date.now();
    const timer = setTimeout(() => setMayRepeat(true), Math.max(0, left));
    return () => clearTimeout(timer);
  }, [sent]);
  const ask = () =>
    once(async () => {
      const { from, to, data } = approval;
      await askWallet(connection.wallet, 'eth_sendTransaction', [{ from, to, data, value: '0x0' }]);
      const now = {
        orderId: order.order_id,
        amountAtomic: approval.amount_atomic,
        sentAt: Date.now(),
      };
      rememberApproval(now);
      setSent(now);
      setMayRepeat(false);
      onSent();
    });
  const router = isolated(funding.trust.router);
  const words = isWithdrawal(funding)
    ? t('sign.approve_reset_words', { router })
    : t('sign.approve_words', { router, amount: amountOf(funding) });
  const isWaiting = sent !== null;
  return (
    <section class="panel stack" aria-labelledby="sign-title">
      <h2 id="sign-title">{t('sign.approve_title')}</h2>
      <p data-testid="sign-words">{words}</p>
      <Facts rows={[[t('sign.network'), around.chain.name]]} />
      {isWaiting ? (
        <p class="row" role="status" data-testid="approve-waiting">
          <Spinner />
          <span>{t('sign.approve_waiting')}</span>
        </p>
      ) : (
        <p class="hint">{t('sign.approve_note')}</p>
      )}
      {isWaiting && !mayRepeat ? null : (
        <Button busy={busy} testId="approve" onClick={ask}>
          {isWaiting ? t('sign.approve_again') : t('sign.approve')}
        </Button>
      )}
      <InWallet busy={busy} />
      <WalletProblem error={error} chain={around.chain} />
    </section>
  );
}

function amountOf({ amount_human, crypto_currency }: Funding): string {
  return cryptoText(amount_human, crypto_currency);
}

function InWallet({ busy }: { readonly busy: boolean }) {
  return (
    <p class="hint" role="status">
      {busy ? t('sign.in_wallet') : ''}
    </p>
  );
}

/**
 * Held against the order, shown in words, signed, sent. A signature that could not be sent is sent again, not asked for again;
 * one that the service has refused would be refused again, and what it was given for is prepared anew.
 */
export function SignatureStep({
  order,
  around,
  funding,
  connection,
  purpose,
  title,
}: StepProps & { readonly purpose: Purpose; readonly title: string }) {
  const { toSign, refusal, prepareAnew } = usePrepared(purpose, order, around, funding);
  const { busy, error, once } = useOrderTask();
  const signed = useRef<{ readonly of: ToSign; readonly signature: string } | null>(null);
  if (refusal !== null) return <Refusal error={refusal} around={around} onRetry={prepareAnew} />;
  if (toSign === null) {
    return (
      <div class="loading" role="status">
        <Spinner />
        <span>{t('sign.preparing')}</span>
      </div>
    );
  }
  const sign = () =>
    once(async () => {
      const kept = signed.current?.of === toSign ? signed.current.signature : null;
      const signature = kept ?? (await toSign.sign(walletSigner(connection, order.wallet_address)));
      signed.current = { of: toSign, signature };
      await act(order.order_id, () => toSign.send(signature)).catch((thrown: unknown) => {
        if (isRefusal(thrown)) prepareAnew();
        throw thrown;
      });
    });
  return (
    <section class="panel stack" aria-labelledby="sign-title">
      <h2 id="sign-title">{title}</h2>
      <Words toSign={toSign} network={around.chain.name} />
      <p class="hint">{t('sign.free')}</p>
      <Button busy={busy} testId={`sign-${purpose}`} onClick={sign}>
        {t(`sign.${purpose}`)}
      </Button>
      <InWallet busy={busy} />
      {error instanceof SigningRefusedError ? (
        <Refusal error={error} around={around} />
      ) : (
        <WalletProblem error={error} chain={around.chain} />
      )}
    </section>
  );
}

/** The session had expired, or too much was asked at once. */
const NOT_JUDGED = [401, 429];

/** The service has judged what it was sent; where it was away or busy, it has not. */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ApiError) || NOT_JUDGED.includes(error.status)) return false;
  return error.status >= 400 && error.status < 500;
}

/** What the wallet will be asked, as a sentence and field by field. */
function Words({ toSign, network }: { readonly toSign: ToSign; readonly network: string }) {
  const { purpose, escrow, wallet, deadline } = toSign;
  const amount = cryptoText(toSign.amount, toSign.currency);
  const code = (value: string) => <bdi class="mono">{value}</bdi>;
  const ways: Readonly<Record<Purpose, readonly (readonly [string, ComponentChildren])[]>> = {
    transfer: [
      [t('sign.from'), code(wallet)],
      [t('sign.escrow'), code(escrow)],
    ],
    refund: [
      [t('sign.from_escrow'), code(escrow)],
      [t('sign.to'), code(wallet)],
    ],
    release: [
      [t('sign.from_escrow'), code(escrow)],
      [t('sign.to'), code(wallet)],
    ],
  };
  return (
    <div class="stack tight" data-testid="sign-words">
      <p>{t(`sign.${purpose}_words`, { amount })}</p>
      <Facts
        rows={[
          [t('sign.amount'), amount],
          ...ways[purpose],
          [t('sign.network'), network],
          ...(deadline === null
            ? []
            : [[t('sign.deadline'), dateTime(new Date(deadline).toISOString())] as const]),
        ]}
      />
    </div>
  );
}

function Refusal({
  error,
  around,
  onRetry,
}: {
  readonly error: unknown;
  readonly around: Session;
  readonly onRetry?: () => void;
}) {
  if (!(error instanceof SigningRefusedError)) {
    return (
      <>
        <Problem error={error} />
        {onRetry === undefined ? null : (
          <Button kind="secondary" testId="prepare-again" onClick={onRetry}>
            {t('buy.retry')}
          </Button>
        )}
      </>
    );
  }
  if (error.reason === 'SIGNATURE_MISMATCH') {
    return (
      <Notice kind="danger" testId="signature-wrong">
        <p>{t('sign.signature_wrong')}</p>
      </Notice>
    );
  }
  const reason = isolated(`${error.reason} (${error.field})`);
  return (
    <Notice kind="danger" testId="sign-refused">
      <p>{t('sign.refused', { partner: around.partner_name, reason })}</p>
    </Notice>
  );
}

/** A request that is about to end is read anew before it is signed. */
const RENEW_BEFORE_MS = 60_000;

function usePrepared(purpose: Purpose, order: StepProps['order'], around: Session, funding: Funding) {
  const [toSign, setToSign] = useState<ToSign | null>(null);
  const [refusal, setRefusal] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  const prepareAnew = () => {
    setToSign(null);
    setRefusal(null);
    setRound((before) => before + 1);
  };
  // What does not fit the order fits no better when it is read again.
  const isOpen = refusal !== null && !(refusal instanceof SigningRefusedError);
  // Listening as soon as it is shown: the connection may be back in that moment.
  useLayoutEffect(() => {
    if (!isOpen) return;
    addEventListener('online', prepareAnew);
    return () => removeEventListener('online', prepareAnew);
  }, [isOpen]);
  useEffect(() => {
    let isHere = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    prepare(purpose, { order, session: around, funding, api: api() }).then(
      (prepared) => {
        if (!isHere) return;
        setToSign(prepared);
        setRefusal(null);
        if (prepared.deadline === null) return;
        const left = prepared.deadline - serverNow() - RENEW_BEFORE_MS;
        timer = setTimeout(() => setRound(round + 1), Math.max(5_000, left));
      },
      async (error: unknown) => {
        const left = await leftAfterRecovery(error);
        if (isHere) setRefusal(left);
      },
    );
    return () => {
      isHere = false;
      clearTimeout(timer);
    };
  }, [order.order_id, purpose, round]);
  return { toSign, refusal, prepareAnew };
}
