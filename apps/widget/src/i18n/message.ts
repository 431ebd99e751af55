/**
 * Messages as they are shipped. They are written in ICU MessageFormat and parsed when the widget is built
 * (message-catalogue.ts), so that a browser gets neither the parser nor a message that does not parse.
 */
export type Message = string | readonly Part[];

/** Text; the number of the plural around it; an argument; or a choice by an argument. */
export type Part =
  | string
  | typeof POUND
  | readonly [argument: string]
  | readonly [
      argument: string,
      kind: ChoiceKind,
      options: Readonly<Record<string, Message>>,
      /** Of a plural: what is taken off before the category is chosen. */
      offset?: number,
    ];

export type ChoiceKind = 'cardinal' | 'ordinal' | 'select';
export const POUND = 0;
export type Values = Readonly<Record<string, string | number>>;

/** Digits are 0 to 9 in every language: an amount is typed, copied and compared with what a bank shows. */
export function numberTag(locale: string): string {
  return `${locale}-u-nu-latn`;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufefc]/;

/**
 * A name, an address or an amount keeps its own direction and leaves that of the words around it alone. Text of one direction
 * in a language of the same needs nothing.
 */
export function isolate(text: string, isRightToLeft: boolean): string {
  return isRightToLeft || RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

export function isRightToLeft(locale: string): boolean {
  return locale === 'ar';
}

export function formatMessage(message: Message, values: Values, locale: string, count?: number): string {
  if (typeof message === 'string') return message;
  return message.map((part) => formatPart(part, values, locale, count)).join('');
}

function formatPart(part: Part, values: Values, locale: string, count: number | undefined): string {
  if (typeof part === 'string') return part;
  if (part === POUND) return formatNumber(count ?? 0, locale);
  const [argument, kind, options = {}, offset = 0] = part;
  const value = values[argument];
  if (value === undefined) return '';
  if (kind === undefined) {
    return typeof value === 'number' ? formatNumber(value, locale) : isolate(value, isRightToLeft(locale));
  }
  if (kind === 'select') return formatMessage(options[value] ?? options.other ?? '', values, locale, count);
  const left = Number(value) - offset;
  const category = new Intl.PluralRules(locale, { type: kind }).select(left);
  const chosen = options[`=${value}`] ?? options[category] ?? options.other ?? '';
  return formatMessage(chosen, values, locale, left);
}

function formatNumber(value: number, locale: string): string {
  return new Intl.NumberFormat(numberTag(locale)).format(value);
}
