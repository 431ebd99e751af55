export interface PickerOption {
  readonly value: string;
  readonly label: string;
  /** A second line: a code, a branch. */
  readonly hint?: string | undefined;
}

/** Case and accents do not matter, as in the service’s own search. */
export function plain(text: string): string {
  return text
    .normalize('NFD')
    .replaceAll(/\p{Mark}/gu, '')
    .toLowerCase()
    .trim();
}

/** Every word typed is in the name, the code or the second line; names that begin with the text come first. */
export function matching(options: readonly PickerOption[], text: string): readonly PickerOption[] {
  const wanted = plain(text);
  if (wanted === '') return options;
  const words = wanted.split(/\s+/);
  const found = options.filter((option) => {
    const all = plain(`${option.label} ${option.hint ?? ''} ${option.value}`);
    return words.every((word) => all.includes(word));
  });
  const begins = (option: PickerOption) => (plain(option.label).startsWith(wanted) ? 0 : 1);
  return found.toSorted((one, other) => begins(one) - begins(other));
}

const SEARCH_AFTER_MS = 200;

export type Found = {
  readonly options: readonly PickerOption[];
  readonly state: 'ready' | 'searching' | 'failed';
};

/** Asks after a pause. Once the search is ended its answer is that to an earlier text, and is not heard any more. */
export function beginSearch(
  ask: (text: string, signal: AbortSignal) => Promise<readonly PickerOption[]>,
  text: string,
  heard: (found: Found) => void,
): () => void {
  const abort = new AbortController();
  const hear = (found: Found) => (abort.signal.aborted ? undefined : heard(found));
  const timer = setTimeout(
    () =>
      ask(text, abort.signal).then(
        (options) => hear({ options, state: 'ready' }),
        () => hear({ options: [], state: 'failed' }),
      ),
    text === '' ? 0 : SEARCH_AFTER_MS,
  );
  return () => {
    clearTimeout(timer);
    abort.abort();
  };
}
