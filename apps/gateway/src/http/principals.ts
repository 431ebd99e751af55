import type { Role } from '@causeway/protocol/console';
import { type Database, SYSTEM } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import { statement } from '../db/statement.ts';
import type { Clock } from '../lib/clock.ts';
import { sha256Hex, TOKEN_PREFIX } from '../lib/crypto.ts';
import type { Logger } from '../lib/logger.ts';
import { createRecentlySeen } from '../lib/recently-seen.ts';

/**
 * Who a key belongs to. Keys are looked up in memory; a notification refreshes the snapshot in every process
 * at once, and while notifications may be missed the database is asked instead, so that a revoked key is
 * refused everywhere within a second.
 */
/** A person at the console. */
export interface ConsoleUser {
  readonly userId: string;
  readonly sessionId: string;
  readonly role: Role;
  readonly email: string;
  readonly name: string;
  readonly csrfToken: string;
  /** By the machine’s clock. */
  readonly signedInAt: Date;
  /** The deployment asks for a second factor and the user has none: nothing but the own account can be used. */
  readonly mustAddSecondFactor: boolean;
}

interface KeyOwner {
  readonly keyId: string;
  /** What the requests of this owner are counted under. Kept, because making it anew at every request costs. */
  readonly bucket: string;
  /** Of a rolled key: it is refused from then on. */
  readonly endsAt?: Date;
  /** Where a person at the console calls in place of a key; keyId is then the user’s. */
  readonly user?: ConsoleUser;
}
export interface PartnerPrincipal extends KeyOwner {
  readonly kind: 'partner';
  readonly partnerId: string;
  readonly partner: PartnerSettings;
}
export interface WidgetPrincipal extends KeyOwner {
  readonly kind: 'widget';
  readonly partnerId: string;
  readonly partner: PartnerSettings;
}
/** A customer at the widget. */
export interface SessionPrincipal extends KeyOwner {
  readonly kind: 'session';
  readonly sessionId: string;
  readonly partnerId: string;
  readonly partner: PartnerSettings;
  /** Null until it is known who it is. */
  readonly userId: string | null;
}
export interface VendorPrincipal extends KeyOwner {
  readonly kind: 'vendor';
  readonly vendorId: string;
}
export interface OperatorPrincipal extends KeyOwner {
  readonly kind: 'operator';
  /** Who made the key: it counts as that person. Absent for a key that was installed, and for a user. */
  readonly maker?: KeyMaker;
}

/** The user who made a key, or the first of the keys that made it where no user did. */
export type KeyMaker =
  | { readonly userId: string; readonly keyId: null }
  | { readonly userId: null; readonly keyId: string };

/** Of a key that this caller makes: whoever makes keys does not become several persons. */
export function makerFor({ user, maker, keyId }: OperatorPrincipal): KeyMaker {
  if (user !== undefined) return { userId: user.userId, keyId: null };
  return maker ?? { userId: null, keyId };
}

/** Whom the caller counts as where two persons have to agree. */
export function personOf(operator: OperatorPrincipal): string {
  const { userId, keyId } = makerFor(operator);
  return userId ?? keyId;
}
export type Principal =
  | PartnerPrincipal
  | WidgetPrincipal
  | SessionPrincipal
  | VendorPrincipal
  | OperatorPrincipal;
export type PrincipalKind = Principal['kind'];
/** Of a key that an operator issues; a session’s token is issued to its customer. */
export type KeyKind = Exclude<PrincipalKind, 'session'>;

/** What every request of a partner needs to know about it, so that no request has to ask. */
export interface PartnerSettings {
  readonly name: string;
  readonly settlementChain: string;
  readonly walletAddress: string;
  /** Decimal string. */
  readonly platformFeePct: string;
  readonly fiatAccountsEnabled: boolean;
  /** Whose pages may show its widget. */
  readonly widgetOrigins: readonly string[];
}

interface PartnerColumns {
  partner_name: string | null;
  settlement_chain: string | null;
  wallet_address: string | null;
  platform_fee_pct: string | null;
  fiat_accounts_enabled: boolean | null;
  widget_origins: string[] | null;
}

interface KeyRow extends PartnerColumns {
  key_id: string;
  kind: KeyKind;
  owner_id: string | null;
  key_hash: string;
  created_by_user_id: string | null;
  created_by_key_id: string | null;
  ends_at: Date | null;
}

