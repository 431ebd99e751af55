import { expect, test, vi } from 'vitest';
import { beginSearch, type Found, matching, type PickerOption } from './picker-filter.ts';

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

test('a search that was overtaken shows nothing, whether it finds something or fails', async () => {
  vi.useFakeTimers();
  const answers = new Map<string, PromiseWithResolvers<readonly PickerOption[]>>();
  const heard: Found[] = [];
  // As a search does that shares its answer with others, and so cannot be aborted.
  const search = (text: string) =>
    beginSearch(
      () => {
        const answer = Promise.withResolvers<readonly PickerOption[]>();
        answers.set(text, answer);
        return answer.promise;
      },
      text,
      (found) => void heard.push(found),
    );
  for (const text of ['ic', 'icx']) {
    const end = search(text);
    vi.advanceTimersByTime(200);
    end();
  }
  search('hdfc');
  vi.advanceTimersByTime(200);
  vi.useRealTimers();
  answers.get('hdfc')?.resolve(BANKS.slice(1, 2));
  answers.get('ic')?.resolve(BANKS.slice(0, 1));
  answers.get('icx')?.reject(new Error('lost'));
  await Promise.allSettled([...answers.values()].map(({ promise }) => promise));
  expect(heard).toEqual([{ options: BANKS.slice(1, 2), state: 'ready' }]);
});
