import type { FastifySchemaValidationError } from 'fastify';

type Problem = FastifySchemaValidationError;

/** Far more than an answer tells of; each union looks at all of them. */
const MAX_LOOKED_AT = 500;

/**
 * The problems that tell a caller what to mend. A union is reported with the problems of all its branches; where the value
 * is of the type of some branches, only those were meant, and that an object is not null is no fault.
 */
export function meantProblems(noted: readonly Problem[]): readonly Problem[] {
  // That a condition has failed says nothing beside what it asked for.
  const problems = noted.filter(({ keyword }) => keyword !== 'if').slice(0, MAX_LOOKED_AT);
  const unions = problems.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  return unions.reduce<readonly Problem[]>(withoutOtherBranches, problems);
}

function withoutOtherBranches(problems: readonly Problem[], union: Problem): readonly Problem[] {
  const place = union.instancePath;
  const branchOf = (problem: Problem): string | undefined => {
    const { instancePath, schemaPath } = problem;
    const isWithin = instancePath === place || instancePath.startsWith(`${place}/`);
    if (!isWithin || !schemaPath.startsWith(`${union.schemaPath}/`)) return undefined;
    return schemaPath.slice(union.schemaPath.length + 1).split('/')[0];
  };
  const branches = new Set(problems.map(branchOf).filter((branch) => branch !== undefined));
  if (branches.size === 0) return problems;
  const others = new Set(
    problems
      .filter(({ keyword, instancePath }) => keyword === 'type' && instancePath === place)
      .map(branchOf),
  );
  const isMeant = (branch: string | undefined) => branch === undefined || !others.has(branch);
  const someFit = [...branches].some(isMeant);
  // What is wrong with its branches says more than that none of them fits.
  return problems.filter((problem) => problem !== union && (!someFit || isMeant(branchOf(problem))));
}
