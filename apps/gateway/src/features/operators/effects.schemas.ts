import { EvmAddress, literals, Timestamp, Uuid } from '@causeway/protocol';
import { type Static, Type } from 'typebox';
import type { DeskIntentRow } from '../../engine/stuck-intents.store.ts';
import { remediesOf } from './stuck-effects.ts';

export const EFFECT_STATES = ['failed', 'unknown', 'late'] as const;

export const EffectSchema = Type.Object({
  effect_id: Uuid,
  kind: Type.String({ examples: ['escrow.release'] }),
  status: literals(['prepared', 'submitted', 'unknown', 'confirmed', 'failed']),
  late: Type.Boolean({ description: 'Due for more than two minutes, and nobody has taken it up' }),
  order_id: Type.Union([Uuid, Type.Null()]),
  partner_id: Type.Union([Uuid, Type.Null()]),
  attempts: Type.Integer({ examples: [3] }),
  last_error: Type.Union([Type.String(), Type.Null()], {
    examples: ['no other owner of the escrow has signed'],
  }),
  next_attempt_at: Type.Union([Timestamp, Type.Null()]),
  transaction: Type.Union([
    Type.Object({
      chain_id: Type.Integer({ examples: [8453] }),
      status: literals(['open', 'succeeded', 'reverted']),
      sender: EvmAddress,
      nonce: Type.Integer({ examples: [17] }),
      tx_hashes: Type.Array(Type.String(), { description: 'One a price; the chain takes one of them' }),
    }),
    Type.Null(),
  ]),
  remedies: Type.Array(literals(['retry', 'give-up']), { description: 'What an operator can do about it' }),
  created_at: Timestamp,
  settled_at: Type.Union([Timestamp, Type.Null()]),
});

type Effect = Static<typeof EffectSchema>;

export function effectView(row: DeskIntentRow): Effect {
  const isOpen = row.settled_at === null;
  return {
    effect_id: row.intent_id,
    kind: row.kind,
    status: row.status,
    late: row.is_late,
    order_id: row.order_id,
    partner_id: row.partner_id,
    attempts: row.attempts,
    last_error: row.last_error,
    next_attempt_at: isOpen ? row.run_at.toISOString() : null,
    transaction:
      row.transaction === null
        ? null
        : {
            ...row.transaction,
            status: row.transaction.status as NonNullable<Effect['transaction']>['status'],
            tx_hashes: [...row.transaction.tx_hashes],
          },
    remedies: remediesOf(row),
    created_at: row.created_at.toISOString(),
    settled_at: row.settled_at?.toISOString() ?? null,
  };
}
