import { ReferenceDataError } from '@causeway/currencies';
import { CausewayError } from '@causeway/protocol';
import { SYSTEM } from '../db/database.ts';
import { type UnitTools, unitOfWork } from '../engine/unit-of-work.ts';
import {
  addAuditEntry,
  allReferenceRecords,
  lockReference,
  putReferenceRecord,
  type ReferenceRecordRow,
  referenceRecord,
} from './reference.store.ts';
import { keyFieldOf, type ReferenceRecord, referenceDataOf } from './reference-records.ts';

export interface ReferenceEdit {
  readonly kind: string;
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly reason: string;
  readonly operatorKeyId: string;
}

export interface ReferenceEditor extends UnitTools {
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
  return unitOfWork(editor, SYSTEM, async ({ tx, ids, at }) => {
    const [, before] = await tx.queryBoth(lockReference, [], allReferenceRecords, []);
    const isEdited = (record: ReferenceRecord) => record.kind === edit.kind && record.id === edit.id;
    const replaced = before.find(isEdited);
    const after: ReferenceRecord[] = before.map((record) => (isEdited(record) ? edit : record));
    if (replaced === undefined) after.push(edit);
    judge(after);
    const data = JSON.stringify(edit.data);
    tx.defer(putReferenceRecord, [edit.kind, edit.id, data, at, edit.operatorKeyId]);
    tx.defer(addAuditEntry, [
      ids.uuid(),
      edit.operatorKeyId,
      replaced === undefined ? 'reference.add' : 'reference.replace',
      `${edit.kind}/${edit.id}`,
      edit.reason,
      replaced === undefined ? null : JSON.stringify(replaced.data),
      data,
      at,
    ]);
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
