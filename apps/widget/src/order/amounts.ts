import { money } from '../i18n/format.ts';
import type { Order } from '../session/api.ts';

/** Zeros that say nothing are left out of crypto: 134.390000 is 134.39. */
export function cryptoText(amount: string, currency: string): string {
  return money(amount.replace(/(\.\d\d\d*?)0+$/, '$1'), currency);
}

export function payText({ side, pay_amount, pay_currency }: Order): string {
  return (side === 'onramp' ? money : cryptoText)(pay_amount, pay_currency);
}

export function receiveText({ side, receive_amount, receive_currency }: Order): string {
  return (side === 'onramp' ? cryptoText : money)(receive_amount, receive_currency);
}
