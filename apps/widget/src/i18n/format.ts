import { locale } from './i18n.ts';
import { isRightToLeft, numberTag } from './message.ts';

/**
 * Amounts are decimal text and stay text: Intl reads decimal strings exactly, a float would not hold them.
 * Digits are 0 to 9 in every language (numberTag): an amount is compared with what a bank or a wallet shows, copied and typed.
 */
type DecimalText = `${number}`;

function decimalsOf(text: string): number {
  return text.split('.')[1]?.length ?? 0;
}

const formats = new Map<string, Intl.NumberFormat>();
function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = locale.value + JSON.stringify(options);
  const format = formats.get(key) ?? new Intl.NumberFormat(numberTag(locale.value), options);
  formats.set(key, format);
  return format;
}

/** In a language from right to left an amount keeps its own order wherever it stands, with or without markup around it. */
function leftToRight(text: string): string {
  if (!isRightToLeft(locale.value)) return text;
  return `\u2066${text.replaceAll(/[\u200e\u200f\u061c]/g, '')}\u2069`;
}

/**
 * `1234.50` `EUR` as `1.234,50 €` in Spanish; digits are kept as they are, none added and none dropped. The symbol is the one
 * that tells dollars from dollars (`$`, `MX$`). A token has no symbol: its code follows the number.
 */
export function money(amount: string, currency: string): string {
  if (!/^[A-Z]{3}$/.test(currency)) return leftToRight(`${plain(amount)} ${currency}`);
  const digits = decimalsOf(amount);
  const format = numberFormat({
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    style: 'currency',
    currency,
  });
  return leftToRight(format.format(amount as DecimalText));
}

/** A decimal number without a currency, a rate say. */
export function decimal(amount: string): string {
  return leftToRight(plain(amount));
}

function plain(amount: string): string {
  const digits = decimalsOf(amount);
  return numberFormat({ minimumFractionDigits: digits, maximumFractionDigits: digits }).format(
    amount as DecimalText,
  );
}

export function dateTime(iso: string): string {
  return dateFormat({ dateStyle: 'medium', timeStyle: 'short' }).format(new Date(iso));
}

export function clockTime(iso: string): string {
  return dateFormat({ timeStyle: 'short' }).format(new Date(iso));
}

function dateFormat(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(numberTag(locale.value), options);
}
