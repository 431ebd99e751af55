/** What is wrong with reference data, told so that the person who edits it finds the place. */
export type ReferenceProblem = { file: string; field: string; message: string };

export class ReferenceDataError extends Error {
  readonly problems: readonly ReferenceProblem[];

  constructor(problems: readonly ReferenceProblem[]) {
    const shown = problems.slice(0, 20).map(({ file, field, message }) => `${file} ${field}: ${message}`);
    const rest = problems.length > shown.length ? `\n… and ${problems.length - shown.length} more` : '';
    super(`Reference data is not valid\n${shown.join('\n')}${rest}`);
    this.name = 'ReferenceDataError';
    this.problems = problems;
  }
}
