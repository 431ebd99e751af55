import { formatFixed } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import {
  type Difference,
  difference,
  type ReconciliationPart,
  type SecondLook,
} from '../../engine/reconciliation-part.ts';
import { BankingError, type BankingPort, type IncomingPayment } from '../../ports/banking.ts';
import { accountIdOf } from './fiat-account.ts';
import {
  type KnownPaymentRow,
  knownPayment,
  knownPayments,
  paymentsOfTransactions,
  readCursor,
} from './fiat-payment.store.ts';

/** What the bank has received against what is in the books, both ways. */

const PAYMENTS = 100;
/** Of the bank’s own list, so many pages a run. */
const PAGES = 5;
const UNREACHABLE = { checked: 0, found: [], unreachable: 1 } as const;

interface Deps {
  readonly db: Database;
  readonly bank: BankingPort;
}

/** Each payment of ours: the bank knows it, on this account and with this amount. */
export function bookedPaymentPart({ db, bank }: Deps): ReconciliationPart {
  const compare = async (row: KnownPaymentRow): Promise<Difference[]> => {
    const reported = await bank.readPayment(row.bank_transaction_id);
    const found = `${formatFixed(BigInt(row.amount), row.currency_decimals)} ${row.currency}`;
    const common = {
      orderId: row.order_id,
      about: `fiat_account:${accountIdOf(row.account_number)} ${row.bank_transaction_id}`.slice(0, 200),
      asset: row.currency,
      found,
    };
    if (reported === null) {
      return [
        difference('bank_payment_unknown', row.payment_id, { ...common, expected: 'the bank knows none' }),
      ];
    }
    const isElsewhere = reported.accountReference !== row.account_reference;
    const off = BigInt(row.amount) - reported.amount;
    return [
      ...(isElsewhere
        ? [
            difference('bank_payment_account', row.payment_id, {
              ...common,
              expected: `account ${reported.accountReference}`.slice(0, 200),
              found: `account ${row.account_reference}`.slice(0, 200),
            }),
          ]
        : []),
      ...(off !== 0n || reported.currency !== row.currency
        ? [
            difference('bank_payment_amount', row.payment_id, {
              ...common,
              expected: `${formatFixed(reported.amount, row.currency_decimals)} ${reported.currency}`,
              difference: formatFixed(off, row.currency_decimals),
            }),
          ]
        : []),
    ];
  };
  return {
    name: 'booked_payments',
    kinds: ['bank_payment_unknown', 'bank_payment_account', 'bank_payment_amount'],
    async sweep(cursor) {
      const rows = await db.query(SYSTEM, knownPayments, [cursor, PAYMENTS]);
      const found: Difference[] = [];
      try {
        for (const row of rows) found.push(...(await compare(row)));
      } catch (error) {
        if (!(error instanceof BankingError)) throw error;
        return { ...UNREACHABLE, next: cursor };
      }
      const next = rows.length < PAYMENTS ? null : (rows.at(-1)?.payment_id ?? null);
      return { checked: rows.length, found, unreachable: 0, next };
    },
    async again(subject, kind): Promise<SecondLook> {
      const [row] = await db.query(SYSTEM, knownPayment, [subject]);
      if (row === undefined) return { verdict: 'equal' };
      return unlessUnreachable(async () => {
        const found = (await compare(row)).find((one) => one.kind === kind);
        return found === undefined ? { verdict: 'equal' } : { verdict: 'different', found };
      });
    },
  };
}

async function unlessUnreachable(look: () => Promise<SecondLook>): Promise<SecondLook> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof BankingError)) throw error;
    return { verdict: 'unreachable' };
  }
}

/** Each payment of the bank’s: it is in the books, or the worker has not come to it yet. */
export function reportedPaymentPart({ db, bank }: Deps): ReconciliationPart {
  async function missingAmong(payments: readonly IncomingPayment[]): Promise<IncomingPayment[]> {
    const ids = payments.map(({ transactionId }) => transactionId);
    const known = new Set(
      (await db.query(SYSTEM, paymentsOfTransactions, [ids])).map((row) => row.bank_transaction_id),
    );
    return payments.filter(({ transactionId }) => !known.has(transactionId));
  }
  /** What the worker that follows the bank has not taken yet; asked after the books were, so that none is in between. */
  async function untaken(): Promise<ReadonlySet<string>> {
    const [kept] = await db.query(SYSTEM, readCursor, []);
    const { payments } = await bank.paymentsAfter(kept?.cursor ?? null);
    return new Set(payments.map(({ transactionId }) => transactionId));
  }
  const ofMissing = ({ transactionId, accountReference, amount, currency }: IncomingPayment): Difference =>
    difference('bank_payment_missing', transactionId.slice(0, 150), {
      about: `account ${accountReference}`.slice(0, 200),
      asset: currency,
      expected: `${amount} minor units of ${currency}`,
      found: 'no payment',
    });
  async function lost(payments: readonly IncomingPayment[]): Promise<IncomingPayment[]> {
    const missing = await missingAmong(payments);
    if (missing.length === 0) return [];
    const waiting = await untaken();
    const gone = missing.filter(({ transactionId }) => !waiting.has(transactionId));
    return missingAmong(gone);
  }
  return {
    name: 'reported_payments',
    kinds: ['bank_payment_missing'],
    async sweep(cursor) {
      let next = cursor;
      let checked = 0;
      const found: Difference[] = [];
      try {
        for (let page = 0; page < PAGES; page++) {
          const { payments, cursor: reached } = await bank.paymentsAfter(next);
          checked += payments.length;
          found.push(...(await lost(payments)).map(ofMissing));
          if (payments.length === 0) return { checked, found, unreachable: 0, next: null };
          next = reached;
        }
      } catch (error) {
        if (!(error instanceof BankingError)) throw error;
        return { ...UNREACHABLE, next: cursor };
      }
      return { checked, found, unreachable: 0, next };
    },
    async again(subject) {
      return unlessUnreachable(async () => {
        const payment = await bank.readPayment(subject);
        const [found] = payment === null ? [] : await lost([payment]);
        return found === undefined ? { verdict: 'equal' } : { verdict: 'different', found: ofMissing(found) };
      });
    },
  };
}
