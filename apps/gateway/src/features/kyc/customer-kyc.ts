import type { KycSubmissionInput, KycSubmissionSchema, WidgetKycSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Reading } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { documentTypesOf, latestSubmission } from './kyc.store.ts';
import { documentsMissing, identityFields, REQUIRED_OF_DIRECT_DATA } from './kyc-fields.ts';
import { hostedUrlOf, readIdentity, type SubmitKycDeps, submitKyc } from './submission.ts';

/** KYC as the customer itself goes through it. */

/** Where it stands, and what is still asked for. What is known of a person is not told: only that it is known. */
export async function readKycOfCustomer(
  deps: SubmitKycDeps,
  reads: Reading,
  userId: string,
): Promise<Static<typeof WidgetKycSchema>> {
  const { user, identity } = await readIdentity(reads, deps.vaults, userId);
  const [submission] = await reads.query(latestSubmission, [userId]);
  const present =
    submission === undefined ? [] : await reads.query(documentTypesOf, [submission.submission_id]);
  const known = identityFields(identity);
  return {
    status: user.kyc_status,
    rejection_reasons: user.rejection_reasons,
    method: submission?.method ?? null,
    required_documents: documentsMissing(
      submission?.required_documents ?? [],
      present.map(({ document_type }) => document_type),
    ),
    verification_url: submission === undefined ? null : hostedUrlOf(deps, user, submission),
    missing_fields: REQUIRED_OF_DIRECT_DATA.filter((field) => known[field] === undefined),
    updated_at: user.kyc_updated_at.toISOString(),
  };
}

/** A customer says what is missing, and need not repeat what its partner has told already. */
export async function submitKycAsCustomer(
  deps: SubmitKycDeps,
  unit: UnitOfWork,
  userId: string,
  input: Static<typeof KycSubmissionInput>,
): Promise<Static<typeof KycSubmissionSchema>> {
  const { identity } = await readIdentity(unit.tx, deps.vaults, userId);
  const said = Object.fromEntries(Object.entries(input).filter(([, value]) => value.trim() !== ''));
  const known = identityFields(identity) as Partial<Static<typeof KycSubmissionInput>>;
  return submitKyc(deps, unit, userId, { ...known, ...said, method: input.method }, 'customer');
}
