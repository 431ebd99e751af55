import { statement } from '../db/statement.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/**
 * Double-entry books. Every movement is an entry whose postings sum to zero in each asset; the database
 * refuses anything else and never changes what is written.
 */
export interface Posting {
  readonly account: string;
  /** The chain of the asset is part of it: USDC on one chain is not USDC on another. */
  readonly asset: string;
  /** Atomic units: positive when the account then holds more. */
  readonly amount: bigint;
}

export interface EntryDraft {
  readonly kind: string;
  /** A movement is booked once, however often its confirmation is seen. */
  readonly dedupeKey: string;
  readonly partnerId: string;
  readonly orderId: string | null;
  readonly postings: readonly Posting[];
}

const insertEntry = statement<
  [
    entryId: string,
    partnerId: string,
    orderId: string | null,
    kind: string,
    dedupeKey: string,
    at: Date,
    accounts: readonly string[],
    assets: readonly string[],
    amounts: readonly string[],
  ]
>(
  'ledger.insert_entry',
  `WITH entry AS (
     INSERT INTO ledger_entries (entry_id, partner_id, order_id, kind, dedupe_key, created_at)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (dedupe_key) DO NOTHING
     RETURNING entry_id, partner_id)
   INSERT INTO ledger_postings (entry_id, line, partner_id, account, asset, amount)
   SELECT entry_id, line, partner_id, account, asset, amount
     FROM entry,
          unnest($7::text[], $8::text[], $9::numeric[]) WITH ORDINALITY AS posting (account, asset, amount, line)`,
);

/** What an account holds, per asset, in atomic units. */
export const accountBalances = statement<[account: string], { asset: string; balance: string }>(
  'ledger.balances',
  `SELECT asset, sum(amount)::text AS balance FROM ledger_postings WHERE account = $1 GROUP BY asset ORDER BY asset`,
);

export function moveFunds(
  from: string,
  to: string,
  asset: string,
  amount: bigint,
): readonly [Posting, Posting] | readonly [] {
  if (amount < 0n) throw new RangeError('a movement is not negative');
  if (amount === 0n) return [];
  return [
    { account: from, asset, amount: -amount },
    { account: to, asset, amount },
  ];
}

export function postEntry(unit: UnitOfWork, draft: EntryDraft): void {
  const postings = draft.postings.filter((posting) => posting.amount !== 0n);
  if (postings.length === 0) return;
  unit.tx.defer(insertEntry, [
    unit.ids.uuid(),
    draft.partnerId,
    draft.orderId,
    draft.kind,
    draft.dedupeKey,
    unit.at,
    postings.map((posting) => posting.account),
    postings.map((posting) => posting.asset),
    postings.map((posting) => posting.amount.toString()),
  ]);
}
