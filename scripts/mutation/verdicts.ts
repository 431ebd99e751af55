/** What was found about a mutant that survived. */
export interface Verdict {
  /** The end of the file's path. */
  readonly file: string;
  readonly original: string;
  readonly replacement: string;
  readonly verdict: 'equivalent' | 'accepted';
  readonly why: string;
}

export const VERDICTS: readonly Verdict[] = [];
