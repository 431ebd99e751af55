import { createHash } from 'node:crypto';
import {
  loadReferenceFiles,
  parseReferenceData,
  type ReferenceData,
  ReferenceDataError,
} from '@causeway/currencies';
import { CausewayError, type ReferenceKind } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { recordAction } from '../../engine/audit.ts';
import type { JsonObject } from '../../engine/intent.ts';
import { type UnitDeps, unitOfWork } from '../../engine/unit-of-work.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  allReferenceRecords,
  keepSeededDigest,
  lockReference,
  putReferenceRecord,
  type ReferenceRecordRow,
  referenceRecord,
  removeUnseededRecords,
  seededDigest,
  seedReferenceRecords,
} from './reference.store.ts';

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
} satisfies Record<ReferenceKind, CatalogueKind>;

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

/** Throws a ReferenceDataError that names every fault; kinds that are not known any more are left out. */
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

/**
 * Brings the reference data of the files into the database at start. Several processes may start at once; what an
 * operator has changed stays. Answers whether anything was written.
 */
export async function seedReference(db: Database, clock: Clock): Promise<boolean> {
  const records = recordsOf(loadReferenceFiles());
  const digest = digestOf(records);
  return db.transaction(SYSTEM, async (tx) => {
    const [, [seeded]] = await tx.queryBoth(lockReference, [], seededDigest, ['reference_seed']);
    if (seeded?.digest === digest) return false;
    const at = clock.date();
    const kinds = records.map(({ kind }) => kind);
    const ids = records.map(({ id }) => id);
    const positions = records.map((_record, index) => index);
    const data = records.map((record) => JSON.stringify(record.data));
    tx.defer(seedReferenceRecords, [kinds, ids, positions, data, at]);
    tx.defer(removeUnseededRecords, [kinds, ids]);
    await tx.query(keepSeededDigest, ['reference_seed', digest, at]);
    return true;
  });
}

export interface ReferenceEdit {
  readonly kind: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly operator: Parameters<typeof recordAction>[1];
}

export interface ReferenceEditor extends UnitDeps {
  /** False where a remote backend keeps the catalogue: then it is changed there. */
  readonly ownsCatalogue: boolean;
}

export interface ReferenceProblemReport {
  readonly path: string;
  readonly message: string;
}

/** The change would make the data wrong; nothing was written. */
export class InvalidReferenceEdit extends Error {
  override readonly name = 'InvalidReferenceEdit';
  readonly problems: readonly ReferenceProblemReport[];

  constructor(problems: readonly ReferenceProblemReport[]) {
    super('the change would make the reference data invalid');
    this.problems = problems;
  }
}

/**
 * Adds or replaces one record. It is judged as part of the whole it would join, under a lock, so that two edits which
 * are each fine cannot be wrong together. The audit entry is written with it or not at all.
 */
export function editReference(editor: ReferenceEditor, edit: ReferenceEdit): Promise<ReferenceRecordRow> {
  if (!editor.ownsCatalogue) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'This deployment’s currencies backend keeps these records; change them there.',
    });
  }
  const keyField = keyFieldOf(edit.kind);
  if (keyField === undefined) throw new InvalidReferenceEdit([{ path: 'kind', message: 'is not known' }]);
  if (edit.data[keyField] !== edit.id) {
    throw new InvalidReferenceEdit([{ path: keyField, message: 'must equal the id in the path' }]);
  }
  return unitOfWork(editor, SYSTEM, async (unit) => {
    const { tx, at } = unit;
    const [, before] = await tx.queryBoth(lockReference, [], allReferenceRecords, []);
    const isEdited = (record: ReferenceRecord) => record.kind === edit.kind && record.id === edit.id;
    const replaced = before.find(isEdited);
    const after: ReferenceRecord[] = before.map((record) => (isEdited(record) ? edit : record));
    if (replaced === undefined) after.push(edit);
    judge(after);
    tx.defer(putReferenceRecord, [edit.kind, edit.id, JSON.stringify(edit.data), at, edit.operator.keyId]);
    recordAction(unit, edit.operator, {
      action: replaced === undefined ? 'reference.add' : 'reference.replace',
      subject: `${edit.kind}/${edit.id}`,
      reason: edit.reason,
      ...(replaced === undefined ? {} : { before: replaced.data as JsonObject }),
      after: edit.data as JsonObject,
    });
    const [written] = await tx.query(referenceRecord, [edit.kind, edit.id]);
    if (written === undefined) throw new Error('a record that was just written is not there');
    return written;
  });
}

function judge(records: readonly ReferenceRecord[]): void {
  try {
    referenceDataOf(records);
  } catch (error) {
    if (!(error instanceof ReferenceDataError)) throw error;
    throw new InvalidReferenceEdit(
      error.problems.map(({ file, field, message }) => ({ path: `${file} ${field}`, message })),
    );
  }
}
