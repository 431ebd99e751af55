import { CausewayError, type ErrorCode } from '@causeway/protocol';
import { OPERATION_CAPABILITIES } from '@causeway/protocol/console';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  RouteOptions,
} from 'fastify';
import { addressBucket } from '../lib/address-bucket.ts';
import { TOKEN_PREFIX } from '../lib/crypto.ts';
import { maskForUser } from './console-masking.ts';
import type { ConsoleSessions } from './console-sessions.ts';
import type { PartnerPrincipal, Principal, PrincipalKind, Principals } from './principals.ts';
import type { RateLimit, Verdict } from './rate-limit.ts';

/**
 * Who may call a route, and how often. It runs before the body is read: a request without a key costs
 * nothing and learns nothing. Every route under /api must declare its access, or the server does not start.
 */
export type Access = PrincipalKind | 'console' | 'public' | 'open';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `public` is limited per address; `open` (health, the docs page) is not limited at all. */
    access?: Access;
    envelope?: 'partner' | 'supported';
    /** Codes the route can answer: documented, never compiled into serialisers. */
    errors?: readonly ErrorCode[];
  }
  interface FastifyRequest {
    principal: Principal | null;
    /** Whose key was sent where it is of another class than the route takes. Only told to the log of requests. */
    refusedPrincipal: Principal | null;
  }
}

/** How a key of each class begins, and how an answer calls it. */
const KEY_CLASSES: Readonly<
  Record<PrincipalKind, { readonly prefixes: readonly string[]; readonly says: string }>
> = {
  partner: {
    prefixes: [TOKEN_PREFIX.partnerTest, TOKEN_PREFIX.partnerLive],
    says: 'a partner’s secret key (cw_test_… or cw_live_…)',
  },
  widget: { prefixes: [TOKEN_PREFIX.widget], says: 'a partner’s widget key (cw_widget_…)' },
  session: {
    prefixes: [TOKEN_PREFIX.session],
    says: 'the token of a widget session (cw_session_…)',
  },
  vendor: { prefixes: [TOKEN_PREFIX.vendor], says: 'a vendor’s key (cw_vendor_…)' },
  operator: { prefixes: [TOKEN_PREFIX.operator], says: 'an operator’s key (cw_operator_…)' },
};
const ALL_PREFIXES = Object.values(KEY_CLASSES).flatMap(({ prefixes }) => prefixes);
const BEARER = /^bearer +(\S+) *$/i;

interface KeyHeaders {
  readonly 'x-api-key'?: string | string[] | undefined;
  readonly authorization?: string | undefined;
}

/** X-API-Key, or else what Authorization: Bearer carries; empty where a request has neither. */
export function apiKeyOf(headers: KeyHeaders): string {
  const key = headers['x-api-key'];
  if (typeof key === 'string' && key !== '') return key;
  return headers.authorization === undefined ? '' : bearerOf(headers.authorization);
}

function bearerOf(authorization: string): string {
  return BEARER.exec(authorization)?.[1] ?? '';
}

/** A bearer token beside X-API-Key may be a proxy's own; only what looks like a key of ours contradicts it. */
function contradictsItself(headers: KeyHeaders): boolean {
  if (headers.authorization === undefined || !headers['x-api-key']) return false;
  const bearer = bearerOf(headers.authorization);
  return bearer !== headers['x-api-key'] && ALL_PREFIXES.some((prefix) => bearer.startsWith(prefix));
}

function classOf(key: string): PrincipalKind | undefined {
  const classes = Object.keys(KEY_CLASSES) as PrincipalKind[];
  return classes.find((kind) => KEY_CLASSES[kind].prefixes.some((prefix) => key.startsWith(prefix)));
}

/**
 * What a refused caller is told. The class of a key is read off its own beginning, so that a key that exists and one that
 * does not are told the same.
 */
function unauthorized(access: PrincipalKind, given: PrincipalKind | undefined): CausewayError {
  const wanted = `This route takes ${KEY_CLASSES[access].says}`;
  if (given === undefined || given === access) {
    return new CausewayError('UNAUTHORIZED', {
      message: `The API key is missing or invalid. ${wanted} in X-API-Key or Authorization: Bearer.`,
      details: { required_key: access },
    });
  }
  return new CausewayError('UNAUTHORIZED', {
    message: `${wanted}; ${KEY_CLASSES[given].says} was sent.`,
    details: { required_key: access, given_key: given },
  });
}

