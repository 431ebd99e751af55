import { randomBytes } from 'node:crypto';
import {
  type Actor,
  CausewayError,
  type KycSubmissionInput,
  type KycSubmissionSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import { type Database, type Reading, reading, SYSTEM } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { sha256Hex } from '../../lib/crypto.ts';
import type { DocumentStore } from '../../ports/documents.ts';
import type { KycDocument, KycIdType, KycPerson, KycSubmission } from '../../ports/kyc-provider.ts';
import type { Vault, Vaults } from '../../vault/vault.ts';
import { movedOrRefused, moveKyc } from '../users/kyc-status.ts';
import { lockUserRow, profileOf, readUserBy, type UserRow, vaultOfUser } from '../users/user.ts';
import {
  adoptDocuments,
  type DocumentRow,
  documentsOfSubmission,
  documentTypesOf,
  findKycProfile,
  insertSubmission,
  latestSubmission,
  type SubmissionRow,
  saveKycProfile,
} from './kyc.store.ts';
import {
  documentsMissing,
  documentsRequired,
  identityFields,
  type KnownIdentity,
  type KycFieldValues,
  readKycPatch,
  readSubmission,
} from './kyc-fields.ts';

const context = (userId: string) => `kyc_profiles.fields:${userId}`;

/** Adds to what is known of a customer. The caller holds the customer's lock. */
export async function mergeKycFields(
  unit: UnitOfWork,
  vault: Vault,
  user: UserRow,
  changes: KycFieldValues,
): Promise<KycFieldValues> {
  const [row] = await unit.tx.query(findKycProfile, [user.user_id]);
  const merged = { ...openFields(vault, user.user_id, row?.fields_sealed), ...changes };
  const sealed = vault.seal(JSON.stringify(merged), context(user.user_id));
  unit.tx.defer(saveKycProfile, [user.user_id, user.partner_id, sealed, unit.at]);
  return merged;
}

/** What is known of a customer; 404 when it is not the caller's. */
export async function readIdentity(
  reads: Reading,
  vaults: Vaults,
  userId: string,
): Promise<{ readonly user: UserRow; readonly identity: KnownIdentity }> {
  const user = await readUserBy(reads, userId);
  return { user, identity: await identityOf(reads, vaults, user) };
}

export async function identityOf(reads: Reading, vaults: Vaults, user: UserRow): Promise<KnownIdentity> {
  const [row] = await reads.query(findKycProfile, [user.user_id]);
  const kyc = openFields(vaultOfUser(vaults, user), user.user_id, row?.fields_sealed);
  return { kyc, profile: profileOf(vaults, user) };
}

function openFields(vault: Vault, userId: string, sealed: string | undefined): KycFieldValues {
  return sealed === undefined ? {} : (JSON.parse(vault.open(sealed, context(userId))) as KycFieldValues);
}

export const documentContext = (documentId: string) => `kyc_documents:${documentId}`;

export interface LoadSubmissionDeps {
  readonly db: Database;
  readonly vaults: Vaults;
  readonly documents: DocumentStore;
}

/** A submission in clear, as the provider needs it; undefined when the customer was erased meanwhile. */
export async function loadSubmission(
  deps: LoadSubmissionDeps,
  submission: SubmissionRow,
): Promise<KycSubmission | undefined> {
  const reads = reading(deps.db, SYSTEM);
  const found = await readIdentity(reads, deps.vaults, submission.user_id).catch((error: unknown) => {
    if (error instanceof CausewayError && error.code === 'USER_NOT_FOUND') return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  const vault = vaultOfUser(deps.vaults, found.user);
  const rows = await deps.db.query(SYSTEM, documentsOfSubmission, [submission.submission_id]);
  const documents: KycDocument[] = [];
  for (const row of rows) documents.push(await openDocument(deps.documents, vault, row));
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

export interface SubmitKycDeps {
  readonly vaults: Vaults;
  /** Where customers reach this deployment. */
  readonly publicBaseUrl: string;
}

export const HOSTED_LINK_PATH = '/api/v1/kyc/hosted';

const LINK_BYTES = 32;

/** Who hands in what is to be verified. */
export type KycSubmitter = Extract<Actor, 'partner' | 'customer'>;

const hostedLinkContext = (submissionId: string) => `kyc_submissions.link:${submissionId}`;

const hostedUrl = ({ publicBaseUrl }: SubmitKycDeps, link: string) =>
  `${publicBaseUrl}${HOSTED_LINK_PATH}/${link}`;

/** Where a hosted verification goes on, until the provider has decided. */
export function hostedUrlOf(deps: SubmitKycDeps, user: UserRow, submission: SubmissionRow): string | null {
  const { link_sealed: sealed, submission_id: submissionId, verdict_event: verdict } = submission;
  if (sealed === null || verdict !== null) return null;
  return hostedUrl(deps, vaultOfUser(deps.vaults, user).open(sealed, hostedLinkContext(submissionId)));
}

/** Takes a submission: the data is kept, and the machine says what follows. */
export async function submitKyc(
  deps: SubmitKycDeps,
  unit: UnitOfWork,
  userId: string,
  input: Static<typeof KycSubmissionInput>,
  actor: KycSubmitter = 'partner',
): Promise<Static<typeof KycSubmissionSchema>> {
  const before = await lockUserRow(unit, userId);
  const submission = readSubmission(input, unit.at);
  const { method, fields } = submission;
  const trigger = method === 'direct_data' ? 'data_submitted' : 'hosted_link_issued';
  const moved = movedOrRefused(moveKyc(unit, before, trigger, actor), actor);
  const vault = vaultOfUser(deps.vaults, before);
  await mergeKycFields(unit, vault, before, fields);

  const submissionId = unit.ids.uuid();
  const required = documentsRequired(submission);
  const link = method === 'hosted_link' ? randomBytes(LINK_BYTES).toString('base64url') : null;
  // Corrected data does not undo the documents that are here already; a fresh start does.
  const corrects = moved.kyc_status === before.kyc_status;
  const [former] = corrects ? await unit.tx.query(latestSubmission, [userId]) : [];
  const linkHash = link === null ? null : sha256Hex(link);
  unit.tx.defer(insertSubmission, [
    submissionId,
    before.partner_id,
    userId,
    method,
    required,
    linkHash,
    unit.at,
    link === null ? null : vault.seal(link, hostedLinkContext(submissionId)),
  ]);
  if (former !== undefined) unit.tx.defer(adoptDocuments, [former.submission_id, submissionId]);
  const present = await unit.tx.query(documentTypesOf, [submissionId]);
  const missing = documentsMissing(
    required,
    present.map(({ document_type }) => document_type),
  );
  const user = method === 'direct_data' ? completeIfNothingMissing(unit, moved, missing, actor) : moved;
  return {
    submission_id: submissionId,
    kyc_status: user.kyc_status,
    method,
    required_documents: missing,
    ...(link === null ? {} : { verification_url: hostedUrl(deps, link) }),
  };
}

/** The last missing document hands the customer to the provider. */
export function completeIfNothingMissing(
  unit: UnitOfWork,
  user: UserRow,
  missing: readonly string[],
  actor: KycSubmitter,
): UserRow {
  if (missing.length > 0) return user;
  return movedOrRefused(moveKyc(unit, user, 'documents_completed', actor), actor);
}

/** Supplies fields that a corridor asks for; answers the names of those that were written. */
export async function patchKyc(
  deps: { readonly vaults: Vaults },
  unit: UnitOfWork,
  userId: string,
  body: Readonly<Record<string, unknown>>,
): Promise<string[]> {
  const user = await lockUserRow(unit, userId);
  const { kyc } = await identityOf(unit.tx, deps.vaults, user);
  const changes = readKycPatch(body, kyc);
  const names = Object.keys(changes);
  if (names.length > 0) await mergeKycFields(unit, vaultOfUser(deps.vaults, user), user, changes);
  return names;
}
