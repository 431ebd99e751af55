import { describe, expect, it } from 'vitest';
import { readTyped, type Typed, typedNow } from './typed.ts';

const typed = (text: string, given: Partial<Typed> = {}): Typed => ({
  ...{ text, language: 'en', anchor: 'fiat', amount: '' },
  ...given,
});

describe('what was typed', () => {
  it('is the same amount in every language, written as each writes it', () => {
    expect(readTyped(typed('1,500'), 'en', 2)).toMatchObject({ amount: '1500', shown: '1,500' });
    expect(readTyped(typed('1,500'), 'es', 2)).toMatchObject({ amount: '1500', shown: '1500' });
    expect(readTyped(typed('1,500.25'), 'es', 2)).toMatchObject({ amount: '1500.25', shown: '1500,25' });
    expect(readTyped(typed('1.500', { language: 'es' }), 'en', 3)).toMatchObject({ amount: '1500' });
  });

  it('stays as it is where it is no amount', () => {
    expect(readTyped(typed('10.123'), 'es', 2)).toEqual({
      ...{ parsed: { kind: 'decimals' }, amount: '', shown: '10.123' },
    });
    expect(readTyped(typed('abc'), 'fr', 2)).toMatchObject({ amount: '', shown: 'abc' });
  });

  it('is kept while the draft says what it was given', () => {
    const own = typed('1,500', { amount: '1500' });
    expect(typedNow(own, { anchor: 'fiat', amount: '1500' }, 'es')).toBe(own);
    const wrong = typed('10.123');
    expect(typedNow(wrong, { anchor: 'fiat', amount: '' }, 'en')).toBe(wrong);
  });

  it('gives way to what the page asks for meanwhile', () => {
    const own = typed('1,500', { amount: '1500' });
    expect(typedNow(own, { anchor: 'fiat', amount: '99.5' }, 'es')).toEqual({
      ...{ text: '99,5', language: 'es', anchor: 'fiat', amount: '99.5' },
    });
    expect(typedNow({ ...own, anchor: 'crypto' }, { anchor: 'fiat', amount: '1500' }, 'en').text).toBe(
      '1500',
    );
    expect(typedNow(null, { anchor: 'crypto', amount: '' }, 'en')).toMatchObject({ text: '' });
  });
});
