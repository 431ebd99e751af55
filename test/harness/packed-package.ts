import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

const run = promisify(execFile);

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** Packages as their users get them: the tarballs that npm makes of their builds, installed by npm into an empty project. */
export interface InstalledPackages {
  readonly project: string;
  /** By the name of the package. */
  readonly tarballs: ReadonlyMap<string, string>;
  /** Where npm has put a package. */
  folderOf(name: string): string;
  remove(): Promise<void>;
}

/**
 * Of each folder its `build.ts` is run. What the packages depend on is packed from this repository's node_modules, at the
 * version that they name: nothing is fetched.
 */
export async function installPacked(folders: readonly string[]): Promise<InstalledPackages> {
  const project = await mkdtemp(join(tmpdir(), 'causeway-packed-'));
  const remove = () => rm(project, { recursive: true, force: true });
  try {
    const tarballs = await packWithDependencies(folders, project);
    await writeFile(
      join(project, 'package.json'),
      '{ "name": "empty", "private": true, "type": "module" }\n',
    );
    const quietly = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...quietly, ...tarballs.values()], { cwd: project });
    return { project, tarballs, folderOf: (name) => join(project, 'node_modules', name), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function packWithDependencies(
  folders: readonly string[],
  project: string,
): Promise<Map<string, string>> {
  const builds = await Promise.all(
    folders.map(async (folder, index) => {
      const out = join(project, 'builds', String(index));
      await run(process.execPath, [join(folder, 'build.ts'), out]);
      return { folder, out, manifest: await manifestOf(out) };
    }),
  );
  const own = new Set(builds.map(({ manifest }) => manifest.name));
  const others = new Map<string, string>();
  for (const { folder, manifest } of builds) await addDependencies(folder, manifest, own, others);
  return pack([...builds.map(({ out }) => out), ...others.values()], project);
}

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
}

async function addDependencies(
  folder: string,
  { name, dependencies = {} }: Manifest,
  own: ReadonlySet<string>,
  found: Map<string, string>,
): Promise<void> {
  for (const [dependency, version] of Object.entries(dependencies)) {
    if (own.has(dependency) || found.has(dependency)) continue;
    const place = foldersAbove(folder)
      .map((above) => join(above, 'node_modules', dependency))
      .find((one) => existsSync(one));
    if (place === undefined)
      throw new Error(`${name} depends on ${dependency}, which is not installed here.`);
    found.set(dependency, place);
    const manifest = await manifestOf(place);
    if (/^\d/.test(version) && manifest.version !== version) {
      throw new Error(`${name} wants ${dependency} ${version}; ${manifest.version} is installed here.`);
    }
    await addDependencies(place, manifest, own, found);
  }
}

/** The folder itself and all around it: where Node looks for what it imports. */
function foldersAbove(folder: string): string[] {
  return dirname(folder) === folder ? [folder] : [folder, ...foldersAbove(dirname(folder))];
}

/** The tarballs of folders, by the names of their packages. */
async function pack(folders: readonly string[], project: string): Promise<Map<string, string>> {
  const destination = join(project, 'tarballs');
  await mkdir(destination);
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination, ...folders];
  const { stdout } = await run('npm', args, { cwd: project });
  const packed = JSON.parse(stdout) as { name: string; filename: string }[];
  return new Map(packed.map(({ name, filename }) => [name, join(destination, filename)]));
}

/**
 * What is wrong with a tarball for those who install it: what publint says, and what TypeScript makes of its entries. Our
 * packages are ES modules only, so that `require` has them as such (Node has allowed that since 20.19) and resolution as of
 * Node 10, which knows no exports, is left out.
 */
export async function packageProblems(tarball: string): Promise<string[]> {
  const bytes = new Uint8Array(await readFile(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
  const said = messages.map((message) => formatMessage(message, pkg) ?? message.code);
  const checked = await checkPackage(createPackageFromTarballData(bytes));
  if (checked.types === false) return [...said, 'types: none'];
  const types = checked.problems
    .filter((problem) => !('resolutionKind' in problem && problem.resolutionKind === 'node10'))
    .filter(({ kind }) => kind !== 'CJSResolvesToESM')
    .map((problem) => `types: ${JSON.stringify(problem)}`);
  return [...said, ...types];
}

/** Every Node of this machine that the packages promise to run on, one of each major version: this one first. */
export async function nodesToRunOn(): Promise<{ version: string; program: string }[]> {
  const folders = ['/usr/bin', '/usr/local/bin', ...(process.env.PATH ?? '').split(delimiter)];
  const programs = [process.execPath, ...folders.map((folder) => join(folder, 'node'))].filter(existsSync);
  const versions = await Promise.all(
    programs.map(async (program) => {
      const { stdout } = await run(program, ['--version']).catch(() => ({ stdout: '' }));
      return { program, version: stdout.trim() };
    }),
  );
  const majorOf = (version: string) => Number(/^v(\d+)\./.exec(version)?.[1] ?? 0);
  return versions.filter(
    ({ version }, index) =>
      majorOf(version) >= 20 &&
      versions.findIndex((other) => majorOf(other.version) === majorOf(version)) === index,
  );
}
