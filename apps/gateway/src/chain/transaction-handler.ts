import type { Intent, JsonObject } from '../engine/intent.ts';
import type { IntentHandler, Outcome } from '../engine/intent-worker.ts';
import type { UnitOfWork } from '../engine/unit-of-work.ts';
import type { RetrySchedule } from '../lib/backoff.ts';
import type { Logger } from '../lib/logger.ts';
import type { ChainEffect, TransactionProgress, Transactor } from './transactor.ts';

/**
 * Makes an intent handler out of "what to send" and "what the receipt means". Performing and reconciling are the same
 * here: the transactor knows from its own rows whether to sign, to send again or to look.
 */
export interface TransactionHandlerOptions<Payload extends JsonObject> {
  readonly kind: string;
  /** Counts only refusals: a call that would revert. Waiting for the chain uses nothing up. */
  readonly schedule: RetrySchedule;
  /** How long to wait before looking at the chain again. */
  readonly pollMs: number;
  readonly logger: Logger;
  /**
   * What to send, asked only while nothing has been sent. It answers an outcome instead where the chain shows that the
   * effect is already there, for instance because somebody else submitted a request that anyone may submit.
   */
  describe(intent: Intent<Payload>): Promise<ChainEffect | Outcome>;
  /** What a final receipt means, a reverted one included. */
  conclude(intent: Intent<Payload>, mined: MinedTransaction): Promise<Outcome>;
  exhausted?(intent: Intent<Payload>, unit: UnitOfWork): Promise<void>;
}

export type MinedTransaction = Extract<TransactionProgress, { state: 'mined' }>;

/** Only a person can tell what used the nonce, so there is no hurry. */
const DISPLACED_POLL_MS = 60_000;

export function transactionHandler<Payload extends JsonObject>(
  transactor: Transactor,
  options: TransactionHandlerOptions<Payload>,
): IntentHandler<Payload> {
  const { kind, schedule, pollMs, logger, exhausted } = options;

  async function carryOut(intent: Intent<Payload>): Promise<Outcome> {
    let decided: Outcome | undefined;
    const progress = await transactor.advance(intent.intentId, async () => {
      const described = await options.describe(intent);
      if (!('kind' in described)) return described;
      decided = described;
      return undefined;
    });
    return decided ?? outcomeOf(intent, progress);
  }

  async function outcomeOf(intent: Intent<Payload>, progress: TransactionProgress): Promise<Outcome> {
    switch (progress.state) {
      case 'unneeded':
        throw new Error('a transaction that is not needed comes with its outcome');
      case 'mined':
        return options.conclude(intent, progress);
      case 'refused':
        return { kind: 'retry', error: progress.reason };
      case 'pending':
        if (progress.reason !== undefined) {
          logger.warn({ intent_id: intent.intentId, kind, reason: progress.reason }, 'transaction waits');
        }
        return { kind: 'waiting', afterMs: pollMs };
      case 'displaced':
        logger.error({ intent_id: intent.intentId, kind, nonce: progress.nonce }, 'nonce used by a stranger');
        return {
          kind: 'unknown',
          error: `nonce ${progress.nonce} was used by a transaction that is not ours`,
          afterMs: DISPLACED_POLL_MS,
        };
    }
  }

  return {
    kind,
    schedule,
    perform: carryOut,
    reconcile: carryOut,
    ...(exhausted === undefined ? {} : { exhausted }),
  };
}
