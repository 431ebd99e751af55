import { SYSTEM } from '../../db/database.ts';
import { type UnitTools, unitOfWork } from '../../engine/unit-of-work.ts';
import type { Logger } from '../../lib/logger.ts';
import { BankingError, type BankingPort } from '../../upstream/banking.port.ts';
import { readCursor, saveCursor } from './fiat-payment.store.ts';
import { type DepositTools, takeDeposit } from './take-deposit.ts';

export interface FollowTools extends UnitTools, DepositTools {
  readonly bank: BankingPort | undefined;
  readonly logger: Logger;
}

/**
 * Takes what the bank reports since the last time. The cursor moves after the payments are taken: a worker that dies in
 * between reports them again, and they are known then.
 */
export async function followPayments(tools: FollowTools): Promise<number> {
  const { bank, db, clock, logger } = tools;
  if (bank === undefined) return 0;
  const [kept] = await db.query(SYSTEM, readCursor, []);
  const cursor = kept?.cursor ?? null;
  const page = await bank.paymentsAfter(cursor).catch((error: unknown) => {
    if (!(error instanceof BankingError)) throw error;
    logger.warn({ err: error }, 'the bank does not say what came in');
    return { payments: [], cursor };
  });
  for (const payment of page.payments) {
    const taken = await unitOfWork(tools, SYSTEM, (unit) => takeDeposit(tools, unit, payment));
    // Nobody here has such an account, or it is no payment: whoever runs the deployment has to ask the bank.
    if (taken === undefined) {
      logger.error(
        { transaction_id: payment.transactionId },
        'the bank reports a payment that fits no account',
      );
    }
  }
  if (page.cursor !== null && page.cursor !== cursor) {
    await db.query(SYSTEM, saveCursor, [page.cursor, clock.date()]);
  }
  return page.payments.length;
}
