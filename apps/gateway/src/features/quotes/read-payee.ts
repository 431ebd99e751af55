import { CausewayError } from '@causeway/protocol';
import type { StatementRun } from '../../http/route.ts';
import type { DestinationTools } from '../recipients/add-destination.ts';
import { takeSnapshot } from '../recipients/recipient-snapshot.ts';
import { customerWithDetails, senderWithRecipient } from './payee.store.ts';
import type { NamedPayee, PayoutPlace, ThirdPartyRow } from './payee.ts';
import { requireCleared } from './store-quote.ts';

type Snapshot = ReturnType<typeof takeSnapshot>;

export type FoundPayee = { readonly place: PayoutPlace } & (
  | { readonly paymentDetailsId: string }
  | { readonly snapshot: Snapshot }
);

/** Finds the payee in one round trip. Who is unknown or somebody else's is told before anything of theirs is. */
export async function readPayee(
  tools: DestinationTools,
  run: StatementRun,
  named: NamedPayee,
): Promise<FoundPayee> {
  return named.mode === 'own' ? ownDetails(run, named) : thirdParty(tools, run, named);
}

async function ownDetails(
  run: StatementRun,
  { userId, paymentDetailsId }: Extract<NamedPayee, { mode: 'own' }>,
): Promise<FoundPayee> {
  const [row] = await run.query(customerWithDetails, [userId, paymentDetailsId]);
  if (row === undefined) throw new CausewayError('USER_NOT_FOUND');
  if (row.payment_details_id === null) throw new CausewayError('PAYMENT_DETAILS_NOT_FOUND');
  requireCleared(row.kyc_status);
  if (row.holder_status !== 'clear') throw new CausewayError('RECIPIENT_NOT_CLEARED');
  return { place: row, paymentDetailsId: row.payment_details_id };
}

async function thirdParty(
  tools: DestinationTools,
  run: StatementRun,
  { userId, recipientId, destinationId }: Extract<NamedPayee, { mode: 'third_party' }>,
): Promise<FoundPayee> {
  const [row] = await run.query(senderWithRecipient, [userId, recipientId, destinationId]);
  if (row === undefined) throw new CausewayError('USER_NOT_FOUND');
  if (!hasRecipient(row)) throw new CausewayError('RECIPIENT_NOT_FOUND');
  if (!hasDestination(row)) throw new CausewayError('DESTINATION_NOT_FOUND');
  requireCleared(row.kyc_status);
  const destination = {
    ...row,
    created_at: row.destination_created_at,
    screening_status: row.holder_status,
  };
  return { place: row, snapshot: takeSnapshot(tools, row, destination) };
}

type SnapshotRows = Parameters<typeof takeSnapshot>;

function hasRecipient(row: ThirdPartyRow): row is ThirdPartyRow & SnapshotRows[1] {
  return row.recipient_id !== null;
}

function hasDestination<T extends ThirdPartyRow>(row: T): row is T & SnapshotRows[2] {
  return row.recipient_destination_id !== null;
}
