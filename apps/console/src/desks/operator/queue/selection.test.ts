import type { QueueCase } from '@causeway/sdk';
import { describe, expect, it } from 'vitest';
import { formatAmount } from '../../../ui/amount.ts';
import { caseToPin, nameOf } from './selection.ts';

const ID = '0197a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const ORDER = '01980000-1111-7222-8333-444455556666';

function row(kind: string, fields: Partial<QueueCase> = {}): QueueCase {
  return {
    kind,
    subject_id: ID,
    order_id: null,
    amount: null,
    currency: null,
    ...fields,
  } as QueueCase;
}

describe('the case that the address is to name', () => {
  const rows = [row('hold'), row('dispute', { subject_id: ORDER })];

  it.each([undefined, '', 'hold', 'hold/', 'unheard-of/1', ['hold/1', 'hold/2']])(
    'is the first where it names none: %j',
    (named) => expect(caseToPin(named, rows)).toBe(`hold/${ID}`),
  );

  it('stays where it names one, listed or not', () => {
    expect(caseToPin(`dispute/${ORDER}`, rows)).toBeUndefined();
    expect(caseToPin('kyc/somebody', rows)).toBeUndefined();
    expect(caseToPin('kyc/somebody', [])).toBeUndefined();
  });

  it('is none of an empty queue, and none of a kind that the page does not know', () => {
    expect(caseToPin(undefined, [])).toBeUndefined();
    expect(caseToPin(undefined, [row('of_tomorrow')])).toBeUndefined();
    expect(caseToPin(undefined, [row('of_tomorrow'), ...rows])).toBe(`hold/${ID}`);
  });

  it('is not asked for again once it is named', () => {
    const pinned = caseToPin(undefined, rows);
    expect(caseToPin(pinned, [row('offer'), ...rows])).toBeUndefined();
  });
});

describe('the name of a case', () => {
  it('is its kind, its order where it has one, and its amount', () => {
    const held = row('hold', { order_id: ORDER, amount: '1234.50', currency: 'EUR' });
    expect(nameOf(held)).toBe(`Orders on hold, order 01980000…6666, ${formatAmount('1234.50')} EUR`);
    expect(nameOf(row('kyc'))).toBe('KYC reviews, 0197a1b2…4a5b');
  });

  it('says what is there where the currency or the kind is not known', () => {
    expect(nameOf(row('reconciliation', { amount: '0.10' }))).toMatch(/, 0197a1b2…4a5b, 0\.10$/);
    expect(nameOf(row('of_tomorrow', { subject_id: 'short' }))).toBe('of_tomorrow, short');
  });
});
