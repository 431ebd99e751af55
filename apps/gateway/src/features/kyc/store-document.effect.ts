import { type Database, SYSTEM } from '../../db/database.ts';
import type { Intent } from '../../engine/intent.ts';
import type { IntentHandler, Outcome } from '../../engine/intent-worker.ts';
import { schedule } from '../../lib/backoff.ts';
import type { DocumentStore } from './documents/document-store.port.ts';
import { documentStored, findWaitingDocument } from './kyc.store.ts';
import { STORE_DOCUMENT } from './upload-document.ts';

type Payload = { readonly document_id: string };

/** Moves a sealed document from the database to the document store. Doing it twice is doing it once. */
export function storeDocumentHandler(tools: {
  readonly db: Database;
  readonly documents: DocumentStore;
}): IntentHandler<Payload> {
  async function store({ payload }: Intent<Payload>): Promise<Outcome> {
    const documentId = payload.document_id;
    const [row] = await tools.db.query(SYSTEM, findWaitingDocument, [documentId]);
    // Forgotten or moved meanwhile.
    if (row === undefined || row.waiting === null) return { kind: 'confirmed' };
    try {
      await tools.documents.put(documentId, row.waiting);
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
    kind: STORE_DOCUMENT,
    // Until it is moved it is safe where it is, so there is no hurry and no end.
    schedule: schedule([1, 5, 30, 300, 3600], { maxAttempts: 10_000, jitterPct: 20 }),
    perform: store,
    reconcile: store,
  };
}
