import {
  CausewayError,
  decide,
  type KycDocumentInput,
  type KycDocumentSchema,
  kycMachine,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { prepareIntent } from '../../engine/intent.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Vaults } from '../privacy/vault.ts';
import { lockUserRow, vaultOfUser } from '../users/load-user.ts';
import { readDocumentContent } from './documents/document-content.ts';
import { documentTypesOf, insertDocument, latestSubmission } from './kyc.store.ts';
import { documentsMissing } from './kyc-fields.ts';
import { completeIfNothingMissing } from './submit-kyc.ts';

export const STORE_DOCUMENT = 'kyc.store-document';

/** Room for every side to be sent a few times over. */
const MAX_DOCUMENTS = 20;

export const documentContext = (documentId: string) => `kyc_documents:${documentId}`;

/**
 * Takes a document. It is sealed before it is written; a worker moves it on to the document store, so that neither a
 * slow store nor one that is down keeps a customer waiting.
 */
export async function uploadDocument(
  tools: { readonly vaults: Vaults },
  unit: UnitOfWork,
  userId: string,
  input: Static<typeof KycDocumentInput>,
): Promise<Static<typeof KycDocumentSchema>> {
  const user = await lockUserRow(unit, userId);
  const [submission] = await unit.tx.query(latestSubmission, [userId]);
  // Documents are wanted where their completion would be.
  const wanted = decide(kycMachine, user.kyc_status, 'documents_completed', {}, 'partner');
  if (submission === undefined || wanted.kind === 'refused') {
    throw new CausewayError('INVALID_STATUS', {
      message: `The customer’s KYC status ${user.kyc_status} takes no documents.`,
      details: { status: user.kyc_status, allowed_actions: [] },
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
  const vault = vaultOfUser(tools.vaults, user);
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
    kind: STORE_DOCUMENT,
    dedupeKey: documentId,
    partnerId: user.partner_id,
    payload: { document_id: documentId },
  });
  const types = present.map(({ document_type }) => document_type);
  const missing = documentsMissing(submission.required_documents, [...types, input.document_type]);
  const after = completeIfNothingMissing(unit, user, missing);
  return {
    document_id: documentId,
    document_type: input.document_type,
    kyc_status: after.kyc_status,
    required_documents: missing,
  };
}
