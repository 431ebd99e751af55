import { literals, Reason, Timestamp, Uuid } from '@causeway/protocol';
import { Type } from 'typebox';
import type { ApiKeyRow } from './accounts/keys.store.ts';

/** A character of one line: no control, and no half of a surrogate pair, which no JSON document in the database can hold. */
const LINE = '[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]';

export const Name = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: `^(?! )${LINE}*(?<! )$`,
  description: 'Unique; no space at either end',
  examples: ['Acme Payments'],
});

export const Label = Type.String({
  maxLength: 200,
  pattern: `^${LINE}*$`,
  description: 'What the key is for',
  examples: ['production servers'],
});

export const OptionalReason = Type.Optional(Reason);
/** An audit entry always has a reason; an operator who gives none is on record with that. */
export const NO_REASON = 'not stated';

const KIND = literals(['secret', 'widget', 'vendor', 'operator']);

const described = {
  key_id: Uuid,
  kind: KIND,
  hint: Type.String({
    description: 'Enough to recognise the key by, too little to use it',
    examples: ['cw_test_…x4Qz'],
  }),
  label: Type.String(),
  created_at: Timestamp,
};

export const KeySchema = Type.Object({
  ...described,
  revoked_at: Type.Union([Timestamp, Type.Null()]),
});

export const NewKeySchema = Type.Object({
  ...described,
  key: Type.String({ description: 'Shown this once; only its hash is kept' }),
});

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
export function wireKind(kind: ApiKeyRow['kind']): 'secret' | Exclude<ApiKeyRow['kind'], 'partner'> {
  return kind === 'partner' ? 'secret' : kind;
}
