import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Program } from './program.ts';

/**
 * What was hit in the same gateway before. A run takes an hour, most of it restarts, and may be broken off; another line of
 * the gateway's own code, and it begins anew.
 */
const FILE = new URL('../../.cache/failpoints/hits.json', import.meta.url);

interface Hits {
  readonly program: string;
  readonly hit: Readonly<Record<string, readonly string[]>>;
}

export function hitBefore(program: Program, mode: string): readonly string[] {
  return read(program).hit[mode] ?? [];
}

export function rememberHits(program: Program, mode: string, hit: ReadonlySet<string>): void {
  const known = read(program);
  mkdirSync(new URL('.', FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify({ ...known, hit: { ...known.hit, [mode]: [...hit] } }));
}

/** When all were hit: the next run hits all again. */
export function forgetHits(): void {
  rmSync(FILE, { force: true });
}

function read(program: Program): Hits {
  const digest = digestOf(program);
  try {
    const known = JSON.parse(readFileSync(FILE, 'utf8')) as Hits;
    if (known.program === digest) return known;
  } catch {
    // The first run, or one that was ended while it wrote: nothing is known.
  }
  return { program: digest, hit: {} };
}

function digestOf({ files }: Program): string {
  const hash = createHash('sha256');
  for (const [path, { text }] of files) hash.update(`${path}\n${text}\n`);
  return hash.digest('hex');
}
