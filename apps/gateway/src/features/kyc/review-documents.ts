import { CausewayError } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { readUser, vaultOfUser } from '../users/load-user.ts';
import { documentsOfSubmission, findDocument, latestSubmission } from './kyc.store.ts';
import { type LoadSubmissionTools, openDocument } from './load-submission.ts';

export interface ReviewDocument {
  readonly document_id: string;
  readonly document_type: string;
  readonly content_type: string;
}

/** What lies on the reviewer's desk for one customer. */
export async function documentsToReview(db: Database, userId: string): Promise<ReviewDocument[]> {
  const [submission] = await db.query(SYSTEM, latestSubmission, [userId]);
  if (submission === undefined) return [];
  const rows = await db.query(SYSTEM, documentsOfSubmission, [submission.submission_id]);
  return rows.map(({ document_id, document_type, content_type }) => ({
    document_id,
    document_type,
    content_type,
  }));
}

/** One document in clear. Only callers that have written an audit entry may ask. */
export async function revealDocument(
  tools: LoadSubmissionTools,
  userId: string,
  documentId: string,
): Promise<{ readonly contentType: string; readonly content: Uint8Array }> {
  const user = await readUser(tools.db, SYSTEM, userId);
  const [row] = await tools.db.query(SYSTEM, findDocument, [documentId, userId]);
  if (row === undefined) throw new CausewayError('USER_NOT_FOUND');
  return openDocument(tools.documents, vaultOfUser(tools.vaults, user), row);
}
