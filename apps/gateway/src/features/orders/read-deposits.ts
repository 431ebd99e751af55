import { formatFixed } from '@causeway/protocol';
import { SYSTEM } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import type { DepositTools } from './decide-deposit.ts';
import { countDeposits, listDeposits } from './odd-deposit.store.ts';
import { depositView } from './odd-deposit.view.ts';

interface DepositFilter {
  readonly status?: string | undefined;
  readonly kind?: string | undefined;
  readonly orderId?: string | undefined;
  readonly partnerId?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Deposits of all partners, with what each order awaited. */
export async function readDeposits(
  { db, chains, clock }: DepositTools & { readonly clock: Clock },
  { status, kind, orderId, partnerId, limit, offset }: DepositFilter,
) {
  const statuses = status === undefined ? null : [status];
  const filters = [statuses, kind ?? null, orderId ?? null, partnerId ?? null] as const;
  const [rows, [count]] = await db.transaction(SYSTEM, (tx) =>
    tx.queryBoth(listDeposits, [...filters, limit, offset], countDeposits, [...filters]),
  );
  const deposits = rows.map((row) => {
    const { settings } = chains.get(row.chain);
    const order = { direction: row.direction, status: row.order_status, escrowState: row.escrow_state };
    return {
      ...depositView(settings, order, row),
      order_id: row.order_id,
      partner_id: row.partner_id,
      order_status: row.order_status,
      direction: row.direction,
      chain: row.chain,
      escrow_address: row.address,
      expected: {
        token_address: row.expected_token,
        token: row.crypto_currency,
        amount: formatFixed(BigInt(row.expected_amount), row.crypto_decimals),
        sender: row.expected_sender,
      },
      age_seconds: Math.max(0, Math.floor((clock.now() - row.observed_at.getTime()) / 1_000)),
    };
  });
  return { deposits, total: Number(count?.total ?? 0) };
}
