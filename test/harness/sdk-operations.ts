import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { RESOURCES } from '../../packages/sdk/src/generated/resources.ts';
import { readOperation } from '../../packages/sdk/src/transport.ts';

/**
 * Which operations tests call through the SDK, as its requests go out. Each test file leaves a record of its last run;
 * `npm run sdk:operations` reads them.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const RECORDS_FOLDER = join(ROOT, '.cache/sdk-operations');

export interface SdkMethod {
  /** Such as `orders.cancel`. */
  readonly name: string;
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
}

interface Table {
  readonly [name: string]: string | Table;
}

function methodsIn(table: Table, prefix = ''): SdkMethod[] {
  return Object.entries(table).flatMap(([name, entry]) => {
    if (typeof entry !== 'string') return methodsIn(entry, `${prefix}${name}.`);
    const { method, path } = readOperation(entry);
    return [{ name: prefix + name, method, path }];
  });
}

export const SDK_METHODS: readonly SdkMethod[] = methodsIn(RESOURCES);

const PATTERNS = SDK_METHODS.map((method) => ({
  method,
  pattern: new RegExp(`^${method.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  parameters: method.path.split('{').length,
})).sort((left, right) => left.parameters - right.parameters);

/** A word in a path is a better match than a parameter. */
export function sdkMethodAt(httpMethod: string, path: string): SdkMethod | undefined {
  return PATTERNS.find(({ method, pattern }) => method.method === httpMethod && pattern.test(path))?.method;
}

const called = new Map<string, Set<string>>();

export function noteOperation(httpMethod: string, path: string): void {
  const file = relative(ROOT, expect.getState().testPath ?? '');
  const name = sdkMethodAt(httpMethod, path)?.name ?? `${httpMethod} ${path}`;
  const names = called.get(file) ?? new Set();
  called.set(file, names.add(name));
}

/** What the test file that runs has called so far. */
export function calledOperations(): ReadonlySet<string> {
  return called.get(relative(ROOT, expect.getState().testPath ?? '')) ?? new Set();
}

/** Written when a gateway stops, which every test file that has one does in the end. */
export function recordOperations(): void {
  const names = calledOperations();
  if (names.size === 0) return;
  const file = relative(ROOT, expect.getState().testPath ?? '');
  mkdirSync(RECORDS_FOLDER, { recursive: true });
  const record = { file, called: [...names].sort() };
  writeFileSync(join(RECORDS_FOLDER, `${file.replaceAll('/', '+')}.json`), `${JSON.stringify(record)}\n`);
}
