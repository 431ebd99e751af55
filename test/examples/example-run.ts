import { PLACEHOLDERS } from '@causeway/protocol';
import { expect } from 'vitest';
import type { TestGateway } from '../harness/gateway.ts';
import { type DescribedRoute, describedRoutes, fillPath, keysOf } from '../invariants/described-routes.ts';

/** What a caller knows of itself: ids of earlier answers, and what its wallet has signed. */
export interface Known {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** A key other than the first of its class. */
  readonly key?: string;
  readonly headers?: (body: string) => Readonly<Record<string, string>>;
}

/** Sends the request of an operation as its description shows it, and keeps the answer. */
export interface ExampleRun {
  readonly routes: readonly DescribedRoute[];
  /** The first answer of each operation, and the first event of each type as it was sent. */
  readonly answers: Map<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as the wire has them
  send(operationId: string, known?: Known): Promise<any>;
}

interface WithExample {
  readonly example?: unknown;
}

export async function exampleRun(gateway: TestGateway): Promise<ExampleRun> {
  const routes = await describedRoutes(gateway);
  const answers = new Map<string, unknown>();
  const keys = keysOf(gateway);

  return {
    routes,
    answers,
    async send(operationId, known = {}) {
      const route = routes.find((one) => one.operationId === operationId);
      if (route === undefined) throw new Error(`nothing is called ${operationId}`);
      const rawBody = bodyOf(route, known.body);
      const answer = await gateway.call(route.method, pathOf(route, known), {
        key: known.key ?? keys[route.access],
        headers: { 'content-type': 'application/json', ...known.headers?.(rawBody ?? '') },
        ...(rawBody === undefined ? {} : { rawBody }),
      });
      expect([answer.status, answer.text], operationId).toEqual([200, expect.anything()]);
      if (!answers.has(operationId)) answers.set(operationId, answer.body ?? answer.text);
      return answer.body?.data;
    },
  };
}

function pathOf(route: DescribedRoute, { params = {}, query = {} }: Known): string {
  const parameters = (route.operation.parameters ?? []) as readonly (WithExample & {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
  })[];
  const shown = parameters.filter(
    (one) => one.in === 'path' || (one.in === 'query' && one.required === true),
  );
  const examples = (place: string) =>
    Object.fromEntries(shown.filter((one) => one.in === place).map((one) => [one.name, String(one.example)]));
  const search = new URLSearchParams({ ...examples('query'), ...query });
  return `${fillPath(route.path, { ...examples('path'), ...params })}?${search}`;
}

/** Word for word what is published, but for what only this caller can know. */
function bodyOf(route: DescribedRoute, own: Readonly<Record<string, unknown>> = {}): string | undefined {
  for (const field of Object.keys(own)) {
    expect(PLACEHOLDERS, `${route.operationId}: ${field} is sent as it is published`).toContain(field);
  }
  const content = route.operation.requestBody?.content?.['application/json'] as WithExample | undefined;
  if (content === undefined) return undefined;
  expect(content.example, `${route.operationId} has no request example`).toBeDefined();
  return JSON.stringify({ ...(content.example as object), ...own });
}
