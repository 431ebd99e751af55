import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InstitutionDirectory } from './institution-directory.ts';
import { foldText } from './text-folding.ts';

function directoryOf(names: readonly string[]) {
  return new InstitutionDirectory(
    names.map((name, index) => ({
      view: {
        id: `i${index}`,
        name,
        type: 'BANK',
        institution_type: 'traditional-banks',
        branch: null,
        supported_rails: [],
      },
      countries: new Set(index % 2 === 0 ? ['DE'] : ['FR']),
      codes: [`C${index}`, 'Shared'],
    })),
  );
}

const namesOf = (directory: InstitutionDirectory, search: string) =>
  directory.matching({ search }).map(({ name }) => name);

describe('search in a directory', () => {
  const banks = [
    'Nova Sparbank',
    'Novo',
    'Banco Novo',
    'Novo Banco',
    'Ånovo Bank',
    'Crédit Agricole',
    'Łódź Bank',
  ];
  const directory = directoryOf(banks);

  it('ranks exact before prefix before word prefix before substring, and by name within a rank', () => {
    expect(namesOf(directory, 'novo')).toEqual(['Novo', 'Novo Banco', 'Banco Novo', 'Ånovo Bank']);
  });

  it.each([
    ['credit', 'Crédit Agricole'],
    ['CRÉDIT agri', 'Crédit Agricole'],
    ['cre\u0301dit', 'Crédit Agricole'],
    ['lodz', 'Łódź Bank'],
    ['  banco   NOVO ', 'Banco Novo'],
  ])('finds by %s regardless of accents, case and spacing', (search, expected) => {
    expect(namesOf(directory, search)[0]).toBe(expected);
  });

  it('finds nothing for text without a letter or digit', () => {
    expect(namesOf(directory, '?!')).toEqual([]);
    expect(namesOf(directory, '\n')).toEqual([]);
    expect(namesOf(directory, 'a'.repeat(100_000))).toEqual([]);
  });

  it('takes the best place of the search in a name', () => {
    const twice = directoryOf(['Xbank Bank', 'Xbank', 'Bankx bank']);
    expect(namesOf(twice, 'bank')).toEqual(['Bankx bank', 'Xbank Bank', 'Xbank']);
  });

  it('never matches across the end of one name and the start of the next', () => {
    expect(namesOf(directory, 'agricole lodz')).toEqual([]);
  });

  it('finds exactly the names whose folded form contains the folded search', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'á', 'B', ' ', '-', 'ł'), maxLength: 8 });
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), word, (names, search) => {
        const wanted = foldText(search);
        const expected = wanted === '' ? [] : names.filter((name) => foldText(name).includes(wanted));
        expect(namesOf(directoryOf(names), search).toSorted()).toEqual(expected.toSorted());
      }),
    );
  });

  it('combines search with code and country, codes in any case', () => {
    expect(directory.matching({ search: 'novo', country: 'FR' }).map(({ name }) => name)).toEqual([
      'Novo',
      'Novo Banco',
    ]);
    expect(directory.matching({ code: 'c2' }).map(({ name }) => name)).toEqual(['Banco Novo']);
    expect(directory.matching({ code: 'SHARED' })).toHaveLength(banks.length);
    expect(directory.matching({ institutionId: 'i1', country: 'DE' })).toEqual([]);
  });
});
