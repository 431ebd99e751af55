import { CausewayError } from '@causeway/protocol';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import type { KeyKind, Principals } from '../../../http/principals.ts';
import { randomToken, sha256Hex, TOKEN_PREFIX, type TokenPrefix } from '../../../lib/crypto.ts';
import { type ApiKeyRow, insertKey, lockKey, lockLiveOperatorKeys, markRevoked } from './keys.store.ts';

/** An audit entry always has a reason; an operator who gives none is on record with that. */
export const NO_REASON = 'not stated';

export interface KeyOwner {
  readonly kind: KeyKind;
  /** Null for an operator. */
  readonly ownerId: string | null;
}

/** Makes a key. What is answered here is the only copy of it there will ever be. */
export function issueKey(unit: UnitOfWork, sandbox: boolean, owner: KeyOwner, label: string) {
  const prefix = prefixOf(owner.kind, sandbox);
  const key = randomToken(prefix);
  const keyId = unit.ids.uuid();
  const hint = `${prefix}…${key.slice(-4)}`;
  unit.tx.defer(insertKey, [keyId, owner.kind, owner.ownerId, sha256Hex(key), hint, label, unit.at]);
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

/** A partner has two kinds of key; the one that is not public is called secret outside. */
function wireKind(kind: ApiKeyRow['kind']): 'secret' | Exclude<ApiKeyRow['kind'], 'partner'> {
  return kind === 'partner' ? 'secret' : kind;
}
