import { PLACEHOLDERS } from '@causeway/protocol';
import { expect } from 'vitest';
import { METHODS } from '../../scripts/sdk/names.ts';
import type { Answer, TestGateway } from '../harness/gateway.ts';
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

/** Sends the request of an operation as its description shows it, through the SDK, and keeps the answer. */
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
      const key = known.key ?? keys[route.access] ?? null;
      const method = METHODS[operationId];
      const answer = await (method === undefined
        ? sendRaw(gateway, route, known, key)
        : sendThroughSdk(gateway, method, route, known, key));
      expect([answer.status, answer.text], operationId).toEqual([200, expect.anything()]);
      if (!answers.has(operationId)) answers.set(operationId, answer.body ?? answer.text);
      return answer.body?.data;
    },
  };
}

/** Arguments as a caller of the SDK gives them: what the path names, then what is sent or asked for. */
function sendThroughSdk(
  gateway: TestGateway,
  method: string,
  route: DescribedRoute,
  known: Known,
  key: string | null,
): Promise<Answer> {
  const call = method
    .split('.')
    .reduce<unknown>((found, name) => (found as Record<string, unknown>)[name], gateway.as(key));
  const { params, query } = shownOf(route, known);
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => params[name]);
  const body = bodyOf(route, known.body);
  const input = body ?? (route.queryNames.length > 0 ? query : undefined);
  return (call as (...args: unknown[]) => Promise<Answer>)(
    ...inPath,
    ...(input === undefined ? [] : [input]),
  );
}

/** A second address of an operation, and what an identity provider calls: the SDK has no method for them. */
function sendRaw(
  gateway: TestGateway,
  route: DescribedRoute,
  known: Known,
  key: string | null,
): Promise<Answer> {
  const { params, query } = shownOf(route, known);
  const body = bodyOf(route, known.body);
  const rawBody = body === undefined ? undefined : JSON.stringify(body);
  return gateway.call(route.method, `${fillPath(route.path, params)}?${new URLSearchParams(query)}`, {
    key,
    headers: { 'content-type': 'application/json', ...known.headers?.(rawBody ?? '') },
    ...(rawBody === undefined ? {} : { rawBody }),
  });
}

interface Shown {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
}

function shownOf(route: DescribedRoute, { params = {}, query = {} }: Known): Shown {
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
  return { params: { ...examples('path'), ...params }, query: { ...examples('query'), ...query } };
}

/** Word for word what is published, but for what only this caller can know. */
function bodyOf(route: DescribedRoute, own: Readonly<Record<string, unknown>> = {}): object | undefined {
  for (const field of Object.keys(own)) {
    expect(PLACEHOLDERS, `${route.operationId}: ${field} is sent as it is published`).toContain(field);
  }
  const content = route.operation.requestBody?.content?.['application/json'] as WithExample | undefined;
  if (content === undefined) return undefined;
  expect(content.example, `${route.operationId} has no request example`).toBeDefined();
  return { ...(content.example as object), ...own };
}
