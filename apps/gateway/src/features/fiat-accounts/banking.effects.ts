import type { IntentHandler } from '../../engine/intent-worker.ts';
import type { BankingPort } from '../../ports/banking.ts';
import { openAccountHandler, type SubmitClientTools, submitClientHandler } from './account-opening.effect.ts';
import { collectPaymentHandler, type PayVendorTools, payVendorHandler } from './payments.effect.ts';

type BankingTools = Omit<PayVendorTools & SubmitClientTools, 'bank'> & {
  readonly bank: BankingPort | undefined;
};

/** Everything that a worker does at the bank; nothing where there is none. */
export function bankingHandlers({ bank, ...tools }: BankingTools): IntentHandler<never>[] {
  if (bank === undefined) return [];
  const withBank = { ...tools, bank };
  return [
    submitClientHandler(withBank),
    openAccountHandler(withBank),
    collectPaymentHandler(withBank),
    payVendorHandler(withBank),
  ];
}
