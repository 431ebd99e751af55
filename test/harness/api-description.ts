/** The API's description with every reference replaced by what it names: for tests that look at whole schemas. */
export function dereference<T>(description: T): T {
  const known = new Map<string, unknown>();

  function named(ref: string): unknown {
    if (!known.has(ref)) {
      known.set(ref, undefined);
      const parts = ref.replace(/^#\//, '').split('/');
      const found = parts.reduce<unknown>(
        (at, part) => (at as Record<string, unknown> | undefined)?.[part],
        description,
      );
      if (found === undefined) throw new Error(`nothing is called ${ref}`);
      known.set(ref, resolved(found));
    }
    const answer = known.get(ref);
    if (answer === undefined) throw new Error(`${ref} refers to itself`);
    return answer;
  }

  function resolved(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolved);
    if (value === null || typeof value !== 'object') return value;
    const { $ref, ...beside } = value as { $ref?: unknown };
    const own = Object.fromEntries(Object.entries(beside).map(([key, part]) => [key, resolved(part)]));
    return typeof $ref === 'string' ? { ...(named($ref) as object), ...own } : own;
  }

  return resolved(description) as T;
}
