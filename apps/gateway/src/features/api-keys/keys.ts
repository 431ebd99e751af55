import { CausewayError } from '@causeway/protocol';
import type { Database, Scope } from '../../db/database.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { KeyKind, KeyMaker, Principals } from '../../http/principals.ts';
import { randomToken, sha256Hex, TOKEN_PREFIX, type TokenPrefix } from '../../lib/crypto.ts';
import {
  type ApiKeyRow,
  countKeysOfOwner,
  countLiveKeys,
  insertKey,
  keysOfOwner,
  type ListedKeyRow,
  lockKey,
  lockKeysOf,
  lockLiveOperatorKeys,
  markRevoked,
  markRolled,
} from './keys.store.ts';

/** Who may call: keys of partners, their widgets, vendors and operators, whoever manages them. */

/** An audit entry always has a reason; an operator who gives none is on record with that. */
export const NO_REASON = 'not stated';

export interface KeyOwner {
  readonly kind: KeyKind;
  /** Null for an operator. */
  readonly ownerId: string | null;
}

/** The owner, so that one look into the audit log shows all that happened to a partner. */
export function keySubject({ kind, ownerId }: KeyOwner, keyId: string): string {
  if (kind === 'operator') return `operator-keys/${keyId}`;
  return `${kind === 'vendor' ? 'vendors' : 'partners'}/${ownerId}`;
}

/** Makes a key. What is answered here is the only copy of it there will ever be. */
export function issueKey(
  unit: UnitOfWork,
  sandbox: boolean,
  owner: KeyOwner,
  label: string,
  maker?: KeyMaker,
) {
  const prefix = prefixOf(owner.kind, sandbox);
  const key = randomToken(prefix);
  const keyId = unit.ids.uuid();
  const hint = `${prefix}…${key.slice(-4)}`;
  unit.tx.defer(insertKey, [
    keyId,
    owner.kind,
    owner.ownerId,
    sha256Hex(key),
    hint,
    label,
    unit.at,
    maker?.userId ?? null,
    maker?.keyId ?? null,
  ]);
  return {
    key_id: keyId,
    kind: wireKind(owner.kind),
    hint,
    label,
    created_at: unit.at.toISOString(),
    key,
  };
}

function prefixOf(kind: KeyKind, sandbox: boolean): TokenPrefix {
  if (kind !== 'partner') return TOKEN_PREFIX[kind];
  return sandbox ? TOKEN_PREFIX.partnerTest : TOKEN_PREFIX.partnerLive;
}

/** Revokes a key of any kind; `changed` is false where it was revoked before. */
export async function revokeKey(
  unit: UnitOfWork,
  keyId: string,
): Promise<{ readonly key: ApiKeyRow; readonly changed: boolean }> {
  // Taken before the key itself: two operators who revoke each other must not both succeed, nor wait in a circle.
  const operatorKeys = await unit.tx.query(lockLiveOperatorKeys, []);
  const [key] = await unit.tx.query(lockKey, [keyId]);
  if (key === undefined) throw new CausewayError('KEY_NOT_FOUND');
  if (key.revoked_at !== null) return { key, changed: false };
  if (key.kind === 'operator' && operatorKeys.length === 1) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'This is the last operator key; make another one first.',
    });
  }
  unit.tx.defer(markRevoked, [keyId, unit.at]);
  return { key: { ...key, revoked_at: unit.at }, changed: true };
}

const LIVE_KEYS_OF_OWNER = 100;

/** Every process keeps every key that works: who makes keys of its own has so many at most. */
export async function requireRoomForKey(unit: UnitOfWork, ownerId: string): Promise<void> {
  await unit.tx.query(lockKeysOf, [ownerId]);
  const [live] = await unit.tx.query(countLiveKeys, [ownerId, unit.at]);
  if (Number(live?.total ?? 0) < LIVE_KEYS_OF_OWNER) return;
  throw new CausewayError('OPERATION_NOT_ALLOWED', {
    message: `There are ${LIVE_KEYS_OF_OWNER} keys that work already; revoke one that is not used any more.`,
  });
}

const HOUR_MS = 3_600_000;

/**
 * Makes a key in place of another one. Both work until the grace is over; without a grace the old one ends at once. A key is
 * rolled once: who needs more time than was chosen makes another key.
 */
export async function rollKey(unit: UnitOfWork, sandbox: boolean, keyId: string, graceHours: number) {
  const [old] = await unit.tx.query(lockKey, [keyId]);
  if (old === undefined) throw new CausewayError('KEY_NOT_FOUND');
  if (keyStatus(old, unit.at) !== 'live') {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'This key was rolled or revoked before; roll the key that took its place, or create one.',
    });
  }
  if (old.owner_id !== null) await requireRoomForKey(unit, old.owner_id);
  const key = issueKey(unit, sandbox, { kind: old.kind, ownerId: old.owner_id }, old.label);
  const endsAt = new Date(unit.at.getTime() + graceHours * HOUR_MS);
  unit.tx.defer(markRolled, [keyId, key.key_id, endsAt]);
  return { key, old, endsAt };
}

type KeyStatus = 'live' | 'ending' | 'ended' | 'revoked';

function keyStatus({ revoked_at, ends_at }: ApiKeyRow, at: Date): KeyStatus {
  if (revoked_at !== null) return 'revoked';
  if (ends_at === null) return 'live';
  return ends_at > at ? 'ending' : 'ended';
}

export async function listKeys(
  db: Database,
  scope: Scope,
  ownerId: string | null,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: readonly ListedKeyRow[]; readonly total: number }> {
  const [rows, [count]] = await db.transaction(scope, (tx) =>
    tx.queryBoth(keysOfOwner, [ownerId, page.limit, page.offset], countKeysOfOwner, [ownerId]),
  );
  return { rows, total: Number(count?.total ?? 0) };
}

/**
 * Lets this process know at once what it has just committed; the others hear of it by notification. A refresh that
 * fails makes the memory untrusted, and the database is asked instead, so the answer need not wait for another try.
 */
export async function seeChangedKeys(principals: Pick<Principals, 'refresh'>): Promise<void> {
  await principals.refresh().catch(() => undefined);
}

export function keyView(row: ApiKeyRow) {
  return {
    key_id: row.key_id,
    kind: wireKind(row.kind),
    hint: row.hint,
    label: row.label,
    created_at: row.created_at.toISOString(),
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}

/** As lists show it, to its owner and to operators. */
export function listedKeyView(row: ListedKeyRow, at: Date) {
  return {
    ...keyView(row),
    status: keyStatus(row, at),
    ends_at: row.ends_at?.toISOString() ?? null,
    replaced_by: row.replaced_by,
    last_used_at: row.last_used_at?.toISOString() ?? null,
  };
}

/** A partner has two kinds of key; the one that is not public is called secret outside. */
function wireKind(kind: ApiKeyRow['kind']): 'secret' | Exclude<ApiKeyRow['kind'], 'partner'> {
  return kind === 'partner' ? 'secret' : kind;
}
