import { dereference } from '../harness/api-description.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { type DescribedRoute, type Operation, routeOf } from '../invariants/described-routes.ts';

/** A route of the description, or one of the console's own, which have a description too but show it to no caller. */
export type FuzzRoute = Omit<DescribedRoute, 'access'> & {
  readonly access: DescribedRoute['access'] | 'console';
};

export function fuzzRoutes(gateway: TestGateway): FuzzRoute[] {
  const { paths } = dereference(gateway.describeRoutes()) as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => routeOf(path, method, operation)),
  );
}
