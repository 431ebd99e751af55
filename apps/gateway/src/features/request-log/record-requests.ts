import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler, RouteOptions } from 'fastify';
import { apiKeyOf } from '../../http/access.ts';
import type { Principal, Principals } from '../../http/principals.ts';
import { addressBucket } from '../../lib/address-bucket.ts';
import {
  type ObjectSchema,
  type ParameterSchema,
  pathKeeper,
  programsOf,
  queryKeeper,
  refusalOf,
  unknownPathKeeper,
} from './kept-values.ts';
import type { NewRequestRow } from './request-log.store.ts';
import type { RequestWriter } from './write-requests.ts';

/**
 * Notes every request with a key of a partner or a vendor at the moment it is answered (for a stream, when it begins).
 * What the hook reads is gone afterwards; all that can be worked out later is worked out when the row is written.
 */
export interface RecordingDeps {
  readonly writer: RequestWriter;
  readonly principals: Pick<Principals, 'inMemory'>;
  readonly wall: () => number;
}

/** What is known of a route before any request. */
interface LoggedRoute {
  readonly pattern: string | null;
  readonly path: (path: string) => string;
  readonly query: (query: string) => string | null;
  /** Where the path names an order: which part of it. */
  readonly orderPart: number;
  /** Whether `data` of the answer names the order. */
  readonly answersOrder: boolean;
}

interface Recording extends RecordingDeps {
  readonly budget: Budget;
}

export function recordRequests(app: FastifyInstance, given: RecordingDeps): void {
  const deps: Recording = { ...given, budget: createBudget(UNLIMITED_A_SECOND) };
  const words = new Set<string>();
  const hooks = new Set<unknown>();
  app.addHook('onRoute', (route) => {
    for (const part of route.url.split('/')) if (!part.startsWith(':')) words.add(part);
    const access = route.config?.access;
    if (access === undefined || access === 'open' || access === 'public') return;
    const declared = [route.onSend ?? []].flat();
    // Fastify derives a HEAD route from a GET route that already has the hook.
    if (declared.some((hook) => hooks.has(hook))) return;
    const logged = loggedRoute(route);
    const hook: onSendHookHandler = (request, reply, payload, done) => {
      const caller = request.principal ?? request.refusedPrincipal;
      // The console reads all the time; what its users change is in their activity.
      if (caller !== null && caller.kind !== 'operator' && caller.user === undefined)
        note(deps, logged, caller, request, reply, payload);
      done();
    };
    hooks.add(hook);
    route.onSend = [...declared, hook];
  });
  recordUnmatched(app, deps, {
    pattern: null,
    path: unknownPathKeeper(words),
    query: () => null,
    orderPart: -1,
    answersOrder: false,
  });
}

/** A path that no route has is a mistake that a partner looks for in the log. Nothing has asked for its key so far. */
function recordUnmatched(app: FastifyInstance, deps: Recording, route: LoggedRoute): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (request.is404 && request.url.startsWith('/api/')) {
      const key = apiKeyOf(request.headers);
      // The database is not asked for a request that leads nowhere.
      const found = key === '' ? null : deps.principals.inMemory(key);
      if (found !== null && found.kind !== 'operator') note(deps, route, found, request, reply, payload);
    }
    done();
  });
}

const TOO_MANY_REQUESTS = 429;

/** Requests of one caller that no limit holds back and that are logged all the same, in a second and a process. */
const UNLIMITED_A_SECOND = 10;

type Budget = (owner: string, now: number) => boolean;

/** What the rate limit refuses, and what is refused before it, may come without end: a table must not grow with that. */
export function createBudget(aSecond: number): Budget {
  let current = 0;
  const taken = new Map<string, number>();
  return (owner, now) => {
    const second = Math.floor(now / 1_000);
    if (second !== current) {
      current = second;
      taken.clear();
    }
    const count = taken.get(owner) ?? 0;
    taken.set(owner, count + 1);
    return count < aSecond;
  };
}

type Owner = Exclude<Principal, { readonly kind: 'operator' }>;

