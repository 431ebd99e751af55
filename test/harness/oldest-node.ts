/**
 * What came to Node after 20.0, the oldest that the packages promise to run on, as far as somebody may reach for it. Names as
 * they are left in minified code.
 */
const NEWER: readonly (readonly [since: string, pattern: RegExp])[] = [
  ['20.1', /\brecursive:(?:!0|true)[^{}]*withFileTypes|withFileTypes[^{}]*\brecursive:(?:!0|true)/],
  ['20.3', /\bAbortSignal\.any\b/],
  ['20.6', /\bReadableStream\.from\b/],
  ['20.11', /\bimport\.meta\.(?:dirname|filename)\b/],
  ['20.12', /\b(?:styleText|loadEnvFile|parseEnv|parentPath)\b/],
  ['20.15', /\bcrc32\s*\(/],
  ['20.16', /\bgetBuiltinModule\b/],
  ['20.17', /\ballowNegative\b/],
  ['21', /\b(?:Object|Map)\.groupBy\b/],
  ['22', /\bwithResolvers\b|\bArray\.fromAsync\b|\bIterator\.from\b|\bglobSync\b/],
  ['23', /\bPromise\.try\b|\bRegExp\.escape\b|\bError\.isError\b/],
];

/** What of it a program uses, each with the version that has it. */
export function newerThanOldestNode(code: string): string[] {
  return NEWER.flatMap(([since, pattern]) => {
    const [found] = pattern.exec(code) ?? [];
    return found === undefined ? [] : [`${found} came with Node ${since}`];
  });
}
