import { CausewayError } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { Sealer } from '../../lib/crypto.ts';
import { forgetPayoutsTo, openPayoutsTo } from '../orders/order-privacy.ts';
import { forgetAnswersAbout } from '../privacy/forget-answers.ts';
import type { Vaults } from '../privacy/vault.ts';
import { destinationContext, MAX_DESTINATIONS } from './add-destination.ts';
import { listDestinations } from './destination.store.ts';
import { lockAnyRecipient, openCurrent, vaultOfRecipient } from './load-recipient.ts';
import { recipientHost } from './recipient.host.ts';
import {
  type CurrentRecipientRow,
  countToReview,
  findRecipient,
  forgetRecipient,
  latestScreening,
  listToReview,
} from './recipient.store.ts';
import type { RecipientData } from './recipient-fields.ts';
import { hitsContext } from './screen-recipient.ts';
import type { ScreeningHit } from './screening/screening.port.ts';

interface Tools {
  readonly db: Database;
  readonly vaults: Vaults;
}

export interface RecipientToReview {
  readonly recipient: CurrentRecipientRow;
  readonly listVersion: string | null;
  readonly hits: readonly ScreeningHit[];
}

/** Recipients whose screening found something, with what it found. */
export async function recipientsToReview(
  tools: Tools,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly reviews: readonly RecipientToReview[]; readonly total: number }> {
  const [rows, [count]] = await tools.db.transaction(SYSTEM, (tx) =>
    tx.queryBoth(listToReview, [page.limit, page.offset], countToReview, []),
  );
  const reviews: RecipientToReview[] = [];
  for (const recipient of rows) reviews.push(await withHits(tools, recipient));
  return { reviews, total: Number(count?.total ?? 0) };
}

async function withHits(tools: Tools, recipient: CurrentRecipientRow): Promise<RecipientToReview> {
  const [screening] = await tools.db.query(SYSTEM, latestScreening, [recipient.recipient_id]);
  if (screening === undefined) return { recipient, listVersion: null, hits: [] };
  const text = vaultOfRecipient(tools.vaults, recipient).open(
    screening.hits_sealed,
    hitsContext(recipient.recipient_id, screening.screening_round),
  );
  return { recipient, listVersion: screening.list_version, hits: JSON.parse(text) as ScreeningHit[] };
}

export interface RevealedRecipient {
  readonly data: RecipientData;
  readonly destinations: readonly { id: string; rail: string; details: Readonly<Record<string, string>> }[];
}

/** A recipient in clear. Only units that write an audit entry may ask. */
export async function revealRecipient(
  unit: UnitOfWork,
  vaults: Vaults,
  recipientId: string,
): Promise<RevealedRecipient> {
  const [row] = await unit.tx.query(findRecipient, [recipientId]);
  if (row === undefined) throw new CausewayError('RECIPIENT_NOT_FOUND');
  const vault = vaultOfRecipient(vaults, row);
  const destinations = await unit.tx.query(listDestinations, [recipientId, MAX_DESTINATIONS]);
  return {
    data: openCurrent(vaults, row),
    destinations: destinations.map(({ recipient_destination_id: id, rail, details_sealed }) => ({
      id,
      rail,
      details: JSON.parse(vault.open(details_sealed, destinationContext(id))) as Record<string, string>,
    })),
  };
}

/** Forgets a recipient: archived for good, and unreadable in every version, snapshot, proof and kept answer. */
export async function eraseRecipient(
  tools: { readonly sealer: Sealer },
  unit: UnitOfWork,
  recipientId: string,
): Promise<void> {
  const row = await lockAnyRecipient(unit, recipientId);
  if ((await openPayoutsTo(unit, recipientId)) > 0) {
    throw new CausewayError('OPERATION_NOT_ALLOWED', {
      message: 'Open orders pay this recipient; they have to end first.',
    });
  }
  // Archiving is the partner's act; the operator does it in the partner's name.
  execute(unit, recipientHost, { ...row, isNew: false }, 'recipient_archived', 'partner');
  unit.tx.defer(forgetRecipient, [recipientId, unit.at]);
  forgetPayoutsTo(unit, recipientId);
  await forgetAnswersAbout(tools, unit, { partnerId: row.partner_id, personId: recipientId });
}
