import { useEffect, useState } from 'preact/hooks';
import type { Connection } from '../host/wallet.ts';
import { t } from '../i18n/i18n.ts';
import { cryptoText, payText } from '../order/amounts.ts';
import { approvalMismatch } from '../order/approval.ts';
import { difference } from '../order/decimal-text.ts';
import { isolated } from '../order/progress.ts';
import type { Purpose } from '../order/signing.ts';
import type { Funding, Order, Session } from '../session/api.ts';
import { api, session } from '../session/store.ts';
import { leftAfterRecovery, Notice, Problem, Spinner } from '../ui/kit.tsx';
import { CancelOrder, Deadline, type PhaseProps } from './order-sections.tsx';
import { ApproveStep, SignatureStep } from './order-sign-steps.tsx';
import { WalletGate } from './order-wallet.tsx';

/** Phases in which the customer’s wallet signs. All of it is a part of its own, fetched when an order needs it. */

export function SignTransferPhase({ order }: PhaseProps) {
  return (
    <>
      <p>{t('phase.sign.text', { amount: payText(order) })}</p>
      <Deadline at={order.expires_at} isYours />
      <Signing order={order} purpose="transfer" />
      <CancelOrder order={order} />
    </>
  );
}

export function SignRefundPhase({ order }: PhaseProps) {
  return (
    <>
      <p>{t('phase.refund.text')}</p>
      <Signing order={order} purpose="refund" />
    </>
  );
}

export function SignReleasePhase({ order }: PhaseProps) {
  return (
    <>
      <p>{t('phase.release.text')}</p>
      <Signing order={order} purpose="release" />
    </>
  );
}

interface SigningProps extends PhaseProps {
  readonly purpose: Purpose;
}

function Signing({ order, purpose }: SigningProps) {
  const { funding, error, reload } = useFunding(order.order_id, purpose);
  const around = session.value;
  if (around === null) return null;
  if (funding === null) {
    return (
      <div class="loading" role="status">
        {error === null ? <Spinner /> : null}
        <span>{error === null ? t('sign.preparing') : ''}</span>
        <Problem error={error} />
      </div>
    );
  }
  return (
    <WalletGate order={order} chain={around.chain}>
      {(connection) => (
        <Steps
          order={order}
          purpose={purpose}
          around={around}
          funding={funding}
          connection={connection}
          reload={reload}
        />
      )}
    </WalletGate>
  );
}

interface StepsProps extends SigningProps {
  readonly around: Session;
  readonly funding: Funding;
  readonly connection: Connection;
  readonly reload: () => Promise<void>;
}

function Steps({ order, purpose, around, funding, connection, reload }: StepsProps) {
  const [hadApproval] = useState(funding.approval !== null);
  const common = { order, around, funding, connection };
  if (purpose !== 'transfer')
    return <SignatureStep {...common} purpose={purpose} title={t(`phase.${purpose}.title`)} />;
  if (!funding.is_balance_sufficient) return <BalanceTooLow funding={funding} />;
  if (funding.approval !== null) {
    const mismatch = approvalMismatch(funding, expectedOf(order, around));
    if (mismatch === null)
      // A withdrawal and the permission after it are two questions: neither waits for what the other has sent.
      return (
        <ApproveStep
          key={funding.approval.amount_atomic}
          {...common}
          approval={funding.approval}
          onSent={() => void reload()}
        />
      );
    return (
      <Notice kind="danger" testId="sign-refused">
        <p>{t('sign.approve_refused', { partner: around.partner_name })}</p>
        <p class="hint">{isolated(`approve: ${mismatch}`)}</p>
      </Notice>
    );
  }
  const title = hadApproval ? t('sign.transfer_title_second') : t('sign.transfer_title');
  return <SignatureStep {...common} purpose="transfer" title={title} />;
}

function expectedOf(order: Order, { chain }: Session) {
  const token = chain.tokens.find(({ code }) => code === order.pay_currency);
  return {
    wallet: order.wallet_address,
    amount: order.pay_amount,
    chainId: chain.chain_id,
    token: { address: token?.address ?? '', decimals: token?.decimals ?? 0 },
  };
}

function BalanceTooLow({ funding }: { readonly funding: Funding }) {
  const { amount_human, balance_human, crypto_currency } = funding;
  return (
    <Notice kind="warning" testId="balance-low">
      <p>
        {t('sign.balance_low', {
          balance: cryptoText(balance_human, crypto_currency),
          missing: cryptoText(difference(amount_human, balance_human), crypto_currency),
        })}
      </p>
    </Notice>
  );
}

const ASK_AGAIN_MS = 2_000;

/** Whether the wallet can pay. Asked again while the balance or a permission is waited for, and when the page is looked at again. */
function useFunding(orderId: string, purpose: Purpose) {
  const [funding, setFunding] = useState<Funding | null>(null);
  const [error, setError] = useState<unknown>(null);
  const reload = async () => {
    try {
      setFunding(await api().funding(orderId));
      setError(null);
    } catch (thrown) {
      setError(await leftAfterRecovery(thrown));
    }
  };
  const isDue =
    funding === null ||
    (purpose === 'transfer' && (!funding.is_balance_sufficient || funding.approval !== null));
  useEffect(() => {
    let isHere = true;
    const ask = async () => {
      if (!document.hidden && navigator.onLine) await reload();
      if (isHere && isDue) timer = setTimeout(() => void ask(), ASK_AGAIN_MS);
    };
    let timer = setTimeout(() => void ask(), funding === null ? 0 : ASK_AGAIN_MS);
    const back = () => (document.hidden ? undefined : void reload());
    document.addEventListener('visibilitychange', back);
    return () => {
      isHere = false;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', back);
    };
  }, [orderId, isDue]);
  return { funding, error, reload };
}
