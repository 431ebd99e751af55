import type { IntentHandler } from '../../engine/intent-worker.ts';
import type { BankingPort } from '../../ports/banking.ts';
import { openAccountHandler, type SubmitClientDeps, submitClientHandler } from './account-opening.effect.ts';
import { collectPaymentHandler, type PayVendorDeps, payVendorHandler } from './payments.effect.ts';

type BankingDeps = Omit<PayVendorDeps & SubmitClientDeps, 'bank'> & {
  readonly bank: BankingPort | undefined;
};

/** Everything that a worker does at the bank; nothing where there is none. */
export function bankingHandlers({ bank, ...deps }: BankingDeps): IntentHandler<never>[] {
  if (bank === undefined) return [];
  const withBank = { ...deps, bank };
  return [
    submitClientHandler(withBank),
    openAccountHandler(withBank),
    collectPaymentHandler(withBank),
    payVendorHandler(withBank),
  ];
}
