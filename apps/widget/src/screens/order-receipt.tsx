import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../i18n/i18n.ts';
import { receiveText } from '../order/amounts.ts';
import { type ReceiptRow, receiptRows, receiptText } from '../order/receipt.ts';
import type { Session } from '../session/api.ts';
import { session } from '../session/store.ts';
import { Button, Facts, Notice } from '../ui/kit.tsx';
import { AfterTheEnd, type PhaseProps, TransactionLink } from './order-sections.tsx';

export function CompletedPhase({ order }: PhaseProps) {
  const around = session.value;
  return (
    <>
      <Notice kind="success">
        <p>{t(`phase.completed.text_${order.side}`, { amount: receiveText(order) })}</p>
      </Notice>
      {around === null ? null : <Receipt order={order} around={around} />}
      <AfterTheEnd />
    </>
  );
}

function Receipt({ order, around }: PhaseProps & { readonly around: Session }) {
  const rows = receiptRows(order, around);
  return (
    <section class="panel stack" data-testid="receipt" aria-labelledby="receipt-title">
      <h2 id="receipt-title">{t('receipt.title')}</h2>
      <Facts rows={rows.map((row) => [row.label, <Value key={row.id} row={row} />] as const)} />
      <div class="row">
        <CopyReceipt text={receiptText(`${around.partner_name} – ${t('receipt.title')}`, rows)} />
        <Button kind="secondary" testId="print-receipt" onClick={() => print()}>
          {t('receipt.print')}
        </Button>
      </div>
    </section>
  );
}

function Value({ row: { id, value, isCode = false } }: { readonly row: ReceiptRow }) {
  if (id === 'transaction' || id === 'refund') return <TransactionLink hash={value} />;
  return isCode ? <bdi class="mono">{value}</bdi> : <span>{value}</span>;
}

/** Where the page gives the frame no clipboard, the text is shown and selected, so that the usual keys copy it. */
function CopyReceipt({ text }: { readonly text: string }) {
  const [outcome, setOutcome] = useState<'none' | 'copied' | 'shown'>('none');
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (outcome === 'shown') area.current?.select();
  }, [outcome]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setOutcome('copied'),
      () => setOutcome('shown'),
    );
  return (
    <>
      <Button kind="secondary" testId="copy-receipt" onClick={copy}>
        {outcome === 'copied' ? t('receipt.copied') : t('receipt.copy')}
      </Button>
      <span class="visually-hidden" aria-live="polite">
        {outcome === 'copied' ? t('receipt.copied') : ''}
      </span>
      {outcome === 'shown' ? (
        <div class="field">
          <textarea ref={area} readOnly rows={6} aria-label={t('receipt.title')} value={text} />
        </div>
      ) : null}
    </>
  );
}
