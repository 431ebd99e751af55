/**
 * Every SQL statement of the program is declared once, with a name, at module level. The name is the
 * prepared statement's name on the server, so a hot statement is parsed and planned once a connection.
 * The registry lets a test prepare all of them against the migrated schema: a misspelt column
 * fails the build, not a customer.
 */
export interface Statement<Params extends readonly unknown[], Row> {
  readonly name: string;
  readonly text: string;
  /** Whom to tell once what it wrote is committed; see announcer.ts. */
  readonly announces?: Announces<readonly unknown[], unknown>;
  /** See `plannedOnce`. */
  readonly isPlannedOnce?: true;
  /** Never set: carries the types of the parameters and of a row to the callers. */
  readonly types?: { params: Params; row: Row };
}

/** News for every process: a channel, and whom or what it is about. */
export interface Announcement {
  readonly channel: string;
  readonly payload: string;
  /** What is shown or tidied up a moment later is as good: it travels with what is urgent, or with more of its kind. */
  readonly canWait?: true;
}

type Announces<Params extends readonly unknown[], Row> = (
  params: Params,
  rows: readonly Row[],
) => readonly Announcement[];

/**
 * Words that SQL compares with, written out: as parameters they would keep partial indexes from applying. They come from
 * the tables of packages/protocol, never from a request.
 */
export function sqlWords(words: string | readonly string[]): string {
  return [words]
    .flat()
    .map((word) => {
      if (!/^\w+$/.test(word)) throw new Error(`not a word of a table: ${word}`);
      return `'${word}'`;
    })
    .join(', ');
}

const registry = new Map<string, Statement<readonly unknown[], unknown>>();

// PostgreSQL truncates identifiers at 63 bytes; two names that differ later would collide silently.
const MAX_NAME_LENGTH = 63;

export function statement<Params extends readonly unknown[], Row = Record<string, never>>(
  name: string,
  text: string,
  announces?: Announces<Params, Row>,
): Statement<Params, Row> {
  if (name.length > MAX_NAME_LENGTH) throw new Error(`statement name too long: ${name}`);
  if (registry.has(name)) throw new Error(`two statements are named ${name}`);
  const declared: Statement<Params, Row> = {
    name,
    text,
    ...(announces === undefined ? {} : { announces: announces as Announces<readonly unknown[], unknown> }),
  };
  registry.set(name, declared as Statement<readonly unknown[], unknown>);
  return declared;
}

/**
 * A statement whose plan is kept although PostgreSQL expects more of one for the values at hand: filters that may be absent
 * look cheaper when they are known to be, and a list of one id cheaper than the ten that are expected; the statement is then
 * planned at every call, for longer than it runs. Only for those whose indexes serve whatever is asked for, and only outside
 * of transactions.
 */
export function plannedOnce<Params extends readonly unknown[], Row>(
  declared: Statement<Params, Row>,
): Statement<Params, Row> {
  return { ...declared, isPlannedOnce: true };
}

export function declaredStatements(): readonly Statement<readonly unknown[], unknown>[] {
  return [...registry.values()];
}
