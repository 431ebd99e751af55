import { CausewayError } from '@causeway/protocol';
import { type Database, reading, SYSTEM } from '../../db/database.ts';
import type { Vault, Vaults } from '../privacy/vault.ts';
import { vaultOfUser } from '../users/load-user.ts';
import type { DocumentStore } from './documents/document-store.port.ts';
import { identityFields } from './identity.ts';
import { type DocumentRow, documentsOfSubmission, type SubmissionRow } from './kyc.store.ts';
import type { KycFieldValues } from './kyc-fields.ts';
import { readIdentity } from './kyc-profile.ts';
import type { KycDocument, KycIdType, KycPerson, KycSubmission } from './provider/kyc-provider.port.ts';
import { documentContext } from './upload-document.ts';

export interface LoadSubmissionTools {
  readonly db: Database;
  readonly vaults: Vaults;
  readonly documents: DocumentStore;
}

/** A submission in clear, as the provider needs it; undefined when the customer was forgotten meanwhile. */
export async function loadSubmission(
  tools: LoadSubmissionTools,
  submission: SubmissionRow,
): Promise<KycSubmission | undefined> {
  const reads = reading(tools.db, SYSTEM);
  const found = await readIdentity(reads, tools.vaults, submission.user_id).catch((error: unknown) => {
    if (error instanceof CausewayError && error.code === 'USER_NOT_FOUND') return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  const vault = vaultOfUser(tools.vaults, found.user);
  const rows = await tools.db.query(SYSTEM, documentsOfSubmission, [submission.submission_id]);
  const documents: KycDocument[] = [];
  for (const row of rows) documents.push(await openDocument(tools.documents, vault, row));
  return {
    submissionId: submission.submission_id,
    method: submission.method,
    person: personOf(identityFields(found.identity), found.identity.profile.email),
    documents,
  };
}

export async function openDocument(
  store: DocumentStore,
  vault: Vault,
  row: DocumentRow,
): Promise<KycDocument> {
  const sealed = row.waiting ?? (await store.get(row.document_id));
  if (sealed === undefined) throw new Error(`document ${row.document_id} is not in the document store`);
  return {
    documentId: row.document_id,
    documentType: row.document_type,
    contentType: row.content_type,
    content: vault.openBytes(sealed, documentContext(row.document_id)),
  };
}

/** A hosted link may leave out what its own pages ask for; `direct_data` was refused without it. */
function personOf(fields: KycFieldValues, email: string): KycPerson {
  return {
    firstName: fields.first_name ?? '',
    lastName: fields.last_name ?? '',
    dateOfBirth: fields.date_of_birth ?? '',
    nationality: fields.nationality ?? '',
    idType: (fields.id_type ?? 'PASSPORT') as KycIdType,
    idNumber: fields.id_number ?? '',
    idIssueCountry: fields.id_issue_country ?? '',
    address: fields.address ?? '',
    city: fields.city ?? '',
    postalCode: fields.postal_code ?? '',
    countryCode: fields.country_code ?? '',
    gender: fields.gender as 'M' | 'F' | undefined,
    email,
    phoneNumber: fields.phone_number,
  };
}
