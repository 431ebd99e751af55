/** What the reading of the program and the instrumented process both know. */

/** The global object that wrapped calls go through; runtime.ts puts it there. */
export const RUNTIME = '__failpoints';

const WRITES = /\b(INSERT\s+INTO|UPDATE\s+\w+(\s+AS)?(\s+\w+)?\s+SET|DELETE\s+FROM)\b/;

/** Whether SQL changes rows. */
export function isWrite(sql: string): boolean {
  return WRITES.test(sql);
}
