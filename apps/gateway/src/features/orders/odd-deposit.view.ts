import { type DepositSchema, depositMachine, formatFixed } from '@causeway/protocol';
import type { Static } from 'typebox';
import type { Address, ChainSettings } from '../../chain/chain-settings.ts';
import { isEscrowFree, tokenOf } from './odd-deposit.host.ts';
import type { DepositRow } from './odd-deposit.store.ts';
import type { OrderRow } from './order.types.ts';

export type DepositView = Static<typeof DepositSchema>;

type OrderState = Pick<OrderRow, 'direction' | 'status'> & {
  readonly escrowState: OrderRow['facts']['escrow'];
};

export function depositView(settings: ChainSettings, order: OrderState, row: DepositRow): DepositView {
  const { return_to: payee, return_amount: amount } = row;
  const isCredited = row.disposition === 'credited';
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

/** What an amount is in words: of a token that nobody knows there are only units. */
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
