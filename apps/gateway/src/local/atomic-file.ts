import { randomBytes } from 'node:crypto';
import { chown, type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Private by default: everything a sandbox keeps in its home is its owner's business. */
const PRIVATE_FILE = 0o600;

/**
 * Replaces a file so that a reader, or a start after a crash, sees the old content or the new one, never a part. A file that
 * was there keeps its owner and mode.
 */
export async function writeFileAtomically(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', PRIVATE_FILE);
    try {
      await file.writeFile(content);
      const previous = await stat(path).catch(() => undefined);
      if (previous !== undefined) await file.chmod(previous.mode & 0o777);
      await giveToOwnerOf(previous === undefined ? dirname(path) : path, temporary);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** What root writes into an ordinary user's folder, or over an ordinary user's file, must not lock that user out. */
export async function giveToOwnerOf(model: string, path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(model);
  if (uid !== 0) await chown(path, uid, gid);
}

/** Without this a power cut may lose the rename. Some file systems refuse to sync a folder; they do without. */
async function syncFolder(path: string): Promise<void> {
  let folder: FileHandle | undefined;
  try {
    folder = await open(path, 'r');
    await folder.sync();
  } catch {
    return;
  } finally {
    await folder?.close();
  }
}
