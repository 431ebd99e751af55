import { CausewayError, CHAIN_TRANSACTION_DISPLACED, type EffectSchema } from '@causeway/protocol';
import type { Static } from 'typebox';
import { effectOf } from '../../../engine/effects.ts';
import {
  type BackofficeIntentRow,
  closeIntent,
  hurryIntent,
  lockStuckIntent,
} from '../../../engine/stuck-intents.store.ts';
import type { UnitOfWork } from '../../../engine/unit-of-work.ts';
import { reportFacts } from '../../orders/lifecycle/act-on-order.ts';
import type { OrderAdapters } from '../../orders/lifecycle/order.adapter.ts';

/** What an operator may do about an effect that does not get on by itself. */
export type EffectRemedy = 'retry' | 'give-up';

/** A worker looks every quarter of a second; what has been due for this long is not being worked on. */
const LATE_SECONDS = 120;

export function lateBefore(at: Date): Date {
  return new Date(at.getTime() - LATE_SECONDS * 1_000);
}

const UNKNOWN_KIND = 'This version does not know effects of this kind.';

/** Null where it can be done, else why not. */
function obstacle(effect: BackofficeIntentRow, remedy: EffectRemedy): string | null {
  if (effect.status === 'confirmed') return 'It has taken effect.';
  const entry = effectOf(effect.kind);
  if (remedy === 'retry') {
    if (effect.status !== 'failed') return null;
    const { retry } = entry ?? { retry: UNKNOWN_KIND };
    return retry === true ? null : retry;
  }
  if (effect.status === 'failed') return effect.closed_at === null ? null : 'It is given up already.';
  if (effect.is_leased) return 'A worker has it in hand; try again in a moment.';
  const { giveUp } = entry ?? { giveUp: UNKNOWN_KIND };
  if (typeof giveUp === 'string') return giveUp;
  // Its bytes may be on their way, or be sent again by anyone who has them, until their nonce is used. The signatures in
  // them stay good, but an escrow's nonce admits one payout, and starting it anew finds what was executed.
  if (effect.transaction !== null && effect.transaction.status !== CHAIN_TRANSACTION_DISPLACED) {
    return 'It has been signed and may still reach the chain.';
  }
  return null;
}

export function remediesOf(effect: BackofficeIntentRow): EffectRemedy[] {
  return (['retry', 'give-up'] as const).filter((remedy) => obstacle(effect, remedy) === null);
}

/** Carried out under the intent's lock, which a worker needs to settle it: the second one sees what the first did. */
export async function remedyEffect(
  unit: UnitOfWork,
  adapters: OrderAdapters,
  effectId: string,
  remedy: EffectRemedy,
): Promise<{ readonly before: BackofficeIntentRow; readonly after: BackofficeIntentRow }> {
  const late = lateBefore(unit.at);
  const [before] = await unit.tx.query(lockStuckIntent, [late, effectId]);
  if (before === undefined) throw new CausewayError('EFFECT_NOT_FOUND');
  const refusal = obstacle(before, remedy);
  if (refusal !== null) throw new CausewayError('OPERATION_NOT_ALLOWED', { message: refusal });
  if (remedy === 'retry') {
    unit.tx.defer(hurryIntent, [effectId, unit.at]);
  } else {
    unit.tx.defer(closeIntent, [effectId, unit.at, 'given up by an operator']);
    const giveUp = effectOf(before.kind)?.giveUp;
    // An effect that had failed by itself told its order then.
    if (typeof giveUp === 'object' && before.status !== 'failed' && before.order_id !== null) {
      await reportFacts({ orderAdapters: adapters }, unit, before.order_id, giveUp, 'system');
    }
  }
  const [after] = await unit.tx.query(lockStuckIntent, [late, effectId]);
  if (after === undefined) throw new Error(`intent ${effectId} is gone`);
  return { before, after };
}

type Effect = Static<typeof EffectSchema>;

/** What it does; where it does not get on, also what waits for it and where to look. */
function meaningOf({ kind, status, last_error, is_late }: BackofficeIntentRow): string {
  const entry = effectOf(kind);
  if (entry === undefined) return UNKNOWN_KIND;
  const isStuck = status === 'failed' || is_late || (status === 'unknown' && last_error !== null);
  return isStuck ? `${entry.does} ${entry.stuck}` : entry.does;
}

export function effectView(row: BackofficeIntentRow): Effect {
  const isOpen = row.settled_at === null;
  return {
    effect_id: row.intent_id,
    kind: row.kind,
    meaning: meaningOf(row),
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
