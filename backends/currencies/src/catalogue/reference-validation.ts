import type { Static, TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  findReferenceProblems,
  type OriginOf,
  ReferenceDataError,
  type ReferenceProblem,
} from './reference-checks.ts';
import { type ReferenceData, ReferenceDataSchema } from './reference-data.ts';

const referenceDataValidator = Compile(ReferenceDataSchema);

/** Records of unknown origin (an operator's edits) become reference data, or an error that names every fault. */
export function parseReferenceData(value: unknown): ReferenceData {
  if (!referenceDataValidator.Check(value)) {
    throw new ReferenceDataError(shapeProblems('reference data', referenceDataValidator.Errors(value)));
  }
  assertConsistent(value, (kind, key) => `${kind}/${key}`);
  return value;
}

export function assertConsistent(data: ReferenceData, originOf: OriginOf): void {
  const problems = findReferenceProblems(data, originOf);
  if (problems.length > 0) throw new ReferenceDataError(problems);
}

/** A parser of one kind of file; the file's name is part of the error. */
export function fileParser<T extends TSchema>(schema: T): (file: string, value: unknown) => Static<T> {
  const validator = Compile(schema);
  return (file, value) => {
    if (validator.Check(value)) return value as Static<T>;
    throw new ReferenceDataError(shapeProblems(file, validator.Errors(value)));
  };
}

type ShapeError = { instancePath: string; message: string; params: object };

function shapeProblems(file: string, errors: readonly ShapeError[]): ReferenceProblem[] {
  return errors.map(({ instancePath, message, params }) => ({
    file,
    field: instancePath === '' ? '/' : instancePath,
    message: `${message} ${JSON.stringify(params)}`,
  }));
}

/** Views are shared by every request of a process: freezing turns a stray write into an error at its place. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}