export interface AccessOptions {
  readonly principals: Principals;
  /** Without them nobody can sign in. */
  readonly consoleSessions?: ConsoleSessions;
  readonly rateLimit: RateLimit;
  readonly partnerPerMinute: number;
  readonly publicPerMinute: number;
  /** Keys that are none, for each address. */
  readonly wrongKeysPerMinute: number;
}

const FOR_USERS: ReadonlySet<Access> = new Set(['partner', 'vendor', 'operator', 'console']);

/** So that the hook of a request need not look it up. A route that no role has would be refused to every user. */
function noteCapability(route: RouteOptions, access: Access): void {
  const operation = (route.schema as { operationId?: string } | undefined)?.operationId;
  const capability = operation === undefined ? undefined : OPERATION_CAPABILITIES[operation];
  if (capability !== undefined) route.config = { ...route.config, capability };
  else if (FOR_USERS.has(access)) {
    throw new Error(`${operation ?? route.url} is missing in OPERATION_CAPABILITIES`);
  }
}

/** Fastify derives a HEAD route from a GET route that already has it. */
function maskForUsers(route: RouteOptions): void {
  const declared = [route.onSend ?? []].flat();
  if (!declared.includes(maskForUser)) route.onSend = [...declared, maskForUser];
}

export function registerAccess(app: FastifyInstance, options: AccessOptions): void {
  app.decorateRequest('principal', null);
  app.decorateRequest('refusedPrincipal', null);
  // One hook a kind of access, put on each route as it is declared: looking the kind up on every request costs more.
  const hooks = new Map<Access, onRequestHookHandler>();
  app.addHook('onRoute', (route) => {
    const access = route.config?.access;
    if (access === undefined) {
      if (route.url.startsWith('/api/')) {
        throw new Error(`${String(route.method)} ${route.url} does not say who may call it`);
      }
      return;
    }
    if (access === 'open') return;
    if (options.consoleSessions !== undefined && access !== 'public') {
      noteCapability(route, access);
      if (access === 'partner' || access === 'vendor' || access === 'operator') maskForUsers(route);
    }
    const hook = hooks.get(access) ?? hookOf(access);
    hooks.set(access, hook);
    const declared = [route.onRequest ?? []].flat();
    // Fastify derives a HEAD route from a GET route that already has it.
    if (!declared.includes(hook)) route.onRequest = [...declared, hook];
  });

  const hookOf = (access: Exclude<Access, 'open'>): onRequestHookHandler => {
    if (access === 'public') return limitAddress;
    return access === 'console' ? requireUser : requireKey(access);
  };

  const limitAddress: onRequestHookHandler = (request, reply, done) =>
    limit(reply, addressBucket(request.ip), options.publicPerMinute, done);

  /**
   * Guessing keys is bounded for each address. Only what is refused is counted, and a good key is never asked about it:
   * a partner behind the same address as one that guesses keys is not kept out.
   */
  function refuseKey(request: FastifyRequest, reply: FastifyReply, access: PrincipalKind, done: Done): void {
    const bucket = `wrong-key:${addressBucket(request.ip)}`;
    const usedUp = options.rateLimit.isUsedUp(bucket, options.wrongKeysPerMinute);
    if (usedUp !== null) {
      done(announceLimit(reply, usedUp));
      return;
    }
    const settle = (verdict: Verdict) =>
      done(
        verdict.allowed
          ? unauthorized(access, classOf(apiKeyOf(request.headers)))
          : announceLimit(reply, verdict),
      );
    const verdict = options.rateLimit.take(bucket, options.wrongKeysPerMinute);
    if (verdict instanceof Promise) verdict.then(settle, done);
    else settle(verdict);
  }

  const requireKey =
    (access: PrincipalKind): onRequestHookHandler =>
    (request, reply, done) => {
      const key = apiKeyOf(request.headers);
      // Nothing is guessed without a key.
      if (key === '') {
        const token = options.consoleSessions?.tokenOf(request) ?? '';
        if (token === '') return done(unauthorized(access, undefined));
        admitUser(request, reply, access, token).then(done, done);
        return;
      }
      if (contradictsItself(request.headers)) {
        const message = 'X-API-Key and Authorization: Bearer carry different keys; send one of them.';
        return done(new CausewayError('UNAUTHORIZED', { message, details: { required_key: access } }));
      }
      if (options.principals.mayBeGuess(key)) {
        mayAsk(request, reply).then(
          (refused) => (refused === undefined ? find(request, reply, access, key, done) : done(refused)),
          done,
        );
      } else find(request, reply, access, key, done);
    };

  function find(
    request: FastifyRequest,
    reply: FastifyReply,
    access: PrincipalKind,
    key: string,
    done: Done,
  ): void {
    const found = options.principals.find(key);
    if (found instanceof Promise) {
      found.then((principal) => admit(request, reply, access, principal, done), done);
    } else {
      admit(request, reply, access, found, done);
    }
  }

  /** What only the database can tell from a guess is asked for as anybody may ask: within what its address may. */
  async function mayAsk(request: FastifyRequest, reply: FastifyReply): Promise<CausewayError | undefined> {
    const verdict = await options.rateLimit.take(addressBucket(request.ip), options.publicPerMinute);
    return verdict.allowed ? undefined : announceLimit(reply, verdict);
  }

  type Done = (error?: Error) => void;

  const requireUser: onRequestHookHandler = (request, reply, done) => {
    const token = options.consoleSessions?.tokenOf(request) ?? '';
    if (token === '') return done(new CausewayError('SIGN_IN_REQUIRED'));
    admitUser(request, reply, 'console', token).then(done, done);
  };

  /** A person at the console, in place of a key of the class that the route takes. */
  async function admitUser(
    request: FastifyRequest,
    reply: FastifyReply,
    access: PrincipalKind | 'console',
    token: string,
  ): Promise<Error | undefined> {
    const sessions = options.consoleSessions;
    if (sessions?.mayBeGuess(token)) {
      const tooMany = await mayAsk(request, reply);
      if (tooMany !== undefined) return tooMany;
    }
    const principal = (await sessions?.find(token, reply)) ?? null;
    if (sessions === undefined || principal === null) throw new CausewayError('SIGN_IN_REQUIRED');
    if (access !== 'console' && principal.kind !== access) throw unauthorized(access, principal.kind);
    const refused = announceLimit(
      reply,
      await options.rateLimit.take(principal.bucket, options.partnerPerMinute),
    );
    if (refused !== undefined) return refused;
    await sessions.admit(request, reply, principal);
    request.principal = principal;
    return undefined;
  }

  function admit(
    request: FastifyRequest,
    reply: FastifyReply,
    access: PrincipalKind,
    principal: Principal | null,
    done: Done,
  ): void {
    if (principal === null) {
      refuseKey(request, reply, access, done);
    } else if (principal.kind !== access) {
      // A real key at the wrong door is a mistake, not a guess.
      request.refusedPrincipal = principal;
      done(unauthorized(access, principal.kind));
    } else {
      request.principal = principal;
      // A program that still sends a rolled key is told until when it may.
      if (principal.endsAt !== undefined) reply.header('key-ends-at', principal.endsAt.toISOString());
      limit(reply, principal.bucket, options.partnerPerMinute, done);
    }
  }

  function limit(reply: FastifyReply, bucket: string, perMinute: number, done: Done): void {
    const verdict = options.rateLimit.take(bucket, perMinute);
    if (verdict instanceof Promise) {
      verdict.then((settled) => done(announceLimit(reply, settled)), done);
    } else {
      done(announceLimit(reply, verdict));
    }
  }
}

/** A limit of one kind of call, for each partner, beside the one of all its requests. A hook of the call's own routes. */
export function limitPartner(rateLimit: RateLimit, call: string, perMinute: number) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { partnerId } = request.principal as PartnerPrincipal;
    const verdict = await rateLimit.take(`${call}:${partnerId}`, perMinute);
    if (!verdict.allowed) throw announceLimit(reply, verdict);
  };
}

/** Says how much of a limit is left; the refusal where nothing is, so that an answer tells of the limit that refused it. */
export function announceLimit(reply: FastifyReply, verdict: Verdict): CausewayError | undefined {
  // As text: a number would be turned into text twice, once to check it and once to send it.
  reply.header('ratelimit-limit', String(verdict.limit));
  reply.header('ratelimit-remaining', String(verdict.remaining));
  reply.header('ratelimit-reset', String(verdict.resetSeconds));
  if (verdict.allowed) return undefined;
  reply.header('retry-after', verdict.resetSeconds);
  return new CausewayError('RATE_LIMITED');
}
