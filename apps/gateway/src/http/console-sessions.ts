import { CausewayError } from '@causeway/protocol';
import type { Capability } from '@causeway/protocol/console';
import { can } from '@causeway/protocol/console';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Database, SYSTEM } from '../db/database.ts';
import { addressBucket } from '../lib/address-bucket.ts';
import { equalInConstantTime, randomToken, sha256Hex, TOKEN_PREFIX } from '../lib/crypto.ts';
import type { IdGenerator } from '../lib/ids.ts';
import type { Logger } from '../lib/logger.ts';
import { createRecentlySeen } from '../lib/recently-seen.ts';
import {
  type ConsoleSessionRow,
  confirmConsoleSession,
  endConsoleSession,
  findConsoleSession,
  finishConsoleActivity,
  insertConsoleActivity,
  reissueConsoleSession,
  rotateConsoleSession,
} from './console-session.store.ts';
import {
  type ConsoleUser,
  type OperatorPrincipal,
  type PartnerPrincipal,
  partnerSettingsOf,
  type VendorPrincipal,
} from './principals.ts';

/**
 * Users of the console call the same routes as keys do: the cookie of a session stands for the key, and the role says which
 * routes. It is not read where a key is sent.
 */
type WithUser<P> = P & { readonly user: ConsoleUser };
export type ConsolePrincipal =
  | WithUser<PartnerPrincipal>
  | WithUser<VendorPrincipal>
  | WithUser<OperatorPrincipal>;

export interface ConsoleSessions {
  /** The token in the cookie of a request; empty where there is none. */
  tokenOf(request: FastifyRequest): string;
  /** Whether it is of no session that was seen here: it costs a query, and may be made up. */
  mayBeGuess(token: string): boolean;
  /** Who is signed in; null where the session is over. Renews the cookie from time to time. */
  find(token: string, reply: FastifyReply): Promise<ConsolePrincipal | null>;
  /** Throws where the user may not make this request; otherwise notes it and its outcome, where it may change something. */
  admit(request: FastifyRequest, reply: FastifyReply, principal: ConsolePrincipal): Promise<void>;
  /** Throws where the request comes from a page of another site. For what is called before anybody is signed in. */
  requireOwnOrigin(request: FastifyRequest): void;
  setCookie(reply: FastifyReply, token: string): void;
  clearCookie(reply: FastifyReply): void;
}

export const CSRF_HEADER = 'x-csrf-token';
const ROTATE_AFTER_MS = 15 * 60_000;
/** How long the cookie before is still taken once the new one has come back: requests overtake each other. */
const GRACE_MS = 60_000;
const TOUCH_AFTER_MS = 60_000;
const AUDITED_LOOKS: ReadonlySet<Capability> = new Set(['personal.reveal', 'export']);
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

export interface ConsoleSessionDeps {
  readonly db: Database;
  readonly ids: IdGenerator;
  readonly logger: Logger;
  /** Of the machine: moving a sandbox’s clock signs nobody out. */
  readonly wall: () => number;
  /** Where browsers reach the service. */
  readonly baseUrl: string;
  /** A session ends by itself when nobody has used it for so long. */
  readonly idleMs: number;
  readonly requireSecondFactor: boolean;
}

/** How much of a cookie’s random part stays the same while it is renewed. */
const FAMILY_LENGTH = 22;
const familyOf = (token: string) => token.slice(0, TOKEN_PREFIX.console.length + FAMILY_LENGTH);
const SESSIONS_REMEMBERED = 10_000;
const secretPart = () => randomToken(TOKEN_PREFIX.console).slice(TOKEN_PREFIX.console.length);

/** What a cookie holds, and what is kept of it. */
export interface SessionToken {
  readonly token: string;
  readonly familyHash: string;
  readonly tokenHash: string;
}

export function newSessionToken(): SessionToken {
  return hashedToken(randomToken(TOKEN_PREFIX.console, FAMILY_LENGTH) + secretPart());
}

export function hashedToken(token: string): SessionToken {
  return { token, familyHash: sha256Hex(familyOf(token)), tokenHash: sha256Hex(token) };
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a user of the console needs to call the route; without it no user may. */
    capability?: Capability;
  }
}

