import { CausewayError } from '@causeway/protocol';
import { EscrowSignerMismatchError, recoverOwner } from '../../chain/safe-transaction.ts';
import { canonicalSignature } from '../../chain/signature.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Payout, PayoutPurpose } from './order.escrow.ts';
import type { OrderRow } from './order.types.ts';
import { recordSignature } from './record-escrow.ts';

/** Keeps the signature of one of the escrow's owners, if it is that of one of these. */
export async function acceptOwnerSignature(
  unit: UnitOfWork,
  order: OrderRow,
  { escrow, hash }: Payout,
  purpose: PayoutPurpose,
  owners: readonly ('seller' | 'buyer')[],
  signature: string,
): Promise<void> {
  const given = signature as `0x${string}`;
  const signer = await recoverOwner(escrow, hash, given).catch((error: unknown) => {
    if (error instanceof EscrowSignerMismatchError) {
      throw new CausewayError('ESCROW_SIGNER_MISMATCH', { cause: error });
    }
    throw error;
  });
  if (!owners.some((owner) => escrow.parties[owner] === signer)) {
    throw new CausewayError('ESCROW_SIGNER_MISMATCH');
  }
  recordSignature(unit, order, purpose, signer, canonicalSignature(given));
}
