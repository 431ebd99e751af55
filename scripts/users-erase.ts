import { loadConfig } from '../apps/gateway/src/config.ts';
import { SYSTEM } from '../apps/gateway/src/db/database.ts';
import { recordAction } from '../apps/gateway/src/engine/audit.ts';
import { unitOfWork } from '../apps/gateway/src/engine/unit-of-work.ts';
import { eraseUser } from '../apps/gateway/src/features/privacy/erase.ts';
import { connectCommand } from '../apps/gateway/src/features/privacy/rotate-keys.ts';

/** Erases a customer from the command line: npm run users:erase -- <user id> <reason> */
const [userId, ...words] = process.argv.slice(2);
const reason = words.join(' ').trim();
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Who acted, in the audit log, when no operator key did. */
const COMMAND_LINE = '00000000-0000-0000-0000-000000000000';

if (userId === undefined || !UUID.test(userId) || reason === '') {
  process.stderr.write('Usage: npm run users:erase -- <user id> <reason>\n');
  process.exit(1);
}
const deps = connectCommand(loadConfig(process.env, []));
try {
  const { documents } = await unitOfWork(deps, SYSTEM, async (unit) => {
    const erased = await eraseUser(deps, unit, userId);
    recordAction(
      unit,
      { keyId: COMMAND_LINE },
      { action: 'user.erase', subject: `users/${userId}`, reason, after: { ...erased } },
    );
    return erased;
  });
  process.stdout.write(`The customer is erased; ${documents} documents will be deleted by a worker.\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'It failed.'}\n`);
  process.exitCode = 1;
} finally {
  await deps.db.close();
}
