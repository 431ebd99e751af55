import type { IntentHandler } from '../../engine/intent-worker.ts';
import type { BankingPort } from '../../upstream/banking.port.ts';
import { collectPaymentHandler } from './collect-payment.effect.ts';
import { openAccountHandler } from './open-account.effect.ts';
import { type PayVendorTools, payVendorHandler } from './pay-vendor.effect.ts';
import { type SubmitClientTools, submitClientHandler } from './submit-client.effect.ts';

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
