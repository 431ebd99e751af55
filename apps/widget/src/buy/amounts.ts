/** Amounts as the customer types them and as the service takes them: decimal text, compared and converted without floats. */

export type ParsedAmount =
  | { readonly kind: 'amount'; readonly amount: string }
  | { readonly kind: 'empty' | 'format' | 'decimals' | 'zero' };

/** Digits of the scripts that our languages use, by the code point of their zero. */
const ZEROS = [0x30, 0x660, 0x6f0, 0x966, 0xff10];
const SEPARATORS = ['.', ',', '٫', '٬', '’', "'"];
const MAX_DIGITS = 40;

function toAsciiDigits(text: string): string {
  return [...text]
    .map((character) => {
      const code = character.codePointAt(0) ?? 0;
      const zero = ZEROS.find((one) => code >= one && code < one + 10);
      return zero === undefined ? character : String(code - zero);
    })
    .join('');
}

function separatorsOf(locale: string): { readonly decimal: string; readonly group: string } {
  const parts = new Intl.NumberFormat(locale).formatToParts(1_234_567.5);
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? '';
  return { decimal: of('decimal') || '.', group: of('group') };
}

/** Which separator, if any, ends the whole part. One that stands alone before three digits is what the language says. */
function decimalSeparator(text: string, locale: string): string | null | undefined {
  const used = SEPARATORS.filter((separator) => text.includes(separator));
  if (used.length === 0) return null;
  const count = (separator: string) => text.split(separator).length - 1;
  const last = used.toSorted((one, other) => text.lastIndexOf(one) - text.lastIndexOf(other)).at(-1) ?? '';
  if (used.length > 1) return count(last) === 1 && used.length === 2 ? last : undefined;
  if (count(last) > 1) return null;
  const { decimal, group } = separatorsOf(locale);
  const isGrouped = /^[1-9]\d{0,2}\D\d{3}$/.test(text);
  if (last === '٬' || last === '’' || last === "'") return isGrouped ? null : undefined;
  return last !== decimal && last === group && isGrouped ? null : last;
}

/** What was typed as decimal text; separators of the language, of others where they are plain, and spaces are understood. */
export function parseAmount(typed: string, locale: string, decimals: number): ParsedAmount {
  const text = toAsciiDigits(typed).replaceAll(/[\s\u200e\u200f\u061c]/gu, '');
  if (text === '') return { kind: 'empty' };
  const decimal = decimalSeparator(text, locale);
  if (decimal === undefined) return { kind: 'format' };
  const [whole = '', fraction = ''] = decimal === null ? [text] : text.split(decimal);
  const groups = whole.split(/[.,٫٬’']/);
  // Groups have three digits; in India all but the last have two.
  const isGrouped = groups.length === 1 || /^\d{1,3}(?:\D\d{2,3})*\D\d{3}$/.test(whole);
  const digits = groups.join('');
  if (!isGrouped || !/^\d*$/.test(digits) || !/^\d*$/.test(fraction) || digits + fraction === '')
    return { kind: 'format' };
  if (digits.length > MAX_DIGITS) return { kind: 'format' };
  if (fraction.replace(/0+$/, '').length > decimals) return { kind: 'decimals' };
  const kept = fraction.slice(0, decimals);
  const amount = `${digits.replace(/^0+(?=\d)/, '') || '0'}${kept === '' ? '' : `.${kept}`}`;
  return /[1-9]/.test(amount) ? { kind: 'amount', amount } : { kind: 'zero' };
}

/** Zeros at the end that say nothing are left out: 55.500000 is 55.50. */
export function withoutTrailingZeros(amount: string, keep = 2): string {
  const [whole = '0', fraction = ''] = amount.split('.');
  const cut = fraction.slice(0, keep) + fraction.slice(keep).replace(/0+$/, '');
  return cut === '' ? whole : `${whole}.${cut}`;
}

/** Decimal text as a field shows it: the language’s separator and no groups, so that it can be typed over. */
export function fieldText(amount: string, locale: string): string {
  return amount === '' ? '' : withoutTrailingZeros(amount).replace('.', separatorsOf(locale).decimal);
}

function atomic(amount: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = amount.split('.');
  return BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
}

/** Below zero, zero or above zero, as the first is less, equal or more. */
export function compareAmounts(one: string, other: string): number {
  const decimals = Math.max(one.split('.')[1]?.length ?? 0, other.split('.')[1]?.length ?? 0);
  const difference = atomic(one, decimals) - atomic(other, decimals);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

interface Figures {
  readonly pay_amount: string;
  readonly receive_amount: string;
}

/** How a new price compares with the one before. One of the two amounts is fixed by what was typed; the other one moves. */
export function priceChange(now: Figures, before: Figures | null): 'first' | 'same' | 'better' | 'worse' {
  if (before === null) return 'first';
  const gets = compareAmounts(now.receive_amount, before.receive_amount);
  const pays = compareAmounts(now.pay_amount, before.pay_amount);
  if (gets === 0 && pays === 0) return 'same';
  return gets < 0 || pays > 0 ? 'worse' : 'better';
}
