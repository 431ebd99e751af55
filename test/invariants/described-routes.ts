import { dereference } from '../harness/api-description.ts';
import { call } from '../harness/call.ts';
import type { TestGateway } from '../harness/gateway.ts';
import { widgetCustomer } from '../harness/widget.ts';

/** The routes as the running gateway describes them, so that invariants hold for routes that no list names. */
export interface DescribedRoute {
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  readonly operationId: string;
  readonly access: 'public' | 'partner' | 'widget' | 'session' | 'vendor' | 'operator';
  readonly statuses: readonly string[];
  readonly parameters: readonly PathParameter[];
  readonly queryNames: readonly string[];
  readonly bodySchema: Schema | undefined;
  readonly operation: Operation;
}

export interface PathParameter {
  readonly name: string;
  /** The segment before it tells what an `id` is an id of: `webhooks/{id}`. */
  readonly qualified: string;
}

export interface Schema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
}

export interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly description?: string; readonly content?: object }>>;
}

export async function readDescription(
  gateway: TestGateway,
): Promise<{ readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> }> {
  return dereference((await call(gateway.baseUrl, 'GET', '/api/v1/openapi.json')).body);
}

export async function describedRoutes(gateway: TestGateway): Promise<DescribedRoute[]> {
  await keepSession(gateway);
  const { paths } = await readDescription(gateway);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => routeOf(path, method, operation)),
  );
}

export function routeOf(path: string, method: string, operation: Operation): DescribedRoute {
  return {
    method: method.toUpperCase(),
    path,
    operationId: operation.operationId ?? '',
    access: accessOf(operation),
    statuses: Object.keys(operation.responses),
    parameters: parametersOf(path),
    queryNames: (operation.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name),
    bodySchema: operation.requestBody?.content?.['application/json']?.schema,
    operation,
  };
}

function accessOf({ security = [] }: Operation): DescribedRoute['access'] {
  const [scheme] = security.flatMap((alternative) => Object.keys(alternative));
  return scheme === undefined ? 'public' : (scheme.replace(/Key$/, '') as DescribedRoute['access']);
}

function parametersOf(path: string): PathParameter[] {
  const segments = path.split('/');
  return segments.flatMap((segment, index) => {
    const name = /^\{([^}]+)\}(?:\.\w+)?$/.exec(segment)?.[1];
    return name === undefined ? [] : [{ name, qualified: `${segments[index - 1]}/{${name}}` }];
  });
}

export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{([^}]+)\}/g, (_whole, name: string) => encodeURIComponent(values[name] ?? ''));
}

/** The query without which a route refuses, from its examples. */
export function requiredQuery({ operation }: DescribedRoute): string {
  const needed = (operation.parameters ?? []).filter((one) => one.in === 'query' && one.required === true);
  const query = Object.fromEntries(needed.map(({ name, schema }) => [name, String(sampleOf(schema))]));
  return `?${new URLSearchParams(query)}`;
}

/** The token of a widget session with a customer, made once for each gateway: a sandbox hands none out. */
const sessions = new WeakMap<TestGateway, string>();

async function keepSession(gateway: TestGateway): Promise<void> {
  if (sessions.has(gateway)) return;
  sessions.set(gateway, (await widgetCustomer(gateway)).token);
}

/** A key of each kind of caller, as the sandbox hands them out. */
export function keysOf(gateway: TestGateway): Readonly<Record<DescribedRoute['access'], string | null>> {
  return {
    public: null,
    partner: gateway.partners[0].apiKey,
    widget: gateway.partners[0].widgetKey,
    session: sessions.get(gateway) ?? null,
    vendor: gateway.sandbox.vendors[0]?.apiKey ?? null,
    operator: gateway.sandbox.operatorKey,
  };
}

/** The smallest value a schema asks for, from its examples where it has any. */
export function sampleOf(schema: Schema | undefined): unknown {
  if (schema === undefined) return undefined;
  if (schema.const !== undefined) return schema.const;
  if (schema.examples?.length) return schema.examples[0];
  if (schema.enum?.length) return schema.enum[0];
  const [alternative] = schema.anyOf ?? schema.oneOf ?? [];
  if (alternative !== undefined) return sampleOf(alternative);
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sampleOf(schema.properties?.[name])]),
      );
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items));
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'string':
      return 'text';
    default:
      return {};
  }
}
