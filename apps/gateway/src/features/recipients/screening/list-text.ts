import { type ListLimits, SanctionsListError } from './sanctions-list.ts';

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
