import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { citedTestFaults, citedTests, DOCUMENTS } from './cited-tests.ts';

/** Rows of the tables whose last column is the proof. */
async function provenRows(document: string): Promise<string[]> {
  const text = await readFile(document, 'utf8');
  const tables = text.split('\n\n').filter((block) => /^\|.*\| Shown by \|/.test(block));
  return tables.flatMap((table) => table.trim().split('\n').slice(2));
}

describe('tests that documents name as proof', () => {
  test.each(DOCUMENTS)('of %s are there under that title', async (document) => {
    expect(await citedTestFaults(document)).toEqual([]);
  });

  test.each(DOCUMENTS)('are named in every row of %s', async (document) => {
    const rows = await provenRows(document);
    expect(rows.length).toBeGreaterThanOrEqual(10);
    expect(rows.filter((row) => citedTests(row).length === 0)).toEqual([]);
  });

  test('cover each of the ten risks of OWASP once, in order', async () => {
    const rows = await provenRows('docs/reference/owasp-api.md');
    expect(rows.map((row) => /^\| (API\d+:2023) /.exec(row)?.[1])).toEqual(
      Array.from({ length: 10 }, (_, index) => `API${index + 1}:2023`),
    );
  });

  test('are read with and without a title, several to a row', () => {
    expect(citedTests('| a | `x/a.test.ts` › one, and two; `b.test.ts` |')).toEqual([
      { file: 'x/a.test.ts', title: 'one, and two' },
      { file: 'b.test.ts', title: undefined },
    ]);
  });
});