interface SessionRow extends PartnerColumns {
  session_id: string;
  partner_id: string;
  user_id: string | null;
  has_code: boolean;
}

const PARTNER_COLUMNS = `p.name AS partner_name, p.settlement_chain, p.wallet_address,
  trim_scale(p.platform_fee_pct)::text AS platform_fee_pct, p.fiat_accounts_enabled, p.widget_origins`;
const KEY_COLUMNS = `k.key_id, k.kind, k.owner_id, k.key_hash, k.ends_at, k.created_by_user_id, k.created_by_key_id, ${PARTNER_COLUMNS}`;
const LIVE_KEYS =
  'FROM api_keys k LEFT JOIN partners p ON p.partner_id = k.owner_id WHERE k.revoked_at IS NULL';

const allLiveKeys = statement<[at: Date], KeyRow>(
  'keys.live',
  `SELECT ${KEY_COLUMNS} ${LIVE_KEYS} AND (k.ends_at IS NULL OR k.ends_at > $1)`,
);
const liveKeyByHash = statement<[hash: string], KeyRow>(
  'keys.live_by_hash',
  `SELECT ${KEY_COLUMNS} ${LIVE_KEYS} AND k.key_hash = $1`,
);

/** A session ends with the key that it was started with. */
const liveSession = statement<[tokenHash: string, at: Date], SessionRow>(
  'widget_sessions.live',
  `SELECT s.session_id, s.partner_id, s.user_id, s.code_hash IS NOT NULL AS has_code, ${PARTNER_COLUMNS}
     FROM widget_sessions s JOIN partners p USING (partner_id) LEFT JOIN api_keys k USING (key_id)
    WHERE s.token_hash = $1 AND s.expires_at > $2 AND s.ended_at IS NULL AND k.revoked_at IS NULL
      AND (k.ends_at IS NULL OR k.ends_at > $2)`,
);

/** The first use of a token: from here on the code that gave it gives no other one. */
const dropCode = statement<[tokenHash: string], { session_id: string }>(
  'widget_sessions.drop_code',
  `UPDATE widget_sessions SET code_hash = NULL, code_expires_at = NULL WHERE token_hash = $1 RETURNING session_id`,
);

const partnerById = statement<[partnerId: string], PartnerColumns>(
  'partners.settings',
  `SELECT ${PARTNER_COLUMNS} FROM partners p WHERE p.partner_id = $1`,
);

/** For a caller that shows no key of the partner’s. */
export async function partnerSettingsOf(db: Database, partnerId: string): Promise<PartnerSettings> {
  const [row] = await db.query(SYSTEM, partnerById, [partnerId]);
  if (row === undefined) throw new Error(`partner ${partnerId} is not there`);
  return settingsOf(row);
}

export interface Principals {
  /** The key's owner, or null. Synchronous unless notifications may have been missed. */
  find(key: string): Principal | null | Promise<Principal | null>;
  /** Whether finding it costs a query although it was never seen to be good here: it may be a guess. */
  mayBeGuess(key: string): boolean;
  /** The key's owner where no query is needed to know it; of a session it always is. */
  inMemory(key: string): Principal | null;
  /** The owner of a key that was used before, where memory knows it for sure: nothing is looked up. */
  known(key: string): Principal | null;
  refresh(): Promise<void>;
}

// Longer values cannot be keys of ours; refusing them early keeps the hash cheap.
const MAX_KEY_LENGTH = 200;
const SESSIONS_REMEMBERED = 20_000;

