import { refuseLongRecord } from './list-text.ts';
import { type ListLimits, SanctionsListError } from './sanctions-list.ts';

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