function note(
  { writer, wall, budget }: Recording,
  route: LoggedRoute,
  caller: Owner,
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): void {
  const ms = performance.now() - request.arrivedAtMs;
  const now = wall();
  const { id, method, originalUrl: url, headers, ip } = request;
  const { statusCode: status } = reply;
  const isLimited = request.principal !== null && status !== TOO_MANY_REQUESTS;
  if (!isLimited && !budget(caller.bucket, now)) {
    writer.drop();
    return;
  }
  const withKey = headers['idempotency-key'] !== undefined;
  const isReplay = withKey && reply.getHeader('idempotency-replayed') !== undefined;
  const userAgent = headers['user-agent'];
  const refusal = status >= 400 && typeof payload === 'string' ? payload : null;
  const answered = isNamedByAnswer(route) && refusal === null ? orderIn(payload) : null;
  writer.add((): NewRequestRow => {
    const [path = '', query = ''] = url.split('?', 2);
    const { code, fields } = refusal === null ? NO_REFUSAL : refusalOf(refusal);
    return {
      ...ownerOf(caller),
      at: Math.round(now - ms),
      request_id: id,
      key_id: caller.keyId,
      method,
      route: route.pattern,
      path: route.path(path),
      query: route.query(query),
      status_code: status,
      error_code: code,
      error_fields: fields,
      duration_us: Math.max(0, Math.round(ms * 1_000)),
      order_id: isNamedByAnswer(route) ? answered : uuidOf(path.split('/')[route.orderPart]),
      idempotency_key: withKey,
      idempotent_replay: isReplay,
      api_version: VERSION_IN_PATH.exec(path)?.[1] ?? null,
      caller_network: networkOf(ip),
      user_agent: userAgent === undefined ? null : programsOf(userAgent),
    };
  });
}

const isNamedByAnswer = ({ orderPart, answersOrder }: LoggedRoute) => orderPart < 0 && answersOrder;

const NO_REFUSAL = { code: null, fields: [] } as const;
const VERSION_IN_PATH = /^\/api\/(v[0-9]{1,3})\//;

function ownerOf(caller: Owner): Pick<NewRequestRow, 'partner_id' | 'vendor_id'> {
  return caller.kind === 'vendor'
    ? { partner_id: null, vendor_id: caller.vendorId }
    : { partner_id: caller.partnerId, vendor_id: null };
}

function loggedRoute({ url, schema }: RouteOptions): LoggedRoute {
  const params = schema?.params as ObjectSchema | undefined;
  return {
    pattern: url,
    path: pathKeeper(url, params),
    query: queryKeeper(schema?.querystring as ObjectSchema | undefined),
    orderPart: url.split('/').indexOf(':order_id'),
    answersOrder: dataOf(schema?.response)?.properties?.order_id !== undefined,
  };
}

/** The shape of `data` in the answer of a route that succeeds. */
function dataOf(response: unknown): ObjectSchema | undefined {
  const answer = (response as { 200?: ObjectSchema } | undefined)?.[200];
  return answer?.properties?.data as (ParameterSchema & ObjectSchema) | undefined;
}

const ORDER_FIELD = '"order_id":"';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const UUID_LENGTH = 36;

/** The first one: an answer that is about an order begins with it, and reading all of it would cost. */
function orderIn(payload: unknown): string | null {
  if (typeof payload !== 'string') return null;
  const at = payload.indexOf(ORDER_FIELD);
  if (at < 0) return null;
  const id = payload.slice(at + ORDER_FIELD.length, at + ORDER_FIELD.length + UUID_LENGTH);
  // A copy: a part of a text keeps all of it in memory, until the row is written.
  return uuidOf(Buffer.from(id, 'latin1').toString('latin1'));
}

function uuidOf(text: string | undefined): string | null {
  return text !== undefined && UUID.test(text) ? text : null;
}

const IPV4 = /^([0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3})\.[0-9]{1,3}$/;

/** Enough to tell one's own servers from another's, too little to name who is behind it. */
function networkOf(address: string | undefined): string | null {
  const bucket = addressBucket(address);
  if (bucket.endsWith('::/64')) return bucket;
  const [, network] = IPV4.exec(bucket) ?? [];
  return network === undefined ? null : `${network}.0/24`;
}
