import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReferenceDataError } from './reference-checks.ts';
import type { ReferenceData } from './reference-data.ts';
import { loadReferenceFiles } from './reference-files.ts';
import { parseReferenceData } from './reference-validation.ts';

const good = loadReferenceFiles();

function problemsOf(change: (data: ReferenceData) => void) {
  const data = structuredClone(good);
  change(data);
  try {
    parseReferenceData(data);
  } catch (error) {
    if (error instanceof ReferenceDataError) return error.problems;
    throw error;
  }
  return [];
}

function edit<T extends { slug: string }>(records: T[], slug: string, change: (record: T) => void): void {
  const found = records.find((record) => record.slug === slug);
  if (found === undefined) throw new Error(`no ${slug}`);
  change(found);
}

describe('parseReferenceData', () => {
  it('accepts the data that comes with the code', () => {
    expect(problemsOf(() => {})).toEqual([]);
  });

  it('names the field that has the wrong type', () => {
    const problems = problemsOf((data) =>
      edit(data.rails, 'pix', (rail) => Object.assign(rail, { id: 'x' })),
    );
    const index = good.rails.findIndex(({ slug }) => slug === 'pix');
    expect(problems.map(({ field }) => field)).toContain(`/rails/${index}/id`);
  });

  it.each<[string, (data: ReferenceData) => void, string, string]>([
    [
      'a rail that pays an unknown currency',
      (data) => edit(data.rails, 'pix', (rail) => rail.currencies.push('XXX')),
      'rails/pix',
      'currencies',
    ],
    [
      'an institution on an unknown rail',
      (data) => edit(data.institutions, 'monzo-bank', (one) => one.supportedRails.push('nowhere')),
      'institutions/monzo-bank',
      'monzo-bank.supportedRails',
    ],
    [
      'a default institution that does not support its rail',
      (data) =>
        edit(data.rails, 'pix', (rail) => {
          rail.defaultInstitution = 'upi';
        }),
      'rails/pix',
      'defaultInstitution',
    ],
    [
      'two payment methods with one id',
      (data) =>
        edit(data.institutions, 'upi', (one) => {
          one.paymentMethodId = 1;
        }),
      'institutions/upi',
      'upi.paymentMethodId',
    ],
    [
      'a placeholder its own pattern refuses',
      (data) =>
        edit(data.rails, 'spei', (rail) => Object.assign(rail.fields?.[0] ?? {}, { placeholder: '12' })),
      'rails/spei',
      'fields.clabe.placeholder',
    ],
    [
      'a pattern that can be made to hang',
      (data) =>
        edit(data.rails, 'spei', (rail) =>
          Object.assign(rail.fields?.[0] ?? {}, { pattern: '^([0-9]{1,9})+$' }),
        ),
      'rails/spei',
      'fields.clabe.pattern',
    ],
    [
      'an institution no format of its rail is for',
      (data) =>
        edit(data.institutions, 'alipay', (one) => {
          one.institutionType = 'traditional-banks';
        }),
      'institutions/alipay',
      'alipay.institutionType',
    ],
  ])('refuses %s and says where', (_name, change, file, field) => {
    expect(problemsOf(change)).toContainEqual(expect.objectContaining({ file, field }));
  });
});

describe('loadReferenceFiles', () => {
  let directory = '';
  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'reference-'));
    await cp(new URL('../../data/', import.meta.url), directory, { recursive: true });
  });
  afterAll(() => rmSync(directory, { recursive: true }));
  const load = () => loadReferenceFiles(pathToFileURL(`${directory}/`));

  it('names the file that is not JSON', () => {
    writeFileSync(join(directory, 'rails/zz.json'), '{');
    expect(load).toThrow(/rails\/zz\.json/);
    rmSync(join(directory, 'rails/zz.json'));
  });

  it('names the file and the entry that lacks what its file does not default', () => {
    const entry = { slug: 'lonely', paymentMethodId: 999_999, name: 'Lonely' };
    const text = JSON.stringify({ source: 'test', defaults: {}, institutions: [entry] });
    writeFileSync(join(directory, 'institutions/zz.json'), text);
    expect(load).toThrow(/institutions\/zz\.json lonely: needs/);
    rmSync(join(directory, 'institutions/zz.json'));
  });
});
