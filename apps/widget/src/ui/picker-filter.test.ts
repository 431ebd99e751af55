import { expect, test } from 'vitest';
import { matching } from './picker-filter.ts';

const BANKS = [
  { value: 'in-icic', label: 'ICICI Bank', hint: 'ICIC' },
  { value: 'in-hdfc', label: 'HDFC Bank', hint: 'HDFC' },
  { value: 'credicoop', label: 'Banco Credicoop' },
  { value: 'popular', label: 'Crédito Popular' },
];
const found = (text: string) => matching(BANKS, text).map(({ value }) => value);

test('words in any order, without case and accents, in the name, the code or the id', () => {
  expect(found('')).toEqual(['in-icic', 'in-hdfc', 'credicoop', 'popular']);
  expect(found('BANK hdfc')).toEqual(['in-hdfc']);
  expect(found('icic')).toEqual(['in-icic']);
  expect(found('in-h')).toEqual(['in-hdfc']);
  expect(found('zzz')).toEqual([]);
});

test('names that begin with the text come first', () => {
  expect(found('credi')).toEqual(['popular', 'credicoop']);
  expect(found('  Crédi ')).toEqual(['popular', 'credicoop']);
});
