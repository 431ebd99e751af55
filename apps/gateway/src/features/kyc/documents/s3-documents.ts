import { request } from 'undici';
import { type SigningKey, signRequest } from './aws-signature.ts';
import { type DocumentStore, documentPath } from './document-store.port.ts';

export interface S3Options extends SigningKey {
  /** For example https://s3.eu-central-1.amazonaws.com; the bucket is put into the path, which every store understands. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly now: () => Date;
}

const TIMEOUT_MS = 30_000;
const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;
const NOTHING = new Uint8Array();

/** The store answered, and not as hoped. Its text is not kept: it may name keys. */
export class DocumentStoreError extends Error {
  override readonly name = 'DocumentStoreError';
}

export function createS3Documents(options: S3Options): DocumentStore {
  async function send(method: 'GET' | 'PUT' | 'DELETE', documentId: string, body: Uint8Array = NOTHING) {
    const url = new URL(`${options.endpoint}/${options.bucket}/${documentPath(documentId)}`);
    const headers = signRequest({ method, url, body }, options, options.now());
    return request(url, {
      method,
      headers: method === 'PUT' ? { ...headers, 'content-type': 'application/octet-stream' } : headers,
      ...(method === 'PUT' ? { body } : {}),
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
  }

  return {
    async put(documentId, sealed) {
      const answer = await send('PUT', documentId, sealed);
      await answer.body.dump();
      if (answer.statusCode !== 200) throw refused('PUT', answer.statusCode);
    },
    async get(documentId) {
      const answer = await send('GET', documentId);
      if (answer.statusCode !== 200) {
        await answer.body.dump();
        if (answer.statusCode === 404) return undefined;
        throw refused('GET', answer.statusCode);
      }
      const chunks: Buffer[] = [];
      let size = 0;
      for await (const chunk of answer.body) {
        size += (chunk as Buffer).length;
        if (size > MAX_DOCUMENT_BYTES) throw new DocumentStoreError('the store sent more than a document');
        chunks.push(chunk as Buffer);
      }
      return Buffer.concat(chunks);
    },
    async delete(documentId) {
      const answer = await send('DELETE', documentId);
      await answer.body.dump();
      if (answer.statusCode !== 204 && answer.statusCode !== 200 && answer.statusCode !== 404) {
        throw refused('DELETE', answer.statusCode);
      }
    },
  };
}

function refused(method: string, status: number): DocumentStoreError {
  return new DocumentStoreError(`the document store answered ${method} with ${status}`);
}
