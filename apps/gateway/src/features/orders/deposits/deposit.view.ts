import { DEPOSIT_CREDITED, type DepositSchema, depositMachine, formatFixed } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Address, ChainSettings } from '../../../chain/chain-settings.ts';
import { SYSTEM } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { countDeposits, type DepositRow, listDeposits } from '../escrow/escrow.store.ts';
import type { OrderRow } from '../lifecycle/order.ts';
import type { DepositDeps } from './decide-deposit.ts';
import { isEscrowFree, tokenOf } from './deposit.adapter.ts';

export type DepositView = Static<typeof DepositSchema>;

type OrderState = Pick<OrderRow, 'direction' | 'status'> & {
  readonly escrowState: OrderRow['facts']['escrow'];
};

export function depositView(settings: ChainSettings, order: OrderState, row: DepositRow): DepositView {
  const { return_to: payee, return_amount: amount } = row;
  const isCredited = row.disposition === DEPOSIT_CREDITED;
  return {
    deposit_id: row.deposit_id,
    status: row.disposition,
    says: depositMachine.statuses[row.disposition]?.says ?? '',
    kind: row.kind,
    note: row.note,
    tx_hash: row.tx_hash,
    block_number: row.block_number,
    sender: row.sender,
    token_address: row.token,
    token: tokenOf(settings, row.token)?.code ?? null,
    amount: humanAmount(settings, row.token, row.amount),
    amount_atomic: row.amount,
    credited_atomic: isCredited ? row.amount : row.credited_amount,
    return:
      payee === null || amount === null
        ? null
        : {
            recipient_address: payee,
            amount: humanAmount(settings, row.token, amount),
            amount_atomic: amount,
            waiting_for: waitOf(row, order),
            tx_hash: row.return_tx_hash,
          },
    observed_at: row.observed_at.toISOString(),
  };
}

/** What an amount is in words: of an unknown token there are only units. */
export function humanAmount(settings: ChainSettings, token: Address, amount: string | bigint): string | null {
  const known = tokenOf(settings, token);
  return known === undefined ? null : formatFixed(BigInt(amount), known.decimals);
}

const WAITS: Partial<Record<DepositRow['disposition'], 'signature' | 'chain'>> = {
  return_pending: 'signature',
  returning: 'chain',
};

function waitOf({ disposition }: DepositRow, order: OrderState) {
  const wait = WAITS[disposition] ?? null;
  return wait === 'signature' && !isEscrowFree(order, order.escrowState) ? 'order' : wait;
}

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
  { db, chains, clock }: DepositDeps & { readonly clock: Clock },
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
