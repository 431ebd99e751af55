import { parseArgs } from 'node:util';
import { createChainClient } from '../apps/gateway/src/chain/rpc/chain-client.ts';
import { ChainUnavailableError } from '../apps/gateway/src/chain/transactions/transaction-rpc.ts';
import {
  obstacleTo,
  type ReadChain,
  readAgain,
  standingLines,
  standingOf,
} from '../apps/gateway/src/chain/watcher/lost-blocks.ts';
import { ConfigError, loadConfig } from '../apps/gateway/src/config.ts';
import { createDatabase } from '../apps/gateway/src/db/database.ts';
import { createClock } from '../apps/gateway/src/lib/clock.ts';
import { createIdGenerator } from '../apps/gateway/src/lib/ids.ts';

const USAGE = `Usage: npm run chain:resume [-- flags]

For a chain that has lost blocks which were final, where its watcher stands still: says where the chain and what was read
of it part, and what was recorded from blocks that are gone. With --yes the chain is read again from the last block that is
the same; deposits that are on the chain in another block are written down there. What is gone stays in the books, and the
reconciliation names it. Takes the same configuration as the program.
Ends with 0 where every chain is as it was read, or is read again; 1 where one is not; 2 for wrong flags.

  --chain <slug>    only this chain; several times for several
  --yes             read again; without it nothing is changed
  --reason <text>   why, for the audit log; with --yes
`;

/** Something that the caller can put right. */
class CannotResume extends Error {}

const flags = readFlags();
if (flags.help) process.stdout.write(USAGE);
else await run(flags);

function readFlags() {
  try {
    const { values } = parseArgs({
      options: {
        chain: { type: 'string', multiple: true, default: [] },
        yes: { type: 'boolean', default: false },
        reason: { type: 'string', default: '' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.yes && values.reason.trim() === '') throw new Error('--yes needs a --reason');
    return values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'wrong flags'}\n\n${USAGE}`);
    process.exit(2);
  }
}

async function run({ chain: slugs, yes, reason }: ReturnType<typeof readFlags>): Promise<void> {
  try {
    const config = loadConfig(process.env, []);
    if (config.databaseUrl === undefined || config.chains.length === 0) {
      throw new CannotResume(
        'Set DATABASE_URL and CHAINS_FILE. A sandbox reads its own chains again by itself.',
      );
    }
    const absent = slugs.filter((slug) => !config.chains.some((chain) => chain.slug === slug));
    if (absent.length > 0) throw new CannotResume(`CHAINS_FILE has no chain ${absent.join(', ')}.`);
    const db = createDatabase({ connectionString: config.databaseUrl, poolSize: 2 });
    try {
      for (const settings of config.chains) {
        if (slugs.length > 0 && !slugs.includes(settings.slug)) continue;
        const isWell = await resume(
          { db, clock: createClock(), ids: createIdGenerator() },
          { settings, client: createChainClient(settings) },
          yes ? reason.trim() : null,
        );
        if (!isWell) process.exitCode = 1;
      }
    } finally {
      await db.close();
    }
  } catch (error) {
    const isExpected = [CannotResume, ConfigError, ChainUnavailableError].some(
      (kind) => error instanceof kind,
    );
    if (!(isExpected && error instanceof Error)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}

/** True where the chain is as it was read, or is read again. */
async function resume(
  deps: Parameters<typeof readAgain>[0],
  chain: ReadChain,
  reason: string | null,
): Promise<boolean> {
  const standing = await standingOf(deps, chain);
  const say = (line: string) => process.stdout.write(`${line}\n`);
  for (const line of standingLines(chain, standing)) say(line);
  if (standing.state !== 'lost') return standing.state !== 'behind';
  const { lost } = standing;
  const obstacle = obstacleTo(lost);
  if (obstacle !== null || reason === null) {
    say(`  ${obstacle ?? `add --yes to read again from block ${lost.common.blockNumber + 1n}`}`);
    return false;
  }
  const isDone = await readAgain(deps, chain, lost, reason);
  say(
    isDone
      ? `  is read again from block ${lost.common.blockNumber + 1n}`
      : '  has been read on meanwhile: nothing was changed',
  );
  return isDone;
}
