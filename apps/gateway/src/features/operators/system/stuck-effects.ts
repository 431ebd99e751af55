import { CausewayError, EvmAddress, literals, type OrderTrigger, Timestamp, Uuid } from '@causeway/protocol';
import { type Static, Type } from 'typebox';
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

/** A worker looks every quarter of a second; what has been due for this long is nobody's. */
const LATE_SECONDS = 120;

export function lateBefore(at: Date): Date {
  return new Date(at.getTime() - LATE_SECONDS * 1_000);
}

/**
 * What an order is told when an effect of its own is given up. Those that are not here cannot be: a signed request can be
 * executed by anybody until its deadline, and an escrow that nobody watches would swallow a deposit.
 */
const GIVEN_UP: Readonly<Record<string, readonly OrderTrigger[]>> = {
  'escrow.release': ['release_failed'],
  'escrow.refund': ['refund_failed'],
  'escrow.auto-refund': ['refund_failed'],
  'escrow.return-to-vendor': ['refund_failed'],
  'vendor.offer-order': [],
  'kyc.verify': [],
  'kyc.store-document': [],
  'recipient.screen': [],
};

/** Their failure was no news to anybody, so doing them again contradicts nothing. An order acts on all others. */
const REPEATABLE: ReadonlySet<string> = new Set([
  'vendor.offer-order',
  'vendor.request-fiat-payment',
  'escrow.deploy-and-watch',
  'kyc.verify',
  'kyc.store-document',
  'kyc.delete-document',
  'recipient.screen',
  // By its key the bank makes one transfer, however often it is asked for.
  'bank.pay-vendor',
]);

/** What became of an effect at the bank that failed; no order is waiting for any of them. */
const FAILED_AT_BANK: Readonly<Record<string, string>> = {
  'bank.submit-client':
    'The bank did not take the customer, who is rejected; the partner can introduce it again.',
  'bank.open-account':
    'The bank did not open the account, which has failed; it answers the same to the same request.',
  'bank.collect':
    'The bank did not collect the payment, which is on the customer’s account as before; match it to an order or leave it there.',
};

/** Null where it can be done, else why not. */
function obstacle(effect: BackofficeIntentRow, remedy: EffectRemedy): string | null {
  if (effect.status === 'confirmed') return 'It has taken effect.';
  if (remedy === 'retry') {
    if (effect.status !== 'failed' || REPEATABLE.has(effect.kind)) return null;
    const atBank = FAILED_AT_BANK[effect.kind];
    if (atBank !== undefined) return atBank;
    return 'Its order has heard of the failure and is held; release the hold to start it anew.';
  }
  if (effect.status === 'failed') return effect.closed_at === null ? null : 'It is given up already.';
  if (effect.is_leased) return 'A worker has it in hand; try again in a moment.';
  if (GIVEN_UP[effect.kind] === undefined) return 'An effect of this kind cannot be given up.';
  // Its bytes may be on their way, or be sent again by anyone who has them.
  if (effect.transaction !== null) return 'It has been signed and may still reach the chain.';
  return null;
}

export function remediesOf(effect: BackofficeIntentRow): EffectRemedy[] {
  return (['retry', 'give-up'] as const).filter((remedy) => obstacle(effect, remedy) === null);
}

/** Carried out under the intent's lock, which a worker needs to settle it: whoever is second sees what the first did. */
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
    const triggers = GIVEN_UP[before.kind] ?? [];
    // An effect that had failed by itself told its order then.
    if (before.status !== 'failed' && before.order_id !== null) {
      await reportFacts({ orderAdapters: adapters }, unit, before.order_id, triggers, 'system');
    }
  }
  const [after] = await unit.tx.query(lockStuckIntent, [late, effectId]);
  if (after === undefined) throw new Error(`intent ${effectId} is gone`);
  return { before, after };
}

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

export function effectView(row: BackofficeIntentRow): Effect {
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
