import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RESOURCES } from '../../packages/sdk/src/generated/resources.ts';
import { readOperation } from '../../packages/sdk/src/transport.ts';
import { ALIASES, METHODS, NOT_CALLED } from './names.ts';

/** Which operations tests call through the SDK. Each test file leaves a record of what its last run called. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RECORDS = '.cache/sdk-operations';

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
  pattern: new RegExp(`^${method.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  parameters: method.path.split('{').length,
})).sort((left, right) => left.parameters - right.parameters);

/** A word in a path is a better match than a parameter. */
export function sdkMethodAt(httpMethod: string, path: string): SdkMethod | undefined {
  return PATTERNS.find(({ method, pattern }) => method.method === httpMethod && pattern.test(path))?.method;
}

/** The test file from the root of the project, and the methods that it called. */
export interface OperationsRecord {
  readonly file: string;
  readonly called: readonly string[];
}

export function writeRecord(record: OperationsRecord, root = ROOT): void {
  const folder = join(root, RECORDS);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, `${record.file.replaceAll('/', '+')}.json`),
    `${JSON.stringify(record, null, 1)}\n`,
  );
}

/** Of the test files that are still there. */
export function readRecords(root = ROOT): OperationsRecord[] {
  return globSync('*.json', { cwd: join(root, RECORDS) })
    .sort()
    .map((name) => JSON.parse(readFileSync(join(root, RECORDS, name), 'utf8')) as OperationsRecord)
    .filter(({ file }) => existsSync(join(root, file)));
}

export interface OperationsList {
  /** One a line: the operation, its request, the method, the test files. */
  readonly lines: readonly string[];
  /** Operations that no recorded test called. */
  readonly missing: readonly string[];
}

const SHOWN_FILES = 3;

export function listOperations(records: readonly OperationsRecord[]): OperationsList {
  const missing: string[] = [];
  const rows = Object.entries(METHODS).map(([operationId, name]) => {
    const { method = '', path = '' } = SDK_METHODS.find((one) => one.name === name) ?? {};
    const files = records.filter(({ called }) => called.includes(name)).map(({ file }) => file);
    if (files.length === 0) missing.push(operationId);
    return [operationId, `${method} ${path}`, name, filesShown(files)];
  });
  const others = [
    ...Object.entries(ALIASES).map(([id, of]) => [id, '', METHODS[of] ?? '', `second address of ${of}`]),
    ...Object.entries(NOT_CALLED).map(([id, why]) => [id, '', 'none', why]),
  ];
  return { lines: aligned([...rows, ...others]), missing };
}

function filesShown(files: readonly string[]): string {
  if (files.length === 0) return 'NO TEST';
  const rest = files.length - SHOWN_FILES;
  return files.slice(0, SHOWN_FILES).join(' ') + (rest > 0 ? ` and ${rest} more` : '');
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
}
