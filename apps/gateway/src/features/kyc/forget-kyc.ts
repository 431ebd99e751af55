import type { Intent } from '../../engine/intent.ts';
import { prepareIntent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { schedule } from '../../lib/backoff.ts';
import type { DocumentStore } from './documents/document-store.port.ts';
import { documentIdsOfUser, forgetKyc } from './kyc.store.ts';

const DELETE_DOCUMENT = 'kyc.delete-document';

/** Forgets what KYC knows of a customer; the documents themselves are deleted by a worker. */
export async function forgetKycOf(unit: UnitOfWork, userId: string, partnerId: string): Promise<number> {
  const documents = await unit.tx.query(documentIdsOfUser, [userId]);
  unit.tx.defer(forgetKyc, [userId]);
  for (const { document_id } of documents) {
    prepareIntent(unit, {
      kind: DELETE_DOCUMENT,
      dedupeKey: document_id,
      partnerId,
      payload: { document_id },
    });
  }
  return documents.length;
}

type Payload = { readonly document_id: string };

export function deleteDocumentHandler(tools: { readonly documents: DocumentStore }): IntentHandler<Payload> {
  async function remove({ payload }: Intent<Payload>): Promise<Outcome> {
    try {
      await tools.documents.delete(payload.document_id);
      return { kind: 'confirmed' };
    } catch (error) {
      return { kind: 'retry', error: error instanceof Error ? error.message : 'the store failed' };
    }
  }
  return {
    kind: DELETE_DOCUMENT,
    schedule: schedule([1, 5, 30, 300, 3600], { maxAttempts: 10_000, jitterPct: 20 }),
    perform: remove,
    reconcile: remove,
  };
}
