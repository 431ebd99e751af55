import {
  CausewayError,
  decide,
  type KycContentType,
  type KycDocumentInput,
  type KycDocumentSchema,
  kycActionsOf,
  kycMachine,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, SYSTEM } from '../../../db/database.ts';
import { type Intent, prepareIntent } from '../../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../../engine/intent-handler.ts';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import { invalidRequest } from '../../../http/errors.ts';
import { schedule } from '../../../lib/backoff.ts';
import type { DocumentStore } from '../../../ports/documents.ts';
import type { Vaults } from '../../../vault/vault.ts';
import { lockUserRow, readUser, vaultOfUser } from '../../users/user.ts';
import {
  documentIdsOfUser,
  documentStored,
  documentsOfSubmission,
  documentTypesOf,
  eraseKyc,
  findDocument,
  findWaitingDocument,
  insertDocument,
  latestSubmission,
} from '../kyc.store.ts';
import { documentsMissing } from '../kyc-fields.ts';
import {
  completeIfNothingMissing,
  documentContext,
  type KycSubmitter,
  type LoadSubmissionDeps,
  openDocument,
} from '../submission.ts';

/** Of the request that carries a document as base64 in JSON; the one bound of its size. */
export const DOCUMENT_BODY_BYTES = 10 * 1024 * 1024;
const MIN_DOCUMENT_BYTES = 64;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The bytes of an uploaded document, once they are what they claim to be. */
export function readDocumentContent(content: string, contentType: KycContentType): Buffer {
  const text = content.replace(/\s/g, '');
  if (text.length % 4 !== 0 || !BASE64.test(text)) throw invalidRequest('content', 'must be base64');
  const bytes = Buffer.from(text, 'base64');
  const found = sniffContentType(bytes);
  if (bytes.length < MIN_DOCUMENT_BYTES || found === undefined) {
    throw invalidRequest('content', 'is not a JPEG, PNG, WebP or PDF file');
  }
  if (found !== contentType)
    throw invalidRequest('content_type', `says ${contentType}, the content is ${found}`);
  return bytes;
}

/** Told by the first bytes, whatever the sender calls it. */
export function sniffContentType(bytes: Uint8Array): KycContentType | undefined {
  const text = Buffer.from(bytes.subarray(0, 16)).toString('latin1');
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP') return 'image/webp';
  return text.startsWith('%PDF-') ? 'application/pdf' : undefined;
}

/** Room for every side to be sent a few times over. */
const MAX_DOCUMENTS = 20;

/**
 * Takes a document. It is sealed before it is written; a worker moves it on to the document store, so that neither a
 * slow store nor one that is down keeps a customer waiting.
 */
export async function uploadDocument(
  deps: { readonly vaults: Vaults },
  unit: UnitOfWork,
  userId: string,
  input: Static<typeof KycDocumentInput>,
  actor: KycSubmitter = 'partner',
): Promise<Static<typeof KycDocumentSchema>> {
  const user = await lockUserRow(unit, userId);
  const [submission] = await unit.tx.query(latestSubmission, [userId]);
  // Documents are wanted where their completion would be.
  const wanted = decide(kycMachine, user.kyc_status, 'documents_completed', {}, actor);
  if (submission === undefined || wanted.kind === 'refused') {
    throw new CausewayError('INVALID_STATUS', {
      message: `The customer’s KYC status ${user.kyc_status} takes no documents.`,
      details: { status: user.kyc_status, allowed_actions: kycActionsOf(actor, user.kyc_status) },
    });
  }
  const content = readDocumentContent(input.content, input.content_type);
  const present = await unit.tx.query(documentTypesOf, [submission.submission_id]);
  if (present.length >= MAX_DOCUMENTS) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: `A submission takes ${MAX_DOCUMENTS} documents at most.`,
    });
  }
  const documentId = unit.ids.uuid();
  const vault = vaultOfUser(deps.vaults, user);
  unit.tx.defer(insertDocument, [
    documentId,
    user.partner_id,
    userId,
    submission.submission_id,
    input.document_type,
    input.content_type,
    content.length,
    vault.sealBytes(content, documentContext(documentId)),
    unit.at,
  ]);
  prepareIntent(unit, {
    kind: 'kyc.store-document',
    dedupeKey: documentId,
    partnerId: user.partner_id,
    payload: { document_id: documentId },
  });
  const types = present.map(({ document_type }) => document_type);
  const missing = documentsMissing(submission.required_documents, [...types, input.document_type]);
  const after = completeIfNothingMissing(unit, user, missing, actor);
  return {
    document_id: documentId,
    document_type: input.document_type,
    kyc_status: after.kyc_status,
    required_documents: missing,
  };
}

export interface ReviewDocument {
  readonly document_id: string;
  readonly document_type: string;
  readonly content_type: string;
}

/** What one customer has waiting for review. */
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
  deps: LoadSubmissionDeps,
  userId: string,
  documentId: string,
): Promise<{ readonly contentType: string; readonly content: Uint8Array }> {
  const user = await readUser(deps.db, SYSTEM, userId);
  const [row] = await deps.db.query(SYSTEM, findDocument, [documentId, userId]);
  if (row === undefined) throw new CausewayError('USER_NOT_FOUND');
  return openDocument(deps.documents, vaultOfUser(deps.vaults, user), row);
}

/** Moves a sealed document from the database to the document store. Doing it twice is doing it once. */
export function storeDocumentHandler(deps: {
  readonly db: Database;
  readonly documents: DocumentStore;
}): IntentHandler<'kyc.store-document'> {
  async function store({ payload }: Intent<'kyc.store-document'>): Promise<Outcome> {
    const documentId = payload.document_id;
    const [row] = await deps.db.query(SYSTEM, findWaitingDocument, [documentId]);
    // Erased or moved meanwhile.
    if (row === undefined || row.waiting === null) return { kind: 'confirmed' };
    try {
      await deps.documents.put(documentId, row.waiting);
    } catch (error) {
      return { kind: 'retry', error: error instanceof Error ? error.message : 'the store failed' };
    }
    return {
      kind: 'confirmed',
      followUp: async ({ tx }) => {
        tx.defer(documentStored, [documentId]);
      },
    };
  }
  return {
    // Until it is moved it is safe where it is, so there is no hurry and no end.
    schedule: schedule([1, 5, 30, 300, 3600], { maxAttempts: 10_000, jitterPct: 20 }),
    perform: store,
  };
}

/** Erases what KYC knows of a customer; the documents themselves are deleted by a worker. */
export async function eraseKycOf(unit: UnitOfWork, userId: string, partnerId: string): Promise<number> {
  const documents = await unit.tx.query(documentIdsOfUser, [userId]);
  unit.tx.defer(eraseKyc, [userId]);
  for (const { document_id } of documents) {
    prepareIntent(unit, {
      kind: 'kyc.delete-document',
      dedupeKey: document_id,
      partnerId,
      payload: { document_id },
    });
  }
  return documents.length;
}

export function deleteDocumentHandler(deps: {
  readonly documents: DocumentStore;
}): IntentHandler<'kyc.delete-document'> {
  async function remove({ payload }: Intent<'kyc.delete-document'>): Promise<Outcome> {
    try {
      await deps.documents.delete(payload.document_id);
      return { kind: 'confirmed' };
    } catch (error) {
      return { kind: 'retry', error: error instanceof Error ? error.message : 'the store failed' };
    }
  }
  return {
    schedule: schedule([1, 5, 30, 300, 3600], { maxAttempts: 10_000, jitterPct: 20 }),
    perform: remove,
  };
}
