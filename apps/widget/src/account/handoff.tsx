import { locale, t } from '../i18n/i18n.ts';
import type { Draft } from '../session/steps.ts';
import { draft } from '../session/store.ts';
import { QrCode } from '../ui/qr.tsx';

/** What the page was opened with; a session that the partner’s server made has no key, and opens once only. */
function widgetKey(): string | null {
  const text = document.getElementById('causeway')?.textContent ?? '{}';
  const { widgetKey: key } = JSON.parse(text) as { readonly widgetKey?: unknown };
  return typeof key === 'string' && key !== '' ? key : null;
}

/**
 * The hosted page for another device. It carries the publishable key and the choices that are not personal; no token, no name
 * and no wallet: the customer says there by e-mail who it is.
 */
export function handoffAddress(
  origin: string,
  key: string,
  { side, fiatCurrency, cryptoCurrency, anchor, amount, country }: Draft,
  language: string,
): string {
  const query = new URLSearchParams({ key, side, locale: language });
  const chosen = { fiatCurrency, cryptoCurrency, country, ...(anchor === 'fiat' ? { amount } : {}) };
  for (const [name, value] of Object.entries(chosen)) if (value !== '') query.set(name, value);
  return `${origin}/widget/checkout?${query}`;
}

export function Handoff({ onOpen }: { readonly onOpen: () => void }) {
  const key = widgetKey();
  if (key === null) return null;
  return (
    <details
      class="panel handoff"
      data-testid="handoff"
      onToggle={(event) => {
        if (event.currentTarget.open) onOpen();
      }}
    >
      <summary>{t('kyc.handoff.open')}</summary>
      <p>{t('kyc.handoff.hint')}</p>
      <QrCode
        text={handoffAddress(location.origin, key, draft.value, locale.value)}
        label={t('kyc.handoff.label')}
        testId="qr"
      />
    </details>
  );
}
