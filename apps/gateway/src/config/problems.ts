/** Everything that is wrong with the configuration, at once. Carries no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const list = problems.map((problem) => `  - ${problem}`).join('\n');
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${list}`,
    );
    this.problems = problems;
  }
}

/**
 * Whatever a variable leads to: what goes wrong with it is a problem of the configuration that begins with the variable.
 * Of several files, the one that the system could not read says whose problem it is.
 */
export async function ofVariable<T>(
  subject: string,
  load: () => Promise<T>,
  others: Readonly<Record<string, string | undefined>> = {},
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const path = error instanceof Error && 'path' in error ? error.path : undefined;
    const [other] = Object.entries(others).find(([, of]) => of !== undefined && of === path) ?? [];
    throw new ConfigError([`${other === undefined ? subject : `${other} (${path})`}: ${reasonOf(error)}.`]);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'cannot be used';
  // The system's own text names a path and a call of its own, and no variable.
  return 'syscall' in error && 'code' in error ? `cannot be read (${error.code})` : error.message;
}

type Results<T extends readonly Promise<unknown>[]> = { -readonly [I in keyof T]: Awaited<T[I]> };

/** The results of all, or one list of what is wrong with any of them. */
export async function allConfigured<const T extends readonly Promise<unknown>[]>(
  loading: T,
): Promise<Results<T>> {
  const settled = await Promise.allSettled(loading);
  const reasons = settled.flatMap((one) => ('reason' in one ? [one.reason as unknown] : []));
  const unexpected = reasons.find((reason) => !(reason instanceof ConfigError));
  if (unexpected !== undefined) throw unexpected;
  if (reasons.length > 0) {
    throw new ConfigError([...new Set(reasons.flatMap((reason) => (reason as ConfigError).problems))]);
  }
  return settled.map((one) => (one as PromiseFulfilledResult<unknown>).value) as Results<T>;
}
