import type {
  KycSubmissionInput,
  KycSubmissionListSchema,
  KycSubmissionSchema,
  WidgetKycSchema,
} from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Reading } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import {
  documentsOfUser,
  documentTypesOf,
  type ListedDocumentRow,
  latestSubmission,
  submissionsOfUser,
} from './kyc.store.ts';
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

/** What was handed in for a customer so far, and what is still asked for: names and states, no content. */
export async function readSubmissions(
  { vaults }: Pick<SubmitKycDeps, 'vaults'>,
  reads: Reading,
  userId: string,
): Promise<Static<typeof KycSubmissionListSchema>> {
  const { user, identity } = await readIdentity(reads, vaults, userId);
  const submissions = await reads.query(submissionsOfUser, [userId]);
  const documents = await reads.query(documentsOfUser, [userId]);
  const known = identityFields(identity);
  return {
    status: user.kyc_status,
    missing_fields: REQUIRED_OF_DIRECT_DATA.filter((field) => known[field] === undefined),
    submissions: submissions.map(({ submission_id, method, required_documents, created_at }) => {
      const own = documents.filter((document) => document.submission_id === submission_id);
      const types = own.map(({ document_type }) => document_type);
      return {
        submission_id,
        method,
        required_documents: documentsMissing(required_documents, types),
        documents: own.map((document, index) =>
          documentView(document, types.indexOf(document.document_type) < index),
        ),
        created_at: created_at.toISOString(),
      };
    }),
  };
}

function documentView(document: ListedDocumentRow, isReplaced: boolean) {
  const { document_id, document_type, content_type, size_bytes, is_stored, created_at } = document;
  const state = isReplaced ? ('replaced' as const) : is_stored ? ('stored' as const) : ('received' as const);
  return {
    document_id,
    document_type,
    content_type,
    size_bytes,
    state,
    created_at: created_at.toISOString(),
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
