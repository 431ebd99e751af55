/** One person or organisation of a sanctions list, whatever format it came in. */
export interface SanctionsEntry {
  readonly id: string;
  readonly kind: 'individual' | 'organisation';
  /** The main name first, then the aliases that the list vouches for. */
  readonly names: readonly string[];
  readonly programs: readonly string[];
}

export interface ListLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
  /** One row, line or element; a longer one is not of a list but of an attack or a damaged file. */
  readonly maxRecordCharacters: number;
  readonly maxNamesPerEntry: number;
}

export const DEFAULT_LIST_LIMITS: ListLimits = {
  maxBytes: 512 * 1024 * 1024,
  maxEntries: 500_000,
  maxRecordCharacters: 2 * 1024 * 1024,
  maxNamesPerEntry: 400,
};

/**
 * A list that cannot be read in full is not used at all: an entry that is silently skipped is a payment to somebody on
 * the list.
 */
export class SanctionsListError extends Error {
  override readonly name = 'SanctionsListError';
}

/** Cuts off an entry's aliases and drops blanks; a list has entries with hundreds of spellings. */
export function namesOf(names: readonly string[], limits: ListLimits): string[] {
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))].slice(
    0,
    limits.maxNamesPerEntry,
  );
}

/** Decodes UTF-8 as it arrives; malformed bytes are a damaged file, and the file is refused. */
export async function* decodeText(
  chunks: AsyncIterable<Uint8Array>,
  limits: ListLimits,
): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > limits.maxBytes)
      throw new SanctionsListError(`the list is larger than ${limits.maxBytes} bytes`);
    yield decode(() => decoder.decode(chunk, { stream: true }));
  }
  yield decode(() => decoder.decode());
}

function decode(read: () => string): string {
  try {
    return read();
  } catch {
    throw new SanctionsListError('the list is not UTF-8 text');
  }
}

/** Pieces between one delimiter and the next, however the text was cut into chunks. */
export async function* splitText(
  text: AsyncIterable<string>,
  delimiter: string,
  limits: ListLimits,
): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of text) {
    const pieces = (rest + chunk).split(delimiter);
    rest = pieces.pop() ?? '';
    for (const piece of pieces) {
      refuseLongRecord(piece, limits);
      yield piece;
    }
    refuseLongRecord(rest, limits);
  }
  if (rest !== '') yield rest;
}

export function refuseLongRecord(record: string, limits: ListLimits): void {
  if (record.length > limits.maxRecordCharacters) {
    throw new SanctionsListError(`a record is longer than ${limits.maxRecordCharacters} characters`);
  }
}

/** The end-of-file mark of old systems, which the published lists still carry after their last row. */
const SUBSTITUTE = '\u001A';
// Quotes decide where a row ends, so text is walked by the characters that matter.
const SPECIAL = /["\r\n,]/g;

/** Rows of RFC 4180 text: quoted fields may hold commas, quotes and line breaks. */
export async function* readCsvRows(
  text: AsyncIterable<string>,
  limits: ListLimits,
): AsyncGenerator<string[]> {
  let row: string[] = [];
  let field = '';
  let length = 0;
  let quoted = false;
  let quoteBefore = false;

  function* walk(chunk: string): Generator<string[]> {
    let from = 0;
    for (const { 0: special, index } of chunk.matchAll(SPECIAL)) {
      const plain = chunk.slice(from, index);
      from = index + 1;
      take(plain);
      if (special === '"') {
        // Two quotes inside a quoted field are one; the second reopens what the first has closed.
        if (quoteBefore && plain === '' && !quoted) field += '"';
        quoted = !quoted;
        quoteBefore = !quoted;
        continue;
      }
      quoteBefore = false;
      if (quoted) take(special);
      else if (special === ',') endField();
      else if (special === '\n' || row.length > 0 || field !== '') {
        const ended = endRow();
        if (ended !== undefined) yield ended;
      }
    }
    take(chunk.slice(from));
  }

  function take(plain: string): void {
    if (plain === '') return;
    quoteBefore = false;
    field += plain;
    length += plain.length;
    if (length > limits.maxRecordCharacters) refuseLongRecord(field.padEnd(length), limits);
  }

  function endField(): void {
    row.push(field);
    field = '';
  }

  function endRow(): string[] | undefined {
    endField();
    const ended = row;
    row = [];
    length = 0;
    return ended.length > 1 || (ended[0] ?? '') !== '' ? ended : undefined;
  }

  for await (const chunk of text) yield* walk(chunk.replaceAll(SUBSTITUTE, ''));
  if (quoted) throw new SanctionsListError('the list ends inside a quoted field');
  const last = endRow();
  if (last !== undefined) yield last;
}
