import { decimal, money } from '../i18n/format.ts';
import { t } from '../i18n/i18n.ts';
import type { Estimate, Quote } from '../session/api.ts';
import { session } from '../session/store.ts';
import { Facts } from '../ui/kit.tsx';
import { withoutTrailingZeros } from './amounts.ts';
import { percent } from './names.ts';

/** Amounts as every screen of buying shows them: crypto without the zeros that say nothing. */
export function amountText(amount: string, currency: string): string {
  return money(/^[A-Z]{3}$/.test(currency) ? amount : withoutTrailingZeros(amount), currency);
}

const RATE_DIGITS = 6;

/** A rate to as many digits as matter; it is cut, not rounded, and never goes through a float. */
export function rateText(rate: string): string {
  const [whole = '0', fraction = ''] = rate.split('.');
  const first = fraction.search(/[1-9]/);
  const shown = whole === '0' && first >= 0 ? first + RATE_DIGITS : Math.max(2, RATE_DIGITS - whole.length);
  const cut = fraction.slice(0, shown).replace(/0+$/, '');
  return decimal(cut === '' ? whole : `${whole}.${cut.padEnd(2, '0')}`);
}

export function rateLine(rate: string, crypto: string, fiat: string): string {
  return t('buy.estimate.rate_value', { crypto, rate: `${rateText(rate)} ${fiat}` });
}

type Price = Pick<
  Estimate | Quote,
  | 'pay_amount'
  | 'pay_currency'
  | 'receive_amount'
  | 'receive_currency'
  | 'rate'
  | 'crypto_amount'
  | 'fee_breakdown'
>;

export interface Pair {
  readonly side: 'onramp' | 'offramp';
  readonly cryptoCurrency: string;
  readonly fiatCurrency: string;
}

export function feesText({ fee_breakdown: fees }: Price, crypto: string): string {
  return /[1-9]/.test(fees.total_fee) ? amountText(fees.total_fee, crypto) : t('buy.fees.none');
}

/** Who takes how much, and who is paid: behind a summary, because most people only want the sum. */
export function FeesExplained({ price, pair }: { readonly price: Price; readonly pair: Pair }) {
  const partner = session.value?.partner_name ?? '';
  const { fee_breakdown: fees } = price;
  const { side, cryptoCurrency: crypto } = pair;
  return (
    <details data-testid="fees">
      <summary>{t('buy.fees.explained')}</summary>
      <div class="stack tight">
        <Facts
          rows={[
            [t('buy.fees.exchanged'), amountText(price.crypto_amount, crypto)],
            [
              t('buy.fees.platform', { percent: percent(fees.platform_fee_pct) }),
              amountText(fees.platform_fee, crypto),
            ],
            [
              t('buy.fees.partner', { partner, percent: percent(fees.partner_fee_pct) }),
              amountText(fees.partner_fee, crypto),
            ],
            [t('buy.fees.get'), amountText(price.receive_amount, price.receive_currency)],
          ]}
        />
        <p class="hint">{t(`buy.fees.who_${side}`, { partner })}</p>
      </div>
    </details>
  );
}
