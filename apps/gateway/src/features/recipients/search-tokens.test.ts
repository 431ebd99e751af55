import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identifierToken, nameTokens, searchedNameTokens } from './search-tokens.ts';

const hits = (name: string, search: string) => {
  const kept = new Set(nameTokens(name));
  const wanted = searchedNameTokens(search);
  return wanted.length > 0 && wanted.every((token) => kept.has(token));
};

describe('search tokens', () => {
  it('find a name by itself, in any case and order of words', () => {
    const word = fc.stringMatching(/^[a-zA-Zéüñ]{1,20}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        expect(hits(words.join(' '), words.toReversed().join('-').toUpperCase())).toBe(true);
      }),
    );
  });

  it('find a word by any beginning of three letters to sixteen', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{3,30}$/), fc.integer({ min: 3, max: 16 }), (word, length) => {
        expect(hits(word, word.slice(0, length))).toBe(true);
      }),
    );
  });

  it('keep no beginning so short that its hash would tell the letters', () => {
    expect(nameTokens('Anna')).toEqual(['anna', 'ann']);
    expect(hits('Anna', 'an')).toBe(false);
    expect(hits('An Li', 'an')).toBe(true);
  });

  it('are bounded however long the name is', () => {
    expect(nameTokens('long '.repeat(10_000), '王'.repeat(10_000)).length).toBeLessThan(1_000);
    expect(nameTokens('').length).toBe(0);
  });

  it('know an identifier however it is grouped, and none that is too short', () => {
    expect(identifierToken(' de89-3704 ')).toBe('DE893704');
    expect(identifierToken('12-3')).toBeUndefined();
  });
});
