import type { DifferenceKind } from '@causeway/protocol/console';
import type { Client } from 'pg';
import type { Random } from '../fuzz/random.ts';

/** What a corruption is planted in, each used once: no two of them are about the same. */
export interface Corruptible {
  /** Ids of orders that have been paid out. */
  readonly completed: string[];
  /** Ids of orders whose escrow is funded. */
  readonly funded: string[];
  /** Ids of orders that wait for the vendor’s crypto. */
  readonly waiting: string[];
  /** Ids of payments into fiat accounts. */
  readonly payments: string[];
}

export interface Planted {
  readonly name: string;
  /** What it must be called, and where; every other difference is a false alarm. */
  readonly expected: readonly ExpectedDifference[];
}

export interface ExpectedDifference {
  readonly kind: DifferenceKind;
  readonly orderId: string | null;
  readonly about: RegExp | null;
  readonly says: RegExp;
}

type Plant = (owner: Client, from: Corruptible, random: Random, payInto: PayInto) => Promise<Planted>;
/** A transfer into the escrow of an order, past the watcher. */
export type PayInto = (orderId: string, amount: bigint) => Promise<void>;

function take(ids: string[], random: Random): string {
  const [id] = ids.splice(random.below(ids.length), 1);
  if (id === undefined) throw new Error('there is nothing left to corrupt');
  return id;
}

const entry = (orderId: string, kind: string) =>
  `(SELECT entry_id FROM ledger_entries WHERE order_id = '${orderId}' AND kind = '${kind}')`;

const missingPosting: Plant = async (owner, { completed }, random) => {
  const orderId = take(completed, random);
  await owner.query(
    `DELETE FROM ledger_postings WHERE entry_id = ${entry(orderId, 'escrow_released')} AND account LIKE 'treasury:%'`,
  );
  return {
    name: 'missing posting',
    expected: [
      { kind: 'entry_amount', orderId, about: /^escrow_released$/, says: /treasury/ },
      { kind: 'books_unbalanced', orderId: null, about: null, says: /^0 / },
    ],
  };
};

const extraTransfer: Plant = async (_owner, { completed }, random, payInto) => {
  const orderId = take(completed, random);
  const units = BigInt(1 + random.below(999));
  await payInto(orderId, units);
  const amount = `0.${`${units}`.padStart(6, '0')}`;
  return {
    name: 'extra transfer on chain',
    expected: [{ kind: 'escrow_balance', orderId, about: null, says: new RegExp(`^0.000000 ${amount}$`) }],
  };
};

const changedEntry: Plant = async (owner, { funded }, random) => {
  const orderId = take(funded, random);
  const factor = 2 + random.below(5);
  await owner.query(
    `UPDATE ledger_postings SET amount = amount * ${factor} WHERE entry_id = ${entry(orderId, 'vendor_escrow_funded')}`,
  );
  return {
    name: 'changed amount of an entry',
    expected: [
      { kind: 'entry_amount', orderId, about: /^vendor_escrow_funded$/, says: /escrow \d/ },
      { kind: 'escrow_balance', orderId, about: null, says: /\d/ },
    ],
  };
};

const changedOrder: Plant = async (owner, { funded }, random) => {
  const orderId = take(funded, random);
  const units = 1 + random.below(1_000_000);
  await owner.query(`UPDATE orders SET crypto_amount = crypto_amount + ${units} WHERE order_id = $1`, [
    orderId,
  ]);
  return {
    name: 'changed crypto amount of an order',
    expected: [
      { kind: 'entry_amount', orderId, about: /^vendor_escrow_funded$/, says: /escrow \d/ },
      { kind: 'order_amount', orderId, about: /^quote /, says: /^crypto_amount \S+ crypto_amount \S+$/ },
    ],
  };
};

/** What the customer pays; the books have it only once it is paid. */
const changedPrice: Plant = async (owner, { funded }, random) => {
  const orderId = take(funded, random);
  const cents = 1 + random.below(1_000);
  await owner.query('UPDATE orders SET fiat_amount = fiat_amount - $2 WHERE order_id = $1', [orderId, cents]);
  return {
    name: 'changed fiat amount of an order',
    expected: [
      {
        kind: 'order_amount',
        orderId,
        about: /^quote /,
        says: /^fiat_amount \d+\.\d\d fiat_amount \d+\.\d\d$/,
      },
    ],
  };
};

const statusAhead: Plant = async (owner, { funded }, random) => {
  const orderId = take(funded, random);
  await owner.query(
    `UPDATE orders SET status = 'completed', facts = facts || '{"escrow": "emptied"}' WHERE order_id = $1`,
    [orderId],
  );
  return {
    name: 'status ahead of the ledger',
    expected: [
      {
        kind: 'entry_missing',
        orderId,
        about: /^escrow_released$/,
        says: /no entry; the order is completed/,
      },
    ],
  };
};

