import { pipeline } from 'node:stream/promises';

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
 * A list that cannot be read in full is not used at all: an entry that is silently skipped is a payment to a person on
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

function refuseLongRecord(record: string, limits: ListLimits): void {
  if (record.length > limits.maxRecordCharacters) {
    throw new SanctionsListError(tooLong(limits));
  }
}

export const tooLong = ({ maxRecordCharacters }: ListLimits) =>
  `a record is longer than ${maxRecordCharacters} characters`;

/** The end-of-file mark of old systems, which the published lists still carry after their last row. */
const SUBSTITUTE = '\u001A';

/**
 * Rows of RFC 4180 text: quoted fields may hold commas, quotes and line breaks. A row that breaks the rules is not
 * guessed at: it refuses the list.
 */
export async function* readCsvRows(
  text: AsyncIterable<string>,
  limits: ListLimits,
): AsyncGenerator<string[]> {
  // Loaded with the list: a process that screens by none does not need it.
  const { CsvError, parse } = await import('csv-parse');
  const parser = parse({
    bom: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: limits.maxRecordCharacters,
  });
  const read = pipeline(text, withoutSubstitutes, parser).catch(() => undefined);
  try {
    for await (const row of parser) yield row as string[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new SanctionsListError(CSV_PROBLEMS[error.code]?.(limits) ?? 'a row of the list cannot be read');
  } finally {
    parser.destroy();
    await read;
  }
}

async function* withoutSubstitutes(text: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const chunk of text) yield chunk.replaceAll(SUBSTITUTE, '');
}

const CSV_PROBLEMS: Readonly<Partial<Record<string, (limits: ListLimits) => string>>> = {
  CSV_QUOTE_NOT_CLOSED: () => 'the list ends inside a quoted field',
  CSV_MAX_RECORD_SIZE: (limits) => tooLong(limits),
};
