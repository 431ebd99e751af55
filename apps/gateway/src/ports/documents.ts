/** Keeps sealed documents outside the database. It never sees one in clear. */
export interface DocumentStore {
  /** Writing the same document again is harmless: its bytes never change. */
  put(documentId: string, sealed: Uint8Array): Promise<void>;
  /** Undefined when there is no such document. */
  get(documentId: string): Promise<Buffer | undefined>;
  /** Deleting what is not there is harmless. */
  delete(documentId: string): Promise<void>;
}

const DOCUMENT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Where a document lies: spread over folders, and never outside of them. */
export function documentPath(documentId: string): string {
  if (!DOCUMENT_ID.test(documentId)) throw new Error('not a document id');
  // The end of an id is random; its beginning is the time and would fill one folder after the other.
  return `${documentId.slice(-2)}/${documentId}.sealed`;
}
