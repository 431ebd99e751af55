import { writeFileSync } from 'node:fs';
import { test } from 'vitest';
import { sendEveryOperation } from '../examples/every-operation.ts';
import { exampleRun } from '../examples/example-run.ts';
import { readProgram } from './program.ts';
import { listSites } from './sites.ts';
import { startRound } from './round.ts';

test('observe', { timeout: 600_000 }, async () => {
  const program = readProgram();
  const t = Date.now();
  const round = await startRound(program, { mode: 'observe', armed: [] });
  console.log('started', Date.now() - t);
  try {
    await sendEveryOperation(round.gateway, await exampleRun(round.gateway));
  } finally {
    console.log('walked', Date.now() - t);
    const reached = new Set(round.supervisor.reached());
    const names = listSites(program).flatMap(({ name }) => [`before ${name}`, `after ${name}`]);
    writeFileSync('/tmp/fp-observe.json', JSON.stringify({
      missed: names.filter((name) => !reached.has(name)), unknown: [...reached].filter((name) => !names.includes(name)),
      unlisted: round.supervisor.unlisted(), accidents: round.supervisor.accidents, all: names.length }, null, 1));
    await round.stop();
  }
});
