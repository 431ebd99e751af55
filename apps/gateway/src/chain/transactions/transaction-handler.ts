import type { IntentKind } from '../../engine/effects.ts';
import { type Intent, MAX_TRANSACTIONS, transactionKey } from '../../engine/intent.ts';
import type { Outcome, ReconcilingHandler } from '../../engine/intent-handler.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { RetrySchedule } from '../../lib/backoff.ts';
import type { Logger } from '../../lib/logger.ts';
import { ChainUnavailableError } from './transaction-rpc.ts';
import type { ChainEffect, TransactionProgress, Transactor } from './transactor.ts';

/**
 * Makes an intent handler out of "what to send" and "what the receipt means". Performing and reconciling are the same
 * here: the transactor knows from its own rows whether to sign, to send again or to look.
 */
export interface TransactionHandlerOptions<K extends IntentKind> {
  /** Counts only refusals: a call that would revert. Waiting for the chain uses nothing up. */
  readonly schedule: RetrySchedule;
  /** How long to wait before looking at the chain again. */
  readonly pollMs: number;
  readonly logger: Logger;
  /**
   * What to send, asked only while nothing is on its way. It answers an outcome instead where the chain shows that the
   * effect is already there, for instance because another account submitted a request that anyone may submit.
   */
  describe(intent: Intent<K>): Promise<ChainEffect | Outcome>;
  /**
   * What a final receipt means. `describe again`: the transaction had no effect, and the world has to be looked at anew
   * before that is a failure; where something is still to be sent, it is sent as another transaction. Only for an effect
   * that the chain itself admits once.
   */
  conclude(intent: Intent<K>, mined: MinedTransaction): Promise<Outcome | 'describe again'>;
  /**
   * What it means that something else has used a transaction's nonce. By default the world is looked at anew and the rest
   * is sent as another transaction, as after a revert. An effect that the chain would admit twice says so here: what used
   * the nonce may have been a version of it that is not on record.
   */
  displaced?(intent: Intent<K>): Outcome;
  /** What it means that the last transaction had no effect either. */
  givenUp?(intent: Intent<K>): Outcome;
  exhausted?(intent: Intent<K>, unit: UnitOfWork): Promise<void>;
}

export type MinedTransaction = Extract<TransactionProgress, { state: 'mined' }>;

export function transactionHandler<K extends IntentKind>(
  transactor: Transactor,
  options: TransactionHandlerOptions<K>,
): ReconcilingHandler<K> {
  const { schedule, pollMs, logger, exhausted } = options;

  /** Each transaction of an intent has a key of its own; the next is thought of only when the last is final. */
  async function carryOut(intent: Intent<K>): Promise<Outcome> {
    try {
      for (let attempt = 1; attempt <= MAX_TRANSACTIONS; attempt++) {
        const outcome = await advance(intent, transactionKey(intent.intentId, attempt));
        if (outcome !== 'describe again') return outcome;
      }
      const described = await options.describe(intent);
      if ('kind' in described) return described;
      return options.givenUp?.(intent) ?? { kind: 'failed', error: 'reverted' };
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) throw error;
      return waiting(intent, error.message);
    }
  }

  async function advance(intent: Intent<K>, effectKey: string): Promise<Outcome | 'describe again'> {
    let decided: Outcome | undefined;
    const progress = await transactor.advance(effectKey, async () => {
      const described = await options.describe(intent);
      if (!('kind' in described)) return described;
      decided = described;
      return undefined;
    });
    return decided ?? outcomeOf(intent, progress);
  }

  /** The node would not take it: perhaps because what it is for has happened meanwhile. */
  async function refused(intent: Intent<K>, error: string): Promise<Outcome> {
    const described = await options.describe(intent);
    return 'kind' in described ? described : { kind: 'retry', error };
  }

  function waiting(intent: Intent<K>, reason: string): Outcome {
    logger.warn({ intent_id: intent.intentId, kind: intent.kind, reason }, 'transaction waits');
    return { kind: 'waiting', afterMs: pollMs, reason };
  }

  async function outcomeOf(
    intent: Intent<K>,
    progress: TransactionProgress,
  ): Promise<Outcome | 'describe again'> {
    switch (progress.state) {
      case 'unneeded':
        throw new Error('a transaction that is not needed comes with its outcome');
      case 'mined':
        return options.conclude(intent, progress);
      case 'refused':
        return refused(intent, progress.reason);
      case 'pending':
        if (progress.reason !== undefined) return waiting(intent, progress.reason);
        return { kind: 'waiting', afterMs: pollMs };
      case 'displaced':
        if (progress.isNews) {
          logger.error(
            { intent_id: intent.intentId, kind: intent.kind, nonce: progress.nonce },
            'nonce used by a transaction that is not ours',
          );
        }
        return options.displaced?.(intent) ?? 'describe again';
    }
  }

  return {
    schedule,
    perform: carryOut,
    reconcile: carryOut,
    ...(exhausted === undefined ? {} : { exhausted }),
  };
}
