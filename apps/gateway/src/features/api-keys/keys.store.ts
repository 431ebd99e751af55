import { statement } from '../../db/statement.ts';
import type { KeyKind } from '../../http/principals.ts';

export interface ApiKeyRow {
  key_id: string;
  kind: KeyKind;
  owner_id: string | null;
  hint: string;
  label: string;
  created_at: Date;
  revoked_at: Date | null;
  /** Of a rolled key. */
  ends_at: Date | null;
  replaced_by: string | null;
}

export interface ListedKeyRow extends ApiKeyRow {
  last_used_at: Date | null;
}

const COLUMNS = 'key_id, kind, owner_id, hint, label, created_at, revoked_at, ends_at, replaced_by';

export const insertKey = statement<
  [
    keyId: string,
    kind: KeyKind,
    ownerId: string | null,
    keyHash: string,
    hint: string,
    label: string,
    at: Date,
    createdByUserId: string | null,
    createdByKeyId: string | null,
  ]
>(
  'api_keys.insert',
  `INSERT INTO api_keys (key_id, kind, owner_id, key_hash, hint, label, created_at, created_by_user_id, created_by_key_id)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

export const lockKey = statement<[keyId: string], ApiKeyRow>(
  'api_keys.lock',
  `SELECT ${COLUMNS} FROM api_keys WHERE key_id = $1 FOR UPDATE`,
);

/** In one order, so that two revocations at once wait for each other instead of for themselves. */
export const lockLiveOperatorKeys = statement<[], { key_id: string }>(
  'api_keys.lock_live_operator_keys',
  `SELECT key_id FROM api_keys WHERE kind = 'operator' AND revoked_at IS NULL ORDER BY key_id FOR UPDATE`,
);

export const markRevoked = statement<[keyId: string, at: Date]>(
  'api_keys.revoke',
  'UPDATE api_keys SET revoked_at = $2 WHERE key_id = $1 AND revoked_at IS NULL',
);

/** The key works on until then. */
export const markRolled = statement<[keyId: string, replacedBy: string, endsAt: Date]>(
  'api_keys.roll',
  'UPDATE api_keys SET replaced_by = $2, ends_at = $3 WHERE key_id = $1',
);

/** Without an owner: the operators' own keys. */
export const keysOfOwner = statement<[ownerId: string | null, limit: number, offset: number], ListedKeyRow>(
  'api_keys.of_owner',
  `SELECT ${COLUMNS.replaceAll(/\w+/g, 'k.$&')}, u.last_used_at
     FROM api_keys k LEFT JOIN api_key_uses u USING (key_id) WHERE k.owner_id IS NOT DISTINCT FROM $1
    ORDER BY created_at DESC, key_id DESC LIMIT $2 OFFSET $3`,
);

export const countKeysOfOwner = statement<[ownerId: string | null], { total: string }>(
  'api_keys.count_of_owner',
  'SELECT count(*) AS total FROM api_keys WHERE owner_id IS NOT DISTINCT FROM $1',
);

/** Keys of an owner are counted and made one after another. */
export const lockKeysOf = statement<[ownerId: string]>(
  'api_keys.lock_of',
  `SELECT pg_advisory_xact_lock(hashtextextended('api_keys:' || $1::uuid::text, 0))`,
);

export const countLiveKeys = statement<[ownerId: string, at: Date], { total: string }>(
  'api_keys.count_live',
  `SELECT count(*) AS total FROM api_keys
    WHERE owner_id = $1 AND revoked_at IS NULL AND (ends_at IS NULL OR ends_at > $2)`,
);
