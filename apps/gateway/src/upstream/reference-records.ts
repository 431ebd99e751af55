import { createHash } from 'node:crypto';
import { parseReferenceData, type ReferenceData } from '@causeway/currencies';

/** Reference data as records of a kind and an id: the form in which it is stored and edited. */
export interface ReferenceRecord {
  readonly kind: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface CatalogueKind {
  readonly list: keyof ReferenceData;
  /** The field that names a record. */
  readonly key: string;
}

const CATALOGUE_KINDS: Readonly<Record<string, CatalogueKind>> = {
  assets: { list: 'assets', key: 'code' },
  chains: { list: 'chains', key: 'slug' },
  fiat_currencies: { list: 'fiatCurrencies', key: 'code' },
  countries: { list: 'countries', key: 'code' },
  institution_types: { list: 'institutionTypes', key: 'slug' },
  rails: { list: 'rails', key: 'slug' },
  institutions: { list: 'institutions', key: 'slug' },
};

export const REFERENCE_KINDS: readonly string[] = Object.keys(CATALOGUE_KINDS);

/** The field of a record that must equal the id it is stored under; undefined for a kind that does not exist. */
export function keyFieldOf(kind: string): string | undefined {
  return CATALOGUE_KINDS[kind]?.key;
}

export function recordsOf(data: ReferenceData): ReferenceRecord[] {
  return Object.entries(CATALOGUE_KINDS).flatMap(([kind, { list, key }]) =>
    (data[list] as readonly Record<string, unknown>[]).map((record) => ({
      kind,
      id: String(record[key]),
      data: record,
    })),
  );
}

/** Throws a ReferenceDataError that names every fault; kinds that nobody knows any more are left out. */
export function referenceDataOf(records: readonly ReferenceRecord[]): ReferenceData {
  const lists: Record<string, unknown[]> = {};
  for (const { list } of Object.values(CATALOGUE_KINDS)) lists[list] = [];
  for (const { kind, data } of records) {
    const known = CATALOGUE_KINDS[kind];
    if (known !== undefined) lists[known.list]?.push(data);
  }
  return parseReferenceData(lists);
}

export function digestOf(records: readonly ReferenceRecord[]): string {
  const hash = createHash('sha256');
  for (const { kind, id, data } of records) hash.update(`${kind}\n${id}\n${JSON.stringify(data)}\n`);
  return hash.digest('hex');
}
