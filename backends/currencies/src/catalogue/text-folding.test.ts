import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldText } from './text-folding.ts';

test.each([
  ['Caisse d’Épargne', 'caisse depargne'],
  ["Caisse d'Epargne", 'caisse depargne'],
  ['  Łódź -- Bank (S.A.) ', 'lodz bank s a'],
  ['STRAßE & Co.', 'strasse co'],
  ['...', ''],
])('%s is compared as %s', (text, folded) => {
  expect(foldText(text)).toBe(folded);
});

test('plain text is folded alike whether or not there is an accent elsewhere', () => {
  const plain = fc.string({ unit: 'grapheme-ascii', maxLength: 60 });
  fc.assert(
    fc.property(plain, (text) => {
      expect(foldText(`${text} é`)).toBe(`${foldText(text)} e`.trim());
    }),
  );
});
