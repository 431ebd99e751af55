/** What was found about a mutant that survived. */
export interface Verdict {
  /** The end of the file's path. */
  readonly file: string;
  readonly original: string;
  readonly replacement: string;
  /** A part of the line, where the same text stands elsewhere in the file too. */
  readonly on?: string;
  readonly verdict: 'equivalent' | 'accepted';
  readonly why: string;
}

export const VERDICTS: readonly Verdict[] = [
  {
    file: 'money/amount.ts',
    original: 'left.atomic < right.atomic',
    replacement: 'left.atomic <= right.atomic',
    verdict: 'equivalent',
    why: 'equal amounts are answered on the line before',
  },
  {
    file: 'money/decimal.ts',
    original: "''",
    replacement: '"Stryker was here!"',
    verdict: 'equivalent',
    why: 'the pattern always has these two groups: the default is for the type',
  },
  {
    file: 'money/price.ts',
    original: 'shift >= 0',
    replacement: 'shift > 0',
    verdict: 'equivalent',
    why: 'at zero both sides are one',
  },
  {
    file: 'money/price.ts',
    original: 'fiatAmount <= 0n',
    replacement: 'fiatAmount < 0n',
    verdict: 'equivalent',
    why: 'nothing buys nothing: the next check refuses it in the same words',
  },
  {
    file: 'money/price.ts',
    original: 'isWholeOrMore(terms.platformFee)',
    replacement: 'false',
    verdict: 'equivalent',
    why: 'no base leaves a receipt then, and the refusal is the same; the check saves the search',
  },
  {
    file: 'money/price.ts',
    original: 'deposit <= 0n',
    replacement: 'false',
    verdict: 'equivalent',
    why: 'a deposit of nothing pays out nothing: refused in the same words below',
  },
  {
    file: 'money/price.ts',
    original: 'deposit <= 0n',
    replacement: 'deposit < 0n',
    verdict: 'equivalent',
    why: 'a deposit of nothing pays out nothing: refused in the same words below',
  },
  {
    file: 'money/rate.ts',
    original: "'not_a_string_or_number'",
    replacement: '""',
    verdict: 'equivalent',
    why: 'a template is always a string: the branch is for the type',
  },
  {
    file: 'money/rate.ts',
    original: "decimal.reason === 'not_a_string'",
    replacement: 'false',
    verdict: 'equivalent',
    why: 'a template is always a string: the branch is for the type',
  },
  {
    file: 'money/rate.ts',
    original: "'not_a_string'",
    replacement: '""',
    verdict: 'equivalent',
    why: 'a template is always a string: the branch is for the type',
  },
  {
    file: 'money/receipt-base.ts',
    original: 'remainder > WHOLE_IN_MILLIONTHS - 2n',
    replacement: 'false',
    verdict: 'equivalent',
    why: 'one base more is looked at, which is not the answer: u is below the remainder there',
  },
  {
    file: 'money/receipt-base.ts',
    original: 'remainder > WHOLE_IN_MILLIONTHS - 2n',
    replacement: 'remainder >= WHOLE_IN_MILLIONTHS - 2n',
    verdict: 'equivalent',
    why: 'one base more is looked at, which is not the answer: u is below the remainder there',
  },
  {
    file: 'money/receipt-base.ts',
    original: 'WHOLE_IN_MILLIONTHS - 2n',
    replacement: 'WHOLE_IN_MILLIONTHS + 2n',
    verdict: 'equivalent',
    why: 'up to four bases more are looked at, below the window, where none is the answer; the scan passes them before the bisection',
  },
  {
    file: 'money/receipt-base.ts',
    original: 'WHOLE_IN_MILLIONTHS - 2n - remainder',
    replacement: 'WHOLE_IN_MILLIONTHS - 2n + remainder',
    verdict: 'equivalent',
    why: 'up to four bases more are looked at, below the window, where none is the answer; the scan passes them before the bisection',
  },
  {
    file: 'money/receipt-base.ts',
    original: 'candidates > highest - receipt',
    replacement: 'candidates >= highest - receipt',
    verdict: 'equivalent',
    why: 'the cap only leaves out bases below the receipt, none of which is the answer',
  },
  {
    file: 'money/receipt-base.ts',
    original: 'highest - receipt',
    replacement: 'highest + receipt',
    verdict: 'equivalent',
    why: 'the cap only leaves out bases below the receipt, none of which is the answer',
  },
  {
    file: 'money/receipt-base.ts',
    original: 'step < SCANNED_BASES',
    replacement: 'false',
    verdict: 'equivalent',
    why: 'the scan is a short cut: the bisection finds the same base',
  },
  {
    file: 'money/receipt-base.ts',
    original: 'step < SCANNED_BASES',
    replacement: 'step <= SCANNED_BASES',
    verdict: 'equivalent',
    why: 'the scan is a short cut: the bisection finds the same base',
  },
  {
    file: 'money/receipt-base.ts',
    original: 'step < SCANNED_BASES',
    replacement: 'step >= SCANNED_BASES',
    verdict: 'equivalent',
    why: 'the scan is a short cut: the bisection finds the same base',
  },
  {
    file: 'money/receipt-base.ts',
    original: `{
    if (base === highest || u > z) return base;
    base += 1n;
    z -= kept;
    u += feeA;
    if (u >= WHOLE_IN_MILLIONTHS) u -= WHOLE_IN_MILLIONTHS;
  }`,
    replacement: '{}',
    verdict: 'equivalent',
    why: 'the scan is a short cut: the bisection finds the same base',
  },
  {
    file: 'money/receipt-base.ts',
    original: 'base === highest',
    replacement: 'false',
    verdict: 'equivalent',
    why: 'at the highest base z is below zero, so the other condition holds',
  },
  {
    file: 'money/receipt-base.ts',
    original: 'n > 0n',
    replacement: 'n >= 0n',
    verdict: 'equivalent',
    why: 'n is never negative, and at zero the loop adds nothing and ends',
  },
  {
    file: 'money/receipt-base.ts',
    original: 'height < m',
    replacement: 'false',
    verdict: 'equivalent',
    why: 'one more turn of the loop adds nothing: n is zero, or one with no offset',
  },
  {
    file: 'money/receipt-base.ts',
    original: 'height < m',
    replacement: 'height <= m',
    verdict: 'equivalent',
    why: 'one more turn of the loop adds nothing: n is zero, or one with no offset',
  },
  {
    file: 'signers/signature.ts',
    original: '{ cause }',
    replacement: '{}',
    verdict: 'accepted',
    why: 'the cause is for who reads a log; callers see the same error',
  },
  {
    file: 'provider/callbacks.ts',
    original: `{
    return undefined;
  }`,
    replacement: '{}',
    verdict: 'equivalent',
    why: 'a function that ends without a value answers undefined',
  },
  {
    file: 'lib/crypto.ts',
    original: '{ authTagLength: TAG_BYTES }',
    replacement: '{}',
    verdict: 'equivalent',
    why: 'sixteen bytes are the default of GCM',
  },
  {
    file: 'lib/crypto.ts',
    original: `{
      authTagLength: TAG_BYTES,
    }`,
    replacement: '{}',
    verdict: 'equivalent',
    why: 'the tag that is set always has sixteen bytes, the default of GCM',
  },
  {
    file: 'lib/totp.ts',
    original: '[]',
    replacement: '["Stryker was here"]',
    on: 'bits.match(/.{8}/g)',
    verdict: 'equivalent',
    why: 'only an empty secret has no byte, and HMAC fills a short key with zeros, as this would be',
  },
  {
    file: 'webhooks/construct-event.ts',
    original: 'timestamp === undefined',
    replacement: 'false',
    verdict: 'equivalent',
    why: 'the pattern refuses the word undefined as well; the check is for the type',
  },
  {
    file: 'webhooks/construct-event.ts',
    original: '[]',
    replacement: '["Stryker was here"]',
    on: 'hex.match',
    verdict: 'equivalent',
    why: 'sixty-four digits always have pairs: the default is for the type',
  },
  {
    file: 'webhooks/construct-event.ts',
    original: 'false',
    replacement: 'true',
    on: 'importKey',
    verdict: 'accepted',
    why: 'whether the key could be exported: it never leaves the function',
  },
  {
    file: 'webhooks/construct-event.ts',
    original: `{
    event = null;
  }`,
    replacement: '{}',
    verdict: 'equivalent',
    why: 'undefined is read like null on the next line',
  },
];
