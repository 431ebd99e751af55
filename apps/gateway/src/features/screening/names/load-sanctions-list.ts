import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import {
  readFollowTheMoney,
  readOfacAlternates,
  readOfacCsv,
  readOfacXml,
  readSimpleTargets,
  withAlternates,
} from './list-formats.ts';
import { type SanctionsIndex, startSanctionsIndex } from './sanctions-index.ts';
import {
  DEFAULT_LIST_LIMITS,
  decodeText,
  type ListLimits,
  type SanctionsEntry,
  SanctionsListError,
} from './sanctions-list.ts';

export type SanctionsListFormat = 'ofac-csv' | 'ofac-xml' | 'opensanctions-ftm' | 'opensanctions-csv';

export interface SanctionsListSource {
  readonly path: string;
  /** Told from the beginning of the file where it is not given. */
  readonly format?: SanctionsListFormat | undefined;
  /** alt.csv beside an sdn.csv: without it, aliases are not known. */
  readonly alternatesPath?: string | undefined;
}

export interface LoadedSanctionsList {
  readonly index: SanctionsIndex;
  readonly format: SanctionsListFormat;
  /** A digest of the files: the same edition has the same version on every node. */
  readonly version: string;
}

type Reader = (text: AsyncIterable<string>, limits: ListLimits) => AsyncIterable<SanctionsEntry>;

const READERS: Readonly<Record<SanctionsListFormat, Reader>> = {
  'ofac-csv': readOfacCsv,
  'ofac-xml': readOfacXml,
  'opensanctions-ftm': readFollowTheMoney,
  'opensanctions-csv': readSimpleTargets,
};

/** Reads a published list from disk as it streams by; an unreadable or an empty one is refused. */
export async function loadSanctionsList(
  source: SanctionsListSource,
  limits: ListLimits = DEFAULT_LIST_LIMITS,
): Promise<LoadedSanctionsList> {
  const digest = createHash('sha256');
  const aliases =
    source.alternatesPath === undefined
      ? new Map<string, string[]>()
      : await readOfacAlternates(textOf(source.alternatesPath, digest, limits), limits);
  const format = source.format ?? (await detectFormat(source.path));
  // Indexed as it is read: a process that serves requests meanwhile is not held up for the length of the list.
  const index = startSanctionsIndex();
  for await (const entry of READERS[format](textOf(source.path, digest, limits), limits)) {
    if (index.entryCount >= limits.maxEntries) {
      throw new SanctionsListError(`the list has more than ${limits.maxEntries} entries`);
    }
    index.add(aliases.size === 0 ? entry : withAlternates(entry, aliases, limits));
  }
  // An empty list would clear every name.
  if (index.entryCount === 0) throw new SanctionsListError('the list has no entries');
  return { index, format, version: digest.digest('hex').slice(0, 16) };
}

async function* bytesOf(path: string, digest: ReturnType<typeof createHash>): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(path)) {
    const bytes = chunk as Uint8Array;
    digest.update(bytes);
    yield bytes;
  }
}

const textOf = (
  path: string,
  digest: ReturnType<typeof createHash>,
  limits: ListLimits,
): AsyncIterable<string> => decodeText(bytesOf(path, digest), limits);

const BEGINNING_BYTES = 512;

async function detectFormat(path: string): Promise<SanctionsListFormat> {
  let beginning = '';
  for await (const chunk of createReadStream(path, { start: 0, end: BEGINNING_BYTES - 1 })) {
    beginning += (chunk as Buffer).toString('utf8');
  }
  const text = beginning.replace(/^\uFEFF/, '').trimStart();
  if (text.startsWith('<')) return 'ofac-xml';
  if (text.startsWith('{')) return 'opensanctions-ftm';
  if (/^"?id"?,"?schema"?,/.test(text)) return 'opensanctions-csv';
  if (/^"?\d+"?,/.test(text)) return 'ofac-csv';
  throw new SanctionsListError('the format of the list is not known');
}
