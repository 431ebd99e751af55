import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readEvidence, reportEvidence } from '../bench/frame/evidence.ts';
import { AREAS } from './mutation/areas.ts';
import { areaFigure, SURVIVORS, survivorSection, verdictOn, withSection } from './mutation/report.ts';
import { runArea, SEED } from './mutation/run-area.ts';

/**
 * Mutation testing: changes the code of an area in many small ways, one at a time, and runs the area's quick tests for each.
 *
 * `npm run mutation` for all areas, `npm run mutation -- money machines` for some; the figures of the others stay. Fails
 * where a score is below its target or a survivor has no verdict. A second run tries only what has changed.
 */
const RUN = 'mutation';
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => AREAS[name] === undefined);
if (unknown.length > 0) {
  throw new Error(`no area is called ${unknown.join(', ')}; there are: ${Object.keys(AREAS).join(', ')}`);
}

let passed = true;
for (const [name, area] of Object.entries(AREAS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const result = await runArea(name, area);
  const undecided = result.survivors.filter((survivor) => verdictOn(survivor) === undefined);
  for (const { file, line, mutator, original, replacement } of undecided) {
    process.stdout.write(`no verdict: ${file}:${line} ${mutator}: ${original} => ${replacement}\n`);
  }
  const latest = areaFigure(name, result);
  const others = readEvidence(RUN)?.figures.filter(({ details }) => details.area !== name) ?? [];
  const order = Object.keys(AREAS);
  const figures = [...others, latest].sort(
    (a, b) => order.indexOf(String(a.details.area)) - order.indexOf(String(b.details.area)),
  );
  const isMet = reportEvidence(
    { run: RUN, command: 'npm run mutation', seed: SEED, figures },
    { record: true },
  );
  mkdirSync(new URL('.', SURVIVORS), { recursive: true });
  writeFileSync(SURVIVORS, withSection(readPage(), name, survivorSection(name, result.survivors)));
  passed &&= isMet && undecided.length === 0;
}
process.exitCode = passed ? 0 : 1;

function readPage(): string {
  try {
    return readFileSync(SURVIVORS, 'utf8');
  } catch {
    return '';
  }
}
