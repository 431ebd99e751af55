import { RateFeedError } from './rate-feed.error.ts';

/** JSON as feeds use it, with every number kept as the text it was written in. */
export type JsonText = string | boolean | null | JsonText[] | { [key: string]: JsonText };

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;

// The compiler's library does not know the reviver's third argument yet (ECMAScript 2026); the runtime has it.
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => JsonText;

/**
 * Parses a feed without letting a rate become a float: JSON.parse would read 0.30000000000000004 and 0.3 as it likes and
 * drop digits past the 17th, so each number is replaced by its source text. A number and a string holding the same digits
 * read alike afterwards, which suits feeds: some quote their rates, some do not.
 * Of a key repeated inside one object the last one counts, as in every JSON reader; the guard band catches what matters.
 */
export function parseJsonText(source: string, text: string): JsonText {
  try {
    return parseWithSource(text, (_key, value, context) =>
      typeof value === 'number' ? (context.source ?? '') : value,
    );
  } catch (cause) {
    throw new RateFeedError(source, 'malformed', cause);
  }
}

/** Follows keys (and array indexes written as digits); only own properties count. */
export function valueAt(root: JsonText | undefined, path: readonly string[]): JsonText | undefined {
  let current = root;
  for (const key of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key)) return undefined;
    current = (current as Record<string, JsonText>)[key];
  }
  return current;
}

export function textAt(root: JsonText | undefined, path: readonly string[]): string | undefined {
  const value = valueAt(root, path);
  return typeof value === 'string' ? value : undefined;
}

export function isJsonObject(value: JsonText | undefined): value is { [key: string]: JsonText } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
