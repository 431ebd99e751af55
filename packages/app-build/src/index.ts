import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Builds an application when it is first needed and after a change of its sources; the result is never committed. Several
 * processes may build at once: each writes a folder of its own and the first to finish gives it its name.
 */
export interface BuildPlan<Manifest> {
  /** All that the result depends on, from the root of the repository; the lock file stands for what comes from others. */
  readonly sources: readonly string[];
  /** Folder of the builds. */
  readonly out: string;
  /** Loaded when something has to be built: a production install has no bundler, and serves what was built before. */
  readonly bundler: () => Promise<(folder: string) => Promise<Manifest>>;
  /** What to tell where there is no bundler. */
  readonly notBuilt: string;
}

export type Built<Manifest> = Manifest & {
  /** Where the files are. */
  readonly folder: string;
};

const root = join(import.meta.dirname, '../../..');

export async function buildWhenNeeded<Manifest extends object>(
  plan: BuildPlan<Manifest>,
): Promise<Built<Manifest>> {
  const folder = join(plan.out, digestOf(plan.sources));
  const manifest = join(folder, 'manifest.json');
  if (!existsSync(manifest)) await buildInto(folder, plan);
  return { ...(JSON.parse(readFileSync(manifest, 'utf8')) as Manifest), folder };
}

/** From the root of the repository, with forward slashes. */
export function sourceFilesOf(sources: readonly string[]): string[] {
  return globSync(sources, { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !/\.test\.tsx?$|\.md$/.test(file))
    .toSorted();
}

function digestOf(sources: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of sourceFilesOf(sources)) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

async function buildInto<Manifest>(folder: string, plan: BuildPlan<Manifest>): Promise<void> {
  const bundle = await plan.bundler().catch((cause) => {
    throw new Error(plan.notBuilt, { cause });
  });
  const draft = `${folder}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  try {
    writeFileSync(join(draft, 'manifest.json'), JSON.stringify(await bundle(draft)));
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    // Another process was quicker; what it built is the same.
    if (!existsSync(join(folder, 'manifest.json'))) throw error;
  }
}
