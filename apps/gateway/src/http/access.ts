import { CausewayError, type ErrorCode } from '@causeway/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Principal, PrincipalKind, Principals } from './principals.ts';
import type { RateLimit, Verdict } from './rate-limit.ts';

/**
 * Who may call a route, and how often. It runs before the body is read: a request without a key costs
 * nothing and learns nothing. Every route under /api must declare its access, or the server does not start.
 */
export type Access = PrincipalKind | 'public' | 'open';

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
  }
}

export interface AccessOptions {
  readonly principals: Principals;
  readonly rateLimit: RateLimit;
  readonly partnerPerMinute: number;
  readonly publicPerMinute: number;
}

export function registerAccess(app: FastifyInstance, options: AccessOptions): void {
  app.decorateRequest('principal', null);
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
    const hook = hooks.get(access) ?? (access === 'public' ? limitAddress : requireKey(access));
    hooks.set(access, hook);
    const declared = [route.onRequest ?? []].flat();
    // Fastify derives a HEAD route from a GET route that already has it.
    if (!declared.includes(hook)) route.onRequest = [...declared, hook];
  });

  // The address itself is the bucket: it stays the same string for a whole connection, so finding it hashes nothing.
  const limitAddress: onRequestHookHandler = (request, reply, done) =>
    limit(reply, request.ip, options.publicPerMinute, done);

  const requireKey =
    (access: PrincipalKind): onRequestHookHandler =>
    (request, reply, done) => {
      const key = request.headers['x-api-key'];
      if (typeof key !== 'string' || key === '') return done(new CausewayError('UNAUTHORIZED'));
      const found = options.principals.find(key);
      if (found instanceof Promise) {
        found.then((principal) => admit(request, reply, access, principal, done), done);
      } else {
        admit(request, reply, access, found, done);
      }
    };

  type Done = (error?: Error) => void;

  function admit(
    request: FastifyRequest,
    reply: FastifyReply,
    access: PrincipalKind,
    principal: Principal | null,
    done: Done,
  ): void {
    if (principal === null || principal.kind !== access) {
      done(new CausewayError('UNAUTHORIZED'));
      return;
    }
    request.principal = principal;
    limit(reply, principal.bucket, options.partnerPerMinute, done);
  }

  function limit(reply: FastifyReply, bucket: string, perMinute: number, done: Done): void {
    const verdict = options.rateLimit.take(bucket, perMinute);
    if (verdict instanceof Promise) {
      verdict.then((settled) => announce(reply, settled, done), done);
    } else {
      announce(reply, verdict, done);
    }
  }
}

function announce(reply: FastifyReply, verdict: Verdict, done: (error?: Error) => void): void {
  // As text: a number would be turned into text twice, once to check it and once to send it.
  reply.header('ratelimit-limit', String(verdict.limit));
  reply.header('ratelimit-remaining', String(verdict.remaining));
  reply.header('ratelimit-reset', String(verdict.resetSeconds));
  if (verdict.allowed) {
    done();
    return;
  }
  reply.header('retry-after', verdict.resetSeconds);
  done(new CausewayError('RATE_LIMITED'));
}
