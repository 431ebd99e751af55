import { relative } from 'node:path';
import { expect } from 'vitest';
import { ROOT, sdkMethodAt, writeRecord } from '../../scripts/sdk/operations.ts';

/** What the SDK of a test requests, as its requests go out: `npm run sdk:operations` lists it. */
const called = new Map<string, Set<string>>();

const testFile = () => relative(ROOT, expect.getState().testPath ?? '');

export function noteOperation(httpMethod: string, path: string): void {
  const file = testFile();
  const name = sdkMethodAt(httpMethod, path)?.name ?? `${httpMethod} ${path}`;
  called.set(file, (called.get(file) ?? new Set()).add(name));
}

/** What the test file that runs has called so far. */
export function calledOperations(): ReadonlySet<string> {
  return called.get(testFile()) ?? new Set();
}

/** Written when a gateway stops, which every test file that has one does in the end. */
export function recordOperations(): void {
  const names = calledOperations();
  if (names.size > 0) writeRecord({ file: testFile(), called: [...names].sort() });
}
