import { readFile, writeFile } from 'node:fs/promises';
import { renderBench } from './docs/bench.ts';
import { renderCliCodes } from './docs/cli-codes.ts';
import { renderConfig } from './docs/config.ts';
import { renderConformance } from './docs/conformance.ts';
import { renderEffects } from './docs/effects.ts';
import { renderErrors } from './docs/errors.ts';
import { renderEvents } from './docs/events.ts';
import { renderFailures } from './docs/failures.ts';
import { renderRails } from './docs/rails.ts';
import { renderReliability } from './docs/reliability.ts';
import { renderStates } from './docs/states.ts';
import { renderTestValues } from './docs/test-values.ts';

/** The reference pages that are made from code and data. `npm run docs` writes them; the tests check that they are current. */
const PAGES: Readonly<Record<string, () => string>> = {
  'docs/reference/bench.md': renderBench,
  'docs/reference/config.md': renderConfig,
  'docs/reference/conformance.md': renderConformance,
  'docs/reference/effects.md': renderEffects,
  'docs/reference/errors.md': renderErrors,
  'docs/reference/events.md': renderEvents,
  'docs/reference/failures.md': renderFailures,
  'docs/reference/rails.md': renderRails,
  'docs/reference/reliability.md': renderReliability,
  'docs/reference/states.md': renderStates,
  'docs/reference/test-values.md': renderTestValues,
  'packages/cli/src/generated/codes.ts': renderCliCodes,
};

export async function checkDocs(): Promise<string[]> {
  const stale: string[] = [];
  for (const [file, render] of Object.entries(PAGES)) {
    const written = await readFile(file, 'utf8').catch(() => '');
    if (written !== render()) stale.push(file);
  }
  return stale;
}

if (import.meta.main) {
  for (const [file, render] of Object.entries(PAGES)) await writeFile(file, render());
}