const extraEntry: Plant = async (owner, { funded }, random) => {
  const orderId = take(funded, random);
  await owner.query(
    `WITH copied AS (
       INSERT INTO ledger_entries (entry_id, partner_id, order_id, kind, dedupe_key, created_at)
       SELECT gen_random_uuid(), partner_id, order_id, 'escrow_returned_to_vendor', order_id || ':planted', created_at
         FROM ledger_entries WHERE order_id = $1 AND kind = 'vendor_escrow_funded' RETURNING entry_id)
     INSERT INTO ledger_postings (entry_id, line, partner_id, account, asset, amount)
     SELECT copied.entry_id, p.line, p.partner_id, p.account, p.asset, -p.amount
       FROM copied, ledger_postings p WHERE p.entry_id = ${entry(orderId, 'vendor_escrow_funded')}`,
    [orderId],
  );
  return {
    name: 'entry that the order does not have',
    expected: [
      { kind: 'entry_unexpected', orderId, about: /^escrow_returned_to_vendor$/, says: /no such entry/ },
      { kind: 'escrow_balance', orderId, about: null, says: /^0.000000 / },
    ],
  };
};

const lostEvent: Plant = (owner, { completed }, random) =>
  loseEvent('lost event', 1 + random.below(3), take(completed, random), owner);

/** The machines have several ways to where an order begins, and not all of them tell the partner. */
const lostFirstEvent: Plant = (owner, { completed }, random) =>
  loseEvent('lost event of the first status', 0, take(completed, random), owner);

async function loseEvent(name: string, index: number, orderId: string, owner: Client): Promise<Planted> {
  const { rows } = await owner.query<{ event_id: string }>(
    `SELECT event_id FROM events WHERE subject_id = $1 AND event_type = 'order.status.changed'
      ORDER BY position LIMIT 1 OFFSET ${index}`,
    [orderId],
  );
  for (const table of ['webhook_deliveries', 'event_stream', 'events']) {
    await owner.query(`DELETE FROM ${table} WHERE event_id = $1`, [rows[0]?.event_id]);
  }
  return {
    name,
    expected: [
      { kind: 'event_missing', orderId, about: /^order.status.changed$/, says: /the order became \w+ none$/ },
      { kind: 'stream_gap', orderId: null, about: /^the stream of partner /, says: /after \d+ \d+$/ },
    ],
  };
}

const deletedDelivery: Plant = async (owner, { completed }, random) => {
  const orderId = take(completed, random);
  await owner.query(
    `DELETE FROM webhook_deliveries WHERE delivery_id = (
       SELECT delivery_id FROM webhook_deliveries WHERE subject_id = $1 ORDER BY position LIMIT 1)`,
    [orderId],
  );
  return {
    name: 'deleted delivery',
    expected: [
      { kind: 'delivery_missing', orderId, about: /^evt_.* order\.status\.changed$/, says: /^1 delivery 0$/ },
    ],
  };
};

const lostEffect: Plant = async (owner, { waiting }, random) => {
  const orderId = take(waiting, random);
  await owner.query(`DELETE FROM intents WHERE payload->>'order_id' = $1`, [orderId]);
  return {
    name: 'lost effect',
    expected: [{ kind: 'effect_missing', orderId, about: /^escrow.deploy-and-watch$/, says: /none$/ }],
  };
};

const paymentNotBooked: Plant = async (owner, { payments }, random) => {
  await owner.query('DELETE FROM fiat_payments WHERE payment_id = $1', [take(payments, random)]);
  return {
    name: 'bank payment missing in the books',
    expected: [{ kind: 'bank_payment_missing', orderId: null, about: /^account /, says: /EUR no payment$/ }],
  };
};

const paymentNotAtBank: Plant = async (owner, { payments }, random) => {
  await owner.query(
    `DELETE FROM sandbox_bank_payments WHERE transaction_id = (
       SELECT bank_transaction_id FROM fiat_payments WHERE payment_id = $1)`,
    [take(payments, random)],
  );
  return {
    name: 'payment that the bank does not know',
    expected: [
      {
        kind: 'bank_payment_unknown',
        orderId: null,
        about: /^fiat_account:retail_/,
        says: /^the bank knows none /,
      },
    ],
  };
};

const paymentChanged: Plant = async (owner, { payments }, random) => {
  await owner.query(
    `UPDATE fiat_payments SET amount = amount + ${1 + random.below(1_000)} WHERE payment_id = $1`,
    [take(payments, random)],
  );
  return {
    name: 'changed amount of a bank payment',
    expected: [
      { kind: 'bank_payment_amount', orderId: null, about: /^fiat_account:retail_/, says: /EUR .* EUR$/ },
    ],
  };
};

const paymentMoved: Plant = async (owner, { payments }, random) => {
  await owner.query(
    `UPDATE fiat_payments p SET account_number = a.account_number
       FROM fiat_accounts a WHERE p.payment_id = $1 AND a.account_number <> p.account_number`,
    [take(payments, random)],
  );
  return {
    name: 'bank payment booked to another account',
    expected: [
      {
        kind: 'bank_payment_account',
        orderId: null,
        about: /^fiat_account:retail_/,
        says: /^account (\S+) account (?!\1)\S+$/,
      },
    ],
  };
};

export const CORRUPTIONS: readonly Plant[] = [
  missingPosting,
  extraTransfer,
  changedEntry,
  changedOrder,
  changedPrice,
  statusAhead,
  extraEntry,
  lostEvent,
  lostFirstEvent,
  deletedDelivery,
  lostEffect,
  paymentNotBooked,
  paymentNotAtBank,
  paymentChanged,
  paymentMoved,
];
