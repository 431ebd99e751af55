import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { request } from 'undici';
import { type DocumentStore, documentPath } from '../../../ports/documents.ts';

/** Documents as files below one folder that only this user may read. Every process must see the same folder. */
export function createLocalDiskDocuments(folder: string): DocumentStore {
  const pathOf = (documentId: string) => join(folder, documentPath(documentId));
  return {
    async put(documentId, sealed) {
      const path = pathOf(documentId);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const unfinished = `${path}.${randomUUID()}`;
      const file = await open(unfinished, 'wx', 0o600);
      try {
        await file.writeFile(sealed);
        await file.sync();
      } finally {
        await file.close();
      }
      // Whole or not at all: a crash leaves no half document under the real name.
      await rename(unfinished, path);
    },
    async get(documentId) {
      try {
        return await readFile(pathOf(documentId));
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }
    },
    async delete(documentId) {
      await rm(pathOf(documentId), { force: true });
    },
  };
}

export interface SigningKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

export interface SignableRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: Uint8Array;
}

/** AWS Signature Version 4 in headers, as every S3-compatible store checks it. */
export async function signRequest(
  { method, url, body }: SignableRequest,
  key: SigningKey,
  at: Date,
): Promise<Record<string, string>> {
  // Loaded with the first document: most processes never sign one.
  const { AwsV4Signer } = await import('aws4fetch');
  const signer = new AwsV4Signer({
    ...key,
    method,
    url: url.href,
    service: 's3',
    datetime: at.toISOString().replace(/[-:]|\.\d{3}/g, ''),
    // Without it the signature would not cover the body.
    headers: { 'x-amz-content-sha256': createHash('sha256').update(body).digest('hex') },
  });
  const { headers } = await signer.sign();
  return Object.fromEntries(headers);
}

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
    const headers = await signRequest({ method, url, body }, options, options.now());
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
