import type { KycContentType, KycDocumentType } from '@causeway/protocol';
import { statement } from '../../db/statement.ts';

export interface SubmissionRow {
  submission_id: string;
  partner_id: string;
  user_id: string;
  method: 'direct_data' | 'hosted_link';
  required_documents: KycDocumentType[];
  provider_reference: string | null;
  verdict_event: string | null;
  verdict_decided_ms: string | null;
  created_at: Date;
  link_sealed: string | null;
}

export interface DocumentRow {
  document_id: string;
  user_id: string;
  document_type: KycDocumentType;
  content_type: KycContentType;
  /** Sealed content that no worker has put into the document store yet. */
  waiting: Buffer | null;
}

const SUBMISSION = `submission_id, partner_id, user_id, method, required_documents, provider_reference, verdict_event,
  verdict_decided_ms, created_at, link_sealed`;

export const findKycProfile = statement<[userId: string], { fields_sealed: string }>(
  'kyc.find_profile',
  'SELECT fields_sealed FROM kyc_profiles WHERE user_id = $1',
);

export const saveKycProfile = statement<[userId: string, partnerId: string, fieldsSealed: string, at: Date]>(
  'kyc.save_profile',
  `INSERT INTO kyc_profiles (user_id, partner_id, fields_sealed, updated_at) VALUES ($1, $2, $3, $4)
   ON CONFLICT (user_id) DO UPDATE SET fields_sealed = excluded.fields_sealed, updated_at = excluded.updated_at`,
);

export const insertSubmission = statement<
  [
    submissionId: string,
    partnerId: string,
    userId: string,
    method: string,
    requiredDocuments: readonly string[],
    linkHash: string | null,
    at: Date,
    linkSealed: string | null,
  ]
>(
  'kyc.insert_submission',
  `INSERT INTO kyc_submissions (submission_id, partner_id, user_id, method, required_documents, link_hash, created_at,
     link_sealed)
   VALUES ($1, $2, $3, $4, $5::text[], $6, $7, $8)`,
);

export const latestSubmission = statement<[userId: string], SubmissionRow>(
  'kyc.latest_submission',
  `SELECT ${SUBMISSION} FROM kyc_submissions WHERE user_id = $1 ORDER BY position DESC LIMIT 1`,
);

export const submissionsOfUser = statement<[userId: string], SubmissionRow>(
  'kyc.submissions_of_user',
  `SELECT ${SUBMISSION} FROM kyc_submissions WHERE user_id = $1 ORDER BY position DESC LIMIT 50`,
);

export interface ListedDocumentRow extends Omit<DocumentRow, 'waiting'> {
  submission_id: string;
  size_bytes: number;
  is_stored: boolean;
  created_at: Date;
}

/** Without their content, newest first. */
export const documentsOfUser = statement<[userId: string], ListedDocumentRow>(
  'kyc.documents_of_user',
  `SELECT document_id, user_id, submission_id, document_type, content_type, size_bytes, waiting IS NULL AS is_stored,
          created_at
     FROM kyc_documents WHERE user_id = $1 ORDER BY document_id DESC LIMIT 500`,
);

export const submissionByLink = statement<[linkHash: string], SubmissionRow>(
  'kyc.submission_by_link',
  `SELECT ${SUBMISSION} FROM kyc_submissions WHERE link_hash = $1`,
);

export const findSubmission = statement<[submissionId: string], SubmissionRow>(
  'kyc.find_submission',
  `SELECT ${SUBMISSION} FROM kyc_submissions WHERE submission_id = $1`,
);

export const nameAtProvider = statement<[submissionId: string, providerReference: string]>(
  'kyc.name_at_provider',
  'UPDATE kyc_submissions SET provider_reference = $2 WHERE submission_id = $1',
);

export const verdictTaken = statement<[submissionId: string, eventId: string, decidedAtMs: number]>(
  'kyc.verdict_taken',
  'UPDATE kyc_submissions SET verdict_event = $2, verdict_decided_ms = $3 WHERE submission_id = $1',
);

export const documentTypesOf = statement<[submissionId: string], { document_type: KycDocumentType }>(
  'kyc.document_types',
  'SELECT document_type FROM kyc_documents WHERE submission_id = $1',
);

export const adoptDocuments = statement<[from: string, to: string]>(
  'kyc.adopt_documents',
  'UPDATE kyc_documents SET submission_id = $2 WHERE submission_id = $1',
);

export const insertDocument = statement<
  [
    documentId: string,
    partnerId: string,
    userId: string,
    submissionId: string,
    documentType: string,
    contentType: string,
    sizeBytes: number,
    waiting: Buffer,
    at: Date,
  ]
>(
  'kyc.insert_document',
  `INSERT INTO kyc_documents (document_id, partner_id, user_id, submission_id, document_type, content_type, size_bytes,
     waiting, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

export const findWaitingDocument = statement<[documentId: string], { waiting: Buffer | null }>(
  'kyc.find_waiting_document',
  'SELECT waiting FROM kyc_documents WHERE document_id = $1',
);

export const documentStored = statement<[documentId: string]>(
  'kyc.document_stored',
  'UPDATE kyc_documents SET waiting = NULL WHERE document_id = $1',
);

/** The newest of each type: who uploads a side again means the newer one. */
export const documentsOfSubmission = statement<[submissionId: string], DocumentRow>(
  'kyc.documents_of_submission',
  `SELECT DISTINCT ON (document_type) document_id, user_id, document_type, content_type, waiting
     FROM kyc_documents WHERE submission_id = $1 ORDER BY document_type, document_id DESC`,
);

export const findDocument = statement<[documentId: string, userId: string], DocumentRow>(
  'kyc.find_document',
  `SELECT document_id, user_id, document_type, content_type, waiting FROM kyc_documents
    WHERE document_id = $1 AND user_id = $2`,
);

export const documentIdsOfUser = statement<[userId: string], { document_id: string }>(
  'kyc.document_ids_of_user',
  'SELECT document_id FROM kyc_documents WHERE user_id = $1',
);

export const eraseKyc = statement<[userId: string]>(
  'kyc.erase',
  `WITH profile AS (DELETE FROM kyc_profiles WHERE user_id = $1)
   UPDATE kyc_documents SET waiting = NULL WHERE user_id = $1`,
);
