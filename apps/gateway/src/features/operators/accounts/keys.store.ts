import { statement } from '../../../db/statement.ts';
import type { KeyKind } from '../../../http/principals.ts';

export interface ApiKeyRow {
  key_id: string;
  kind: KeyKind;
  owner_id: string | null;
  hint: string;
  label: string;
  created_at: Date;
  revoked_at: Date | null;
}

const COLUMNS = 'key_id, kind, owner_id, hint, label, created_at, revoked_at';

export const insertKey = statement<
  [
    keyId: string,
    kind: KeyKind,
    ownerId: string | null,
    keyHash: string,
    hint: string,
    label: string,
    at: Date,
  ]
>(
  'operators.insert_key',
  `INSERT INTO api_keys (key_id, kind, owner_id, key_hash, hint, label, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);

export const lockKey = statement<[keyId: string], ApiKeyRow>(
  'operators.lock_key',
  `SELECT ${COLUMNS} FROM api_keys WHERE key_id = $1 FOR UPDATE`,
);

/** In one order, so that two revocations at once wait for each other instead of for themselves. */
export const lockLiveOperatorKeys = statement<[], { key_id: string }>(
  'operators.lock_live_operator_keys',
  `SELECT key_id FROM api_keys WHERE kind = 'operator' AND revoked_at IS NULL ORDER BY key_id FOR UPDATE`,
);

export const markRevoked = statement<[keyId: string, at: Date]>(
  'operators.revoke_key',
  'UPDATE api_keys SET revoked_at = $2 WHERE key_id = $1 AND revoked_at IS NULL',
);

/** Without an owner: the operators' own keys. */
export const keysOfOwner = statement<[ownerId: string | null, limit: number, offset: number], ApiKeyRow>(
  'operators.keys_of_owner',
  `SELECT ${COLUMNS} FROM api_keys WHERE owner_id IS NOT DISTINCT FROM $1
    ORDER BY created_at DESC, key_id DESC LIMIT $2 OFFSET $3`,
);

export const countKeysOfOwner = statement<[ownerId: string | null], { total: string }>(
  'operators.count_keys_of_owner',
  'SELECT count(*) AS total FROM api_keys WHERE owner_id IS NOT DISTINCT FROM $1',
);
