/**
 * Rail patterns are data, and operators edit them. A pattern is accepted only from a small grammar whose matching
 * cost is bounded: anchored, no unbounded repetition, no repeated group, no look-around, no back-reference, and a
 * product of all the choices it can make that stays small. Hosts compile it with the flag `u`; web forms with `v`.
 */
const MAX_CHOICES = 500_000;

/** An escape, a character class, a group's opening, a count, or one character. */
const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]|\(\?:|\(\?|\{[^}]*\}|./gsu;
const COUNT = /^\{(\d+)(?:,(\d*))?\}$/;

/** Why a pattern may not be used, or undefined if it may. */
export function explainUnsafePattern(pattern: string, maxLength: number): string | undefined {
  const tokens = pattern.match(TOKEN) ?? [];
  if (tokens.length < 2 || tokens[0] !== '^' || tokens.at(-1) !== '$') return 'is not anchored with ^ and $';
  return explainCompileFailure(pattern) ?? explainUnsafeTokens(tokens.slice(1, -1), maxLength);
}

function explainCompileFailure(pattern: string): string | undefined {
  for (const flag of ['u', 'v']) {
    try {
      new RegExp(pattern, flag);
    } catch {
      return `does not compile with the flag ${flag}`;
    }
  }
  return undefined;
}

function explainUnsafeTokens(tokens: readonly string[], maxLength: number): string | undefined {
  let depth = 0;
  let choices = 1;
  let previous = '';
  for (const token of tokens) {
    const forbidden = explainForbidden(token, depth);
    if (forbidden !== undefined) return forbidden;
    if (token === '(' || token === '(?:') depth += 1;
    if (token === ')') depth -= 1;
    // An optional atom and an alternative are a choice between two; a repeated group would multiply them.
    if (token === '?' || token === '|') choices *= 2;
    if (token.startsWith('{')) {
      if (previous === ')') return 'repeats a group';
      const [low, high] = readCount(token);
      if (high > maxLength) return `repeats up to ${high} times, beyond the length cap of ${maxLength}`;
      choices *= high - low + 1;
    }
    previous = token;
  }
  return choices > MAX_CHOICES ? `can be tried in ${choices} ways, more than ${MAX_CHOICES}` : undefined;
}

function explainForbidden(token: string, depth: number): string | undefined {
  if (token === '*' || token === '+') return `repeats without bound (${token})`;
  if (token === '(?') return 'looks around or names a group';
  if (token === '^' || token === '$') return 'has an anchor inside';
  if (token === '|' && depth === 0) return 'has an alternative that escapes the anchors';
  if (/^\\[1-9k]/.test(token)) return 'refers back to a group';
  return undefined;
}

function readCount(token: string): [low: number, high: number] {
  const count = COUNT.exec(token);
  const low = Number(count?.[1]);
  const upper = count?.[2];
  if (upper === undefined) return [low, low];
  return [low, upper === '' ? Number.POSITIVE_INFINITY : Number(upper)];
}
