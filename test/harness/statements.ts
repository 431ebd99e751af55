// Loading both roles of the program declares every statement it has.
import '../../apps/gateway/src/api.ts';
import '../../apps/gateway/src/worker.ts';
import { declaredStatements } from '../../apps/gateway/src/db/statement.ts';

const CONTROL = /^(BEGIN|COMMIT|ROLLBACK|SAVEPOINT)\b/;
/** Files share a process, so the statements that other tests declare for themselves are known here too. */
const OF_A_TEST = /^test(ing)?\./;

/** Every statement of the program that reads or writes something. */
export function programStatements(): ReturnType<typeof declaredStatements> {
  return declaredStatements().filter(({ name, text }) => !CONTROL.test(text) && !OF_A_TEST.test(name));
}
