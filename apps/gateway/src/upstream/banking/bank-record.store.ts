import { type Database, SYSTEM } from '../../db/database.ts';
import { statement } from '../../db/statement.ts';
import type { Clock } from '../../lib/clock.ts';
import type { IncomingPayment } from '../../ports/banking.ts';

/** What the simulated bank reports to have received, in order; a transfer any number of times. It keeps no record of who paid. */
export interface BankRecord {
  add(payment: IncomingPayment): Promise<void>;
  after(position: string | null, limit: number): Promise<readonly RecordedPayment[]>;
  find(transactionId: string): Promise<RecordedPayment | undefined>;
}

export interface RecordedPayment {
  readonly position: string;
  readonly payment: IncomingPayment;
}

interface RecordRow {
  position: string;
  transaction_id: string;
  account_reference: string;
  currency: string;
  amount: string;
}

const COLUMNS = 'position::text, transaction_id, account_reference, currency, amount::text';

const insertPayment = statement<
  [transactionId: string, accountReference: string, currency: string, amount: string, at: Date]
>(
  'sandbox_bank.insert',
  `INSERT INTO sandbox_bank_payments (transaction_id, account_reference, currency, amount, received_at)
   VALUES ($1, $2, $3, $4, $5)`,
);

const paymentsAfter = statement<[position: string | null, limit: number], RecordRow>(
  'sandbox_bank.after',
  `SELECT ${COLUMNS} FROM sandbox_bank_payments WHERE $1::bigint IS NULL OR position > $1 ORDER BY sandbox_bank_payments.position LIMIT $2`,
);

const findPayment = statement<[transactionId: string], RecordRow>(
  'sandbox_bank.find',
  `SELECT ${COLUMNS} FROM sandbox_bank_payments WHERE transaction_id = $1
    ORDER BY sandbox_bank_payments.position LIMIT 1`,
);

export function createBankRecord({
  db,
  clock,
}: {
  readonly db: Database;
  readonly clock: Clock;
}): BankRecord {
  return {
    async add({ transactionId, accountReference, currency, amount }) {
      const values = [transactionId, accountReference, currency, amount.toString(), clock.date()] as const;
      await db.query(SYSTEM, insertPayment, [...values]);
    },
    after: async (position, limit) =>
      (await db.query(SYSTEM, paymentsAfter, [position, limit])).map(recorded),
    async find(transactionId) {
      const [row] = await db.query(SYSTEM, findPayment, [transactionId]);
      return row === undefined ? undefined : recorded(row);
    },
  };
}

function recorded(row: RecordRow): RecordedPayment {
  return {
    position: row.position,
    payment: {
      transactionId: row.transaction_id,
      accountReference: row.account_reference,
      currency: row.currency,
      amount: BigInt(row.amount),
      senderName: null,
      reference: null,
    },
  };
}
