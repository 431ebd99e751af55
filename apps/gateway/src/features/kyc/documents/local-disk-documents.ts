import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type DocumentStore, documentPath } from './document-store.port.ts';

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
