import { readFile } from 'node:fs/promises';
import { CommandError, EXIT } from '../exit.ts';
import type { Requirement } from './requirements.ts';
import type { CheckResult } from './run.ts';

/** A miss that is known and allowed for a time. */
export interface ExpectedFailure {
  readonly id: string;
  /** The last day, as YYYY-MM-DD. */
  readonly expires: string;
  readonly reason: string;
}

/** What is wrong with the list itself; each fails the run. */
export interface Stale {
  readonly id: string;
  readonly message: string;
}

export async function readExpectedFailures(
  file: string,
  requirements: readonly Requirement[],
): Promise<readonly ExpectedFailure[]> {
  const wrong = (what: string) =>
    new CommandError(`${file}: ${what}`, {
      exitCode: EXIT.usage,
      hint: 'It is a list: [{ "id": "webhooks.timestamp.future", "expires": "2027-01-31", "reason": "…" }]',
    });
  let list: unknown;
  try {
    list = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw wrong(`cannot be read: ${(error as Error).message}`);
  }
  if (!Array.isArray(list)) throw wrong('is no list.');
  const seen = new Set<string>();
  return list.map((entry: Partial<ExpectedFailure> | null, index) => {
    const { id, expires, reason } = entry ?? {};
    const at = `entry ${index + 1}`;
    if (typeof id !== 'string' || typeof reason !== 'string' || reason.trim() === '') {
      throw wrong(`${at} needs id, expires and reason.`);
    }
    if (!requirements.some((requirement) => requirement.id === id)) throw wrong(`there is no check “${id}”.`);
    if (seen.has(id)) throw wrong(`“${id}” is there twice.`);
    seen.add(id);
    if (typeof expires !== 'string' || !isDate(expires)) throw wrong(`${at}: expires is a day, YYYY-MM-DD.`);
    return { id, expires, reason };
  });
}

function isDate(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`);
  return (
    /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
  );
}

/** Entries whose day is over, or whose check passes by now. */
export function staleEntries(
  expected: readonly ExpectedFailure[],
  results: readonly CheckResult[],
  today: string,
): readonly Stale[] {
  return expected.flatMap(({ id, expires }) => {
    const outcome = results.find(({ requirement }) => requirement.id === id)?.outcome;
    if (outcome === 'passed') {
      return [{ id, message: 'is expected to be missed and passes: take it off the list' }];
    }
    if (expires >= today) return [];
    return [{ id, message: `was expected to be missed until ${expires}, which is over` }];
  });
}
