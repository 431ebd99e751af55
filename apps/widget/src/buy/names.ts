import { locale } from '../i18n/i18n.ts';

/** Names by language from the browser, which knows them all; the code itself where it does not. */
function nameOf(type: 'currency' | 'region', code: string): string {
  try {
    return new Intl.DisplayNames(locale.value, { type }).of(code) ?? code;
  } catch {
    return code;
  }
}

export const currencyName = (code: string): string => nameOf('currency', code);
export const countryName = (code: string): string => nameOf('region', code);

/** 0.5 as 0.5% in the customer’s language. */
export function percent(value: number): string {
  return new Intl.NumberFormat(locale.value, {
    style: 'unit',
    unit: 'percent',
    maximumFractionDigits: 6,
  }).format(value);
}
