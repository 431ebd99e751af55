import { REQUEST_EXAMPLES } from '@causeway/protocol';
import { requestsOf } from '../invariants/carried-ids.ts';
import type { CustomerFixture } from '../invariants/customer-fixture.ts';
import { type DescribedRoute, fillPath, sampleOf } from '../invariants/described-routes.ts';
import type { FuzzCaller } from './callers.ts';
import { type EdgeField, edgeFieldsOf, withValue } from './edges.ts';
import { breakText, hostileHeaders, hostileQuery, OVERSIZED } from './hostile.ts';
import { mutateBody, NASTY } from './mutate.ts';
import type { Random } from './random.ts';
import type { FuzzRoute } from './routes.ts';
import type { WireRequest } from './wire.ts';

/** What requests are about. */
export interface Subjects {
  readonly own: CustomerFixture;
  readonly foreign: CustomerFixture;
  readonly ids: ReadonlyMap<string, readonly string[]>;
}

export interface FuzzRequest extends WireRequest {
  /** What was done to it, for the report. */
  readonly how: string;
  /** Larger than the server reads: it may close the connection while it is still being sent. */
  readonly mayBeCutOff: boolean;
}

/** Moving time would change what all the others are about: tried, but never with a time that could be moved to. */
const HARMLESS: Readonly<Record<string, unknown>> = { sandboxAdvanceClock: { seconds: -1 } };

const BAD_IDS = [
  '0',
  'me',
  '%00',
  '%2e%2e',
  '..%2f..',
  'x'.repeat(600),
  '%F0%9F%98%80',
  '%',
  '%ff',
  "1'--",
  '00000000-0000-0000-0000-000000000000',
];

interface Draft {
  readonly paths: Record<string, string>;
  readonly query: URLSearchParams;
  body: unknown;
}

const edges = new Map<string, readonly EdgeField[]>();

function edgesOf(route: FuzzRoute): readonly EdgeField[] {
  const known = edges.get(route.operationId) ?? edgeFieldsOf(route);
  edges.set(route.operationId, known);
  return known;
}

/** A request that is right as far as the description tells, about things of the caller's own, or of somebody else. */
function rightRequest(random: Random, route: FuzzRoute, subjects: Subjects): Draft {
  const customer = random.chance(85) ? subjects.own : subjects.foreign;
  const requests = requestsOf(route as DescribedRoute);
  const request = random.pick(requests);
  const uuid = () => `00000000-0000-4000-8000-${String(random.below(1e9)).padStart(12, '0')}`;
  const idOf = (name: string) => {
    const known = subjects.ids.get(name) ?? [];
    return known.length > 0 && random.chance(90) ? random.pick(known) : uuid();
  };
  const paths = Object.fromEntries(route.parameters.map(({ name }) => [name, idOf(name)]));
  const example = REQUEST_EXAMPLES[route.operationId] ?? request.body;
  let body: unknown = HARMLESS[route.operationId] ?? (random.chance(70) ? example : request.body);
  const required = new Set(route.bodySchema?.required ?? []);
  for (const { place, name, kind } of request.ids) {
    if (place === 'path') paths[name] = customer.ids[kind];
    if (place === 'body' && required.has(name)) body = withValue(body, [name], customer.ids[kind]);
  }
  const query = new URLSearchParams();
  for (const { name, schema, required: isRequired, in: place } of route.operation.parameters ?? []) {
    if (place !== 'query' || !(isRequired || random.chance(30))) continue;
    const kind = request.ids.find((id) => id.place === 'query' && id.name === name)?.kind;
    query.set(name, kind === undefined ? textOf(sampleOf(schema)) : customer.ids[kind]);
  }
  return { paths, query, body };
}

const textOf = (value: unknown) =>
  (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).toWellFormed();

function atAnEdge(random: Random, route: FuzzRoute, draft: Draft): string {
  const fields = edgesOf(route);
  if (fields.length === 0) return 'right';
  const { place, field, values } = random.pick(fields);
  const value = random.pick(values);
  if (place === 'path') draft.paths[field[0] as string] = textOf(value);
  if (place === 'query') draft.query.set(field[0] as string, textOf(value));
  if (place === 'body') draft.body = withValue(draft.body, field, value);
  return `${place} ${field.join('.')} = ${(JSON.stringify(value) ?? '').slice(0, 60)}`;
}

function mutated(random: Random, route: FuzzRoute, draft: Draft): string {
  if (route.bodySchema !== undefined) draft.body = mutateBody(random, draft.body);
  for (const name of route.queryNames) {
    if (random.chance(25)) draft.query.set(name, textOf(random.pick(NASTY)).slice(0, 2_000));
  }
  return 'mutated';
}

type Way = 'right' | 'edge' | 'mutated' | 'hostile';
const WAYS: readonly Way[] = ['right', 'edge', 'edge', 'mutated', 'mutated', 'hostile'];

/** One request of a caller to a route. The same random numbers make the same request, but for ids, which each run makes anew. */
export function makeRequest(
  random: Random,
  route: FuzzRoute,
  caller: FuzzCaller,
  subjects: Subjects,
): FuzzRequest {
  const way = random.pick(WAYS);
  const draft = rightRequest(random, route, subjects);
  let how: string = way;
  if (way === 'edge') how = atAnEdge(random, route, draft);
  if (way === 'mutated') how = mutated(random, route, draft);
  const isHostile = way === 'hostile';
  let path = fillPath(route.path, draft.paths);
  const [parameter] = route.parameters;
  if (isHostile && parameter !== undefined && random.chance(30)) {
    path = route.path.replace(/\{[^}]+\}/g, () => random.pick(BAD_IDS));
  }
  const query = isHostile ? hostileQuery(random, draft.query, caller.headers(0)) : draft.query.toString();
  const hasBody =
    route.bodySchema !== undefined || (isHostile && route.method !== 'GET' && random.chance(20));
  const text = hasBody ? JSON.stringify(draft.body ?? {}) : undefined;
  const body = isHostile && text !== undefined ? breakText(random, text) : text;
  return {
    method: route.method,
    path: query === '' ? path : `${path}?${query}`,
    headers: {
      accept: random.chance(3) ? 'text/event-stream' : 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...caller.headers(random.below(100)),
      ...(isHostile ? hostileHeaders(random, caller.headers(0)) : {}),
    },
    body,
    how,
    mayBeCutOff: (body?.length ?? 0) >= OVERSIZED,
  };
}
