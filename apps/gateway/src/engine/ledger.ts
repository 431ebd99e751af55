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

const insertEntries = statement<
  [
    entryIds: readonly string[],
    partnerIds: readonly string[],
    orderIds: readonly (string | null)[],
    kinds: readonly string[],
    dedupeKeys: readonly string[],
    at: Date,
    postedIn: readonly string[],
    lines: readonly number[],
    accounts: readonly string[],
    assets: readonly string[],
    amounts: readonly string[],
  ]
>(
  'ledger.insert_entries',
  `WITH entry AS (
     INSERT INTO ledger_entries (entry_id, partner_id, order_id, kind, dedupe_key, created_at)
     SELECT entry_id, partner_id, order_id, kind, dedupe_key, $6
       FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[])
         AS draft (entry_id, partner_id, order_id, kind, dedupe_key)
     ON CONFLICT (dedupe_key) DO NOTHING
     RETURNING entry_id, partner_id)
   INSERT INTO ledger_postings (entry_id, line, partner_id, account, asset, amount)
   SELECT entry_id, line, partner_id, account, asset, amount
     FROM entry
     JOIN unnest($7::uuid[], $8::integer[], $9::text[], $10::text[], $11::numeric[])
            AS posting (entry_id, line, account, asset, amount) USING (entry_id)`,
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
  postEntries(unit, [draft]);
}

/** All in one statement, however many there are. */
export function postEntries(unit: UnitOfWork, drafts: readonly EntryDraft[]): void {
  const entries = drafts
    .map((draft) => ({
      ...draft,
      entryId: unit.ids.uuid(),
      postings: draft.postings.filter((posting) => posting.amount !== 0n),
    }))
    .filter(({ postings }) => postings.length > 0);
  if (entries.length === 0) return;
  const lines = entries.flatMap(({ entryId, postings }) =>
    postings.map((posting, n) => ({ ...posting, entryId, line: n + 1 })),
  );
  unit.tx.defer(insertEntries, [
    entries.map(({ entryId }) => entryId),
    entries.map(({ partnerId }) => partnerId),
    entries.map(({ orderId }) => orderId),
    entries.map(({ kind }) => kind),
    entries.map(({ dedupeKey }) => dedupeKey),
    unit.at,
    lines.map(({ entryId }) => entryId),
    lines.map(({ line }) => line),
    lines.map(({ account }) => account),
    lines.map(({ asset }) => asset),
    lines.map(({ amount }) => amount.toString()),
  ]);
}
