import { randomBytes } from 'node:crypto';
import type { KycSubmissionInput, KycSubmissionSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { sha256Hex } from '../../lib/crypto.ts';
import type { Vaults } from '../privacy/vault.ts';
import { movedOrRefused, moveKyc } from '../users/change-kyc.ts';
import { lockUserRow, vaultOfUser } from '../users/load-user.ts';
import type { UserRow } from '../users/user.types.ts';
import { adoptDocuments, documentTypesOf, insertSubmission, latestSubmission } from './kyc.store.ts';
import { documentsMissing, documentsRequired, readSubmission } from './kyc-fields.ts';
import { mergeKycFields } from './kyc-profile.ts';

export interface SubmitKycTools {
  readonly vaults: Vaults;
  /** Where customers reach this deployment. */
  readonly publicBaseUrl: string;
}

export const HOSTED_LINK_PATH = '/api/v1/kyc/hosted';

const LINK_BYTES = 32;

/** Takes a submission: the data is kept, and the machine says what follows. */
export async function submitKyc(
  tools: SubmitKycTools,
  unit: UnitOfWork,
  userId: string,
  input: Static<typeof KycSubmissionInput>,
): Promise<Static<typeof KycSubmissionSchema>> {
  const before = await lockUserRow(unit, userId);
  const submission = readSubmission(input, unit.at);
  const { method, fields } = submission;
  const trigger = method === 'direct_data' ? 'data_submitted' : 'hosted_link_issued';
  const moved = movedOrRefused(moveKyc(unit, before, trigger, 'partner'));
  await mergeKycFields(unit, vaultOfUser(tools.vaults, before), before, fields);

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
  ]);
  if (former !== undefined) unit.tx.defer(adoptDocuments, [former.submission_id, submissionId]);
  const present = await unit.tx.query(documentTypesOf, [submissionId]);
  const missing = documentsMissing(
    required,
    present.map(({ document_type }) => document_type),
  );
  const user = method === 'direct_data' ? completeIfNothingMissing(unit, moved, missing) : moved;
  return {
    submission_id: submissionId,
    kyc_status: user.kyc_status,
    method,
    required_documents: missing,
    ...(link === null ? {} : { verification_url: `${tools.publicBaseUrl}${HOSTED_LINK_PATH}/${link}` }),
  };
}

/** The last missing document hands the customer to the provider. */
export function completeIfNothingMissing(
  unit: UnitOfWork,
  user: UserRow,
  missing: readonly string[],
): UserRow {
  return missing.length > 0 ? user : movedOrRefused(moveKyc(unit, user, 'documents_completed', 'partner'));
}
