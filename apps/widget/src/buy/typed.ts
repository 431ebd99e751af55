import type { WidgetLocale } from '@causeway/protocol';
import type { Draft } from '../session/steps.ts';
import { fieldText, type ParsedAmount, parseAmount } from './amounts.ts';

/** What stands in the box that the customer types in. */
export interface Typed {
  readonly text: string;
  /** What it was typed in: “1,500” is another amount in another language. */
  readonly language: WidgetLocale;
  readonly anchor: Draft['anchor'];
  /** What the draft was given of it. */
  readonly amount: string;
}

type Said = Pick<Draft, 'anchor' | 'amount'>;

/** A draft that says otherwise than it was given has been changed by the page, and the box follows it. */
export function typedNow(typed: Typed | null, { anchor, amount }: Said, language: WidgetLocale): Typed {
  if (typed !== null && typed.anchor === anchor && typed.amount === amount) return typed;
  return { text: fieldText(amount, language), language, anchor, amount };
}

export interface ReadTyped {
  readonly parsed: ParsedAmount;
  /** Empty where what was typed is no amount. */
  readonly amount: string;
  /** The same amount in the language of now; what is none stays as it was typed. */
  readonly shown: string;
}

export function readTyped(
  { text, language }: Pick<Typed, 'text' | 'language'>,
  now: WidgetLocale,
  decimals: number,
): ReadTyped {
  const parsed = parseAmount(text, language, decimals);
  const amount = parsed.kind === 'amount' ? parsed.amount : '';
  const isForeign = language !== now && amount !== '';
  return { parsed, amount, shown: isForeign ? fieldText(amount, now) : text };
}