export function createPrincipals(
  db: Database,
  listener: Listener,
  clock: Pick<Clock, 'date'>,
  logger: Logger,
): Principals {
  let byHash = new Map<string, Principal>();
  // Hashing costs more than the rest of the look-up; keys seen since the last refresh need none.
  let byKey = new Map<string, Principal>();
  const goodSessions = createRecentlySeen(SESSIONS_REMEMBERED);
  let refreshing: Promise<void> | undefined;
  let again = false;
  // False when the last refresh failed: memory may then hold a key that was revoked meanwhile.
  let trusted = false;

  async function load(): Promise<void> {
    do {
      again = false;
      const rows = await db.query(SYSTEM, allLiveKeys, [clock.date()]);
      byHash = new Map(rows.map((row) => [row.key_hash, principalOf(row)]));
      byKey = new Map();
    } while (again);
    trusted = true;
  }

  function refresh(): Promise<void> {
    again = true;
    trusted = false;
    refreshing ??= load().finally(() => {
      refreshing = undefined;
    });
    return refreshing;
  }

  function refreshInBackground(): void {
    refresh().catch((error) => logger.error({ err: error }, 'refreshing keys failed'));
  }
  listener.on('keys_changed', refreshInBackground);
  listener.onConnected(refreshInBackground);

  /** Sessions are many and short, so that they are asked for one by one. */
  async function findSession(token: string): Promise<Principal | null> {
    const hash = sha256Hex(token);
    const [found] = await db.query(SYSTEM, liveSession, [hash, clock.date()]);
    // Not where the code has given another token in this moment.
    const isLast = found?.has_code !== true || (await db.query(SYSTEM, dropCode, [hash])).length > 0;
    const row = isLast ? found : undefined;
    if (row === undefined) {
      goodSessions.delete(token);
      return null;
    }
    goodSessions.add(token);
    const { session_id: sessionId, partner_id: partnerId, user_id: userId } = row;
    const bucket = `session:${sessionId}`;
    return {
      kind: 'session',
      keyId: sessionId,
      bucket,
      sessionId,
      partnerId,
      partner: settingsOf(row),
      userId,
    };
  }

  /** Nothing is announced when a rolled key ends: each use looks at the time. */
  const unlessEnded = (principal: Principal | null): Principal | null =>
    principal?.endsAt !== undefined && principal.endsAt <= clock.date() ? null : principal;

  const isCurrent = () => listener.healthy && trusted;

  function remembered(key: string): Principal | null {
    const seen = byKey.get(key);
    if (seen !== undefined) return unlessEnded(seen);
    const principal = byHash.get(sha256Hex(key)) ?? null;
    // Only real keys are remembered, so guesses cannot fill the memory.
    if (principal !== null) byKey.set(key, principal);
    return unlessEnded(principal);
  }

  return {
    refresh,
    mayBeGuess(key) {
      if (key.length > MAX_KEY_LENGTH) return false;
      if (key.startsWith(TOKEN_PREFIX.session)) return !goodSessions.has(key);
      return !isCurrent() && !byHash.has(sha256Hex(key));
    },
    inMemory: (key) => (isCurrent() && key.length <= MAX_KEY_LENGTH ? remembered(key) : null),
    known: (key) => unlessEnded((isCurrent() ? byKey.get(key) : undefined) ?? null),
    find(key) {
      if (key.length > MAX_KEY_LENGTH) return null;
      if (key.startsWith(TOKEN_PREFIX.session)) return findSession(key);
      if (isCurrent()) return remembered(key);
      if (!trusted && refreshing === undefined) refreshInBackground();
      return db
        .query(SYSTEM, liveKeyByHash, [sha256Hex(key)])
        .then((rows) => (rows[0] === undefined ? null : unlessEnded(principalOf(rows[0]))));
    },
  };
}

function principalOf(row: KeyRow): Principal {
  const { key_id: keyId, owner_id: ownerId } = row;
  const key = { keyId, ...(row.ends_at === null ? {} : { endsAt: row.ends_at }) };
  if (row.kind === 'operator') {
    const maker = makerOf(row);
    return { kind: 'operator', ...key, bucket: `operator:${keyId}`, ...(maker === null ? {} : { maker }) };
  }
  if (ownerId === null) throw new Error(`key ${keyId} has no owner`);
  if (row.kind === 'vendor')
    return { kind: 'vendor', ...key, bucket: `vendor:${ownerId}`, vendorId: ownerId };
  return {
    kind: row.kind,
    ...key,
    bucket: `${row.kind}:${ownerId}`,
    partnerId: ownerId,
    partner: settingsOf(row),
  };
}

function makerOf({ created_by_user_id: userId, created_by_key_id: keyId }: KeyRow): KeyMaker | null {
  if (userId !== null) return { userId, keyId: null };
  return keyId === null ? null : { userId: null, keyId };
}

function settingsOf(row: PartnerColumns): PartnerSettings {
  return {
    name: row.partner_name ?? '',
    settlementChain: row.settlement_chain ?? '',
    walletAddress: row.wallet_address ?? '',
    platformFeePct: row.platform_fee_pct ?? '0',
    fiatAccountsEnabled: row.fiat_accounts_enabled ?? false,
    widgetOrigins: row.widget_origins ?? [],
  };
}
