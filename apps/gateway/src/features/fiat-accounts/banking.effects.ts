import type { IntentHandlers } from '../../engine/intent-handler.ts';
import type { BankingPort } from '../../ports/banking.ts';
import { openAccountHandler, type SubmitClientDeps, submitClientHandler } from './account-opening.effect.ts';
import { collectPaymentHandler, type PayVendorDeps, payVendorHandler } from './payments.effect.ts';

type BankingDeps = Omit<PayVendorDeps & SubmitClientDeps, 'bank'> & {
  readonly bank: BankingPort | undefined;
};

type BankEffect = 'bank.submit-client' | 'bank.open-account' | 'bank.collect' | 'bank.pay-vendor';

/** Everything that a worker does at the bank; nothing where there is none. */
export function bankingHandlers({ bank, ...deps }: BankingDeps): Pick<IntentHandlers, BankEffect> {
  const withBank = bank === undefined ? undefined : { ...deps, bank };
  return {
    'bank.submit-client': withBank ? submitClientHandler(withBank) : null,
    'bank.open-account': withBank ? openAccountHandler(withBank) : null,
    'bank.collect': withBank ? collectPaymentHandler(withBank) : null,
    'bank.pay-vendor': withBank ? payVendorHandler(withBank) : null,
  };
}
