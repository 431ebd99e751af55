import { dateTime, decimal } from '../i18n/format.ts';
import { t } from '../i18n/i18n.ts';
import type { Order, Session } from '../session/api.ts';
import { cryptoText, payText, receiveText } from './amounts.ts';
import { statusText } from './progress.ts';

export interface ReceiptRow {
  readonly label: string;
  readonly value: string;
  /** An address, an id or a hash: kept from left to right in every language, and cut anywhere. */
  readonly isCode?: boolean;
  readonly id: string;
}

/** The rate is of one unit of crypto, whichever side it is. */
function currencies({ side, pay_currency, receive_currency }: Order) {
  return side === 'onramp'
    ? { fiat: pay_currency, crypto: receive_currency }
    : { fiat: receive_currency, crypto: pay_currency };
}

const isMore = (amount: string) => /[1-9]/.test(amount);

/** Everything that a customer may be asked for later, in the order in which it is read. */
export function receiptRows(order: Order, session: Pick<Session, 'partner_name' | 'chain'>): ReceiptRow[] {
  const { fiat, crypto } = currencies(order);
  const { fee_breakdown: fees, timeline } = order;
  const partner = session.partner_name;
  const end = timeline.at(-1);
  const rows: (ReceiptRow | null)[] = [
    { id: 'paid', label: t('receipt.paid'), value: payText(order) },
    { id: 'received', label: t('receipt.received'), value: receiveText(order) },
    {
      id: 'rate',
      label: t('receipt.rate'),
      value: t('receipt.rate_value', { crypto, fiat, rate: decimal(order.rate) }),
    },
    isMore(fees.platform_fee)
      ? { id: 'platform-fee', label: t('receipt.fee_platform'), value: cryptoText(fees.platform_fee, crypto) }
      : null,
    isMore(fees.partner_fee)
      ? {
          id: 'partner-fee',
          label: t('receipt.fee_partner', { partner }),
          value: cryptoText(fees.partner_fee, crypto),
        }
      : null,
    { id: 'created', label: t('receipt.created'), value: dateTime(order.created_at) },
    end === undefined ? null : { id: 'ended', label: statusText(end.status), value: dateTime(end.at) },
    { id: 'wallet', label: t('receipt.wallet'), value: order.wallet_address, isCode: true },
    order.payout_account === null
      ? null
      : { id: 'account', label: t('receipt.payout_account'), value: order.payout_account, isCode: true },
    { id: 'network', label: t('receipt.network'), value: session.chain.name },
    { id: 'order', label: t('order.id'), value: order.order_id, isCode: true },
    order.reference_id === null
      ? null
      : {
          id: 'reference',
          label: t('receipt.merchant_reference', { partner }),
          value: order.reference_id,
          isCode: true,
        },
    order.tx_hash === null
      ? null
      : { id: 'transaction', label: t('receipt.transaction'), value: order.tx_hash, isCode: true },
    order.refund_tx_hash === null
      ? null
      : {
          id: 'refund',
          label: t('receipt.refund_transaction'),
          value: order.refund_tx_hash,
          isCode: true,
        },
  ];
  return rows.filter((row) => row !== null);
}

export function receiptText(title: string, rows: readonly ReceiptRow[]): string {
  return [title, ...rows.map(({ label, value }) => `${label}: ${value}`)].join('\n');
}
