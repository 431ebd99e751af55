/**
 * Filters live in the address as plain text (`?status=completed&status=failed&q=…`), so that a list can be linked to, reloaded
 * and read. The router hands them over as text, or lists of text where a name stands more than once.
 */
export type Search = Readonly<Record<string, string | readonly string[] | undefined>>;

export function parseSearch(text: string): Record<string, string | string[]> {
  // Without a prototype: an address may name anything, `__proto__` and `constructor` too.
  const found: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(text)) {
    const known = found[name];
    if (known === undefined) found[name] = value;
    else found[name] = [known, value].flat();
  }
  return found;
}

export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null && one !== '') parameters.append(name, String(one));
    }
  }
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

export function listOfSearch(value: Search[string]): readonly string[] {
  return value === undefined ? [] : [value].flat();
}
