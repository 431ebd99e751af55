/**
 * Every SQL statement of the program is declared once, with a name, at module level. The name is the
 * prepared statement's name on the server, so a hot statement is parsed and planned once a connection.
 * The registry lets a test prepare all of them against the migrated schema: a misspelt column
 * fails the build, not a customer.
 */
export interface Statement<Params extends readonly unknown[], Row> {
  readonly name: string;
  readonly text: string;
  /** Never set: carries the types of the parameters and of a row to the callers. */
  readonly types?: { params: Params; row: Row };
}

const registry = new Map<string, Statement<readonly unknown[], unknown>>();

// PostgreSQL truncates identifiers at 63 bytes; two names that differ later would collide silently.
const MAX_NAME_LENGTH = 63;

export function statement<Params extends readonly unknown[], Row = Record<string, never>>(
  name: string,
  text: string,
): Statement<Params, Row> {
  if (name.length > MAX_NAME_LENGTH) throw new Error(`statement name too long: ${name}`);
  if (registry.has(name)) throw new Error(`two statements are named ${name}`);
  const declared: Statement<Params, Row> = { name, text };
  registry.set(name, declared as Statement<readonly unknown[], unknown>);
  return declared;
}

export function declaredStatements(): readonly Statement<readonly unknown[], unknown>[] {
  return [...registry.values()];
}