export function createConsoleSessions(deps: ConsoleSessionDeps): ConsoleSessions {
  const { db, ids, logger, wall } = deps;
  const secure = deps.baseUrl.startsWith('https:');
  const ownOrigin = new URL(deps.baseUrl).origin;
  // The prefix makes a browser refuse the cookie from any other host, path or plain connection.
  const name = secure ? '__Host-cw_console' : 'cw_console';
  const pattern = new RegExp(`(?:^|;\\s*)${name}=([A-Za-z0-9_]+)`);
  // A cookie is renewed, its family stays.
  const seen = createRecentlySeen(SESSIONS_REMEMBERED);
  const attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;

  async function renew(row: ConsoleSessionRow, token: string, reply: FastifyReply): Promise<void> {
    const at = wall();
    const age = at - row.rotated_at.getTime();
    const isLost = row.is_previous && row.confirmed_at === null && age > GRACE_MS;
    if ((row.is_current && age > ROTATE_AFTER_MS) || isLost) {
      const next = familyOf(token) + secretPart();
      const change = isLost ? reissueConsoleSession : rotateConsoleSession;
      const params = [row.session_id, row.token_hash, sha256Hex(next), new Date(at)] as const;
      const [done] = await db.query(SYSTEM, change, [...params]);
      if (done !== undefined) sessions.setCookie(reply, next);
    } else if (row.is_current && (row.confirmed_at === null || at - row.seen_at.getTime() > TOUCH_AFTER_MS)) {
      await db.query(SYSTEM, confirmConsoleSession, [row.session_id, new Date(at)]);
    }
  }

  /** The browser has a newer cookie: this is a copy, and nobody knows which of the two is the owner’s. */
  async function endReplayed(row: ConsoleSessionRow): Promise<null> {
    await db.query(SYSTEM, endConsoleSession, [row.session_id, 'replayed', new Date(wall())]);
    await note(row.partner_id, row.vendor_id, row, 'session_replayed', null, 401, null);
    return null;
  }

  async function note(
    partnerId: string | null,
    vendorId: string | null,
    who: { readonly user_id: string; readonly session_id: string },
    operation: string,
    path: string | null,
    status: number | null,
    network: string | null,
  ): Promise<string> {
    const id = ids.uuid();
    const at = new Date(wall());
    const { user_id, session_id } = who;
    await db.query(SYSTEM, insertConsoleActivity, [
      ...([id, partnerId, vendorId, user_id, session_id] as const),
      ...([operation, path, status, network, at] as const),
    ]);
    return id;
  }

  function noteOutcome(activityId: string, statusCode: number): void {
    db.query(SYSTEM, finishConsoleActivity, [activityId, statusCode]).catch((error) =>
      logger.warn({ err: error }, 'the outcome of a request at the console was not noted'),
    );
  }

  function requireOwnOrigin(request: FastifyRequest): void {
    const { origin, host } = request.headers;
    const site = request.headers['sec-fetch-site'];
    // Behind a proxy the host may be another than the browser’s; a sandbox is reached by whatever name leads to it.
    const origins = [ownOrigin, `https://${host}`, ...(secure ? [] : [`http://${host}`])];
    const isOwn =
      (site === undefined || site === 'same-origin') && (origin === undefined || origins.includes(origin));
    if (!isOwn) throw new CausewayError('CSRF_TOKEN_INVALID');
  }

  const sessions: ConsoleSessions = {
    tokenOf: (request) => pattern.exec(request.headers.cookie ?? '')?.[1] ?? '',
    mayBeGuess: (token) => !seen.has(familyOf(token)),
    requireOwnOrigin,

    async find(token, reply) {
      const at = wall();
      const { familyHash, tokenHash } = hashedToken(token);
      const idleSince = new Date(at - deps.idleMs);
      const [row] = await db.query(SYSTEM, findConsoleSession, [
        familyHash,
        tokenHash,
        new Date(at),
        idleSince,
      ]);
      if (row === undefined) {
        seen.delete(familyOf(token));
        return null;
      }
      seen.add(familyOf(token));
      const overtaken =
        row.is_previous && (row.confirmed_at === null || at - row.confirmed_at.getTime() <= GRACE_MS);
      if (!row.is_current && !overtaken) return endReplayed(row);
      await renew(row, token, reply);
      return principalOf(db, row, deps.requireSecondFactor && !row.has_second_factor);
    },

    async admit(request, reply, principal) {
      const { capability } = request.routeOptions.config;
      const { user } = principal;
      const changes = !SAFE_METHODS.has(request.method);
      if (changes) {
        requireOwnOrigin(request);
        requireCsrfToken(request, user);
      }
      // Looks at what is kept from most are on record as well.
      if (changes || (capability !== undefined && AUDITED_LOOKS.has(capability))) {
        const operation = (request.routeOptions.schema as { operationId?: string } | undefined)?.operationId;
        const activityId = await note(
          principal.kind === 'partner' ? principal.partnerId : null,
          principal.kind === 'vendor' ? principal.vendorId : null,
          { user_id: user.userId, session_id: user.sessionId },
          operation ?? 'unknown',
          request.url.split('?', 1)[0] ?? '',
          null,
          addressBucket(request.ip),
        );
        reply.raw.once('finish', () => noteOutcome(activityId, reply.statusCode));
      }
      if (capability === undefined || !can(user.role, capability)) {
        throw new CausewayError('FORBIDDEN', {
          details: { role: user.role, required_capability: capability ?? 'none' },
        });
      }
      // The one place where a session without its second factor is kept to what adds one.
      if (user.mustAddSecondFactor && capability !== 'own.account') {
        throw new CausewayError('SECOND_FACTOR_REQUIRED');
      }
    },

    setCookie(reply, token) {
      seen.add(familyOf(token));
      reply.header('set-cookie', `${name}=${token}; ${attributes}`);
    },
    clearCookie(reply) {
      reply.header('set-cookie', `${name}=; Max-Age=0; ${attributes}`);
    },
  };
  return sessions;
}

/** A page of another site can make a browser send a request, but not read the token, and cannot set the header. */
function requireCsrfToken(request: FastifyRequest, user: ConsoleUser): void {
  const given = request.headers[CSRF_HEADER];
  if (typeof given === 'string' && equalInConstantTime(given, user.csrfToken)) return;
  throw new CausewayError('CSRF_TOKEN_INVALID');
}

async function principalOf(
  db: Database,
  row: ConsoleSessionRow,
  mustAddSecondFactor: boolean,
): Promise<ConsolePrincipal> {
  const user: ConsoleUser = {
    userId: row.user_id,
    sessionId: row.session_id,
    role: row.role,
    email: row.email,
    name: row.name,
    csrfToken: row.csrf_token,
    signedInAt: row.created_at,
    mustAddSecondFactor,
  };
  const owner = { keyId: row.user_id, bucket: `console:${row.user_id}`, user };
  if (row.partner_id !== null) {
    const partner = await partnerSettingsOf(db, row.partner_id);
    return { kind: 'partner', partnerId: row.partner_id, partner, ...owner };
  }
  if (row.vendor_id !== null) return { kind: 'vendor', vendorId: row.vendor_id, ...owner };
  return { kind: 'operator', ...owner };
}
