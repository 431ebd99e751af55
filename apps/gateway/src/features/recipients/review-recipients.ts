import { CausewayError } from '@causeway/protocol';
import { type Database, SYSTEM } from '../../db/database.ts';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import type { ScreeningHit } from '../../ports/name-screening.ts';
import type { Vaults } from '../../vault/vault.ts';
import { MAX_DESTINATIONS, openDestinationRow } from './destinations.ts';
import {
  type CurrentRecipientRow,
  countToReview,
  eraseRecipientColumns,
  findRecipient,
  latestScreening,
  listDestinations,
  listToReview,
} from './recipient.store.ts';
import { openCurrent, type RecipientData, vaultOfRecipient } from './recipient.ts';
import { hitsContext, recipientAdapter } from './recipient-screening.ts';

interface Deps {
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
  deps: Deps,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ readonly reviews: readonly RecipientToReview[]; readonly total: number }> {
  const [rows, [count]] = await deps.db.transaction(SYSTEM, (tx) =>
    tx.queryBoth(listToReview, [page.limit, page.offset], countToReview, []),
  );
  const reviews: RecipientToReview[] = [];
  for (const recipient of rows) reviews.push(await withHits(deps, recipient));
  return { reviews, total: Number(count?.total ?? 0) };
}

/** One recipient, whatever its screening says. */
export async function recipientToReview(deps: Deps, recipientId: string): Promise<RecipientToReview | null> {
  const [recipient] = await deps.db.query(SYSTEM, findRecipient, [recipientId]);
  return recipient === undefined ? null : withHits(deps, recipient);
}

async function withHits(deps: Deps, recipient: CurrentRecipientRow): Promise<RecipientToReview> {
  const [screening] = await deps.db.query(SYSTEM, latestScreening, [recipient.recipient_id]);
  if (screening === undefined) return { recipient, listVersion: null, hits: [] };
  const text = vaultOfRecipient(deps.vaults, recipient).open(
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
    destinations: destinations.map((row) => ({
      id: row.recipient_destination_id,
      rail: row.rail,
      details: openDestinationRow(vault, row),
    })),
  };
}

/** Archives a recipient for good and makes every version of it unreadable. */
export function eraseRecipientRow(unit: UnitOfWork, row: CurrentRecipientRow): void {
  // Archiving is the partner's act; the operator does it in the partner's name.
  execute(unit, recipientAdapter, { ...row, isNew: false }, 'recipient_archived', 'partner');
  unit.tx.defer(eraseRecipientColumns, [row.recipient_id, unit.at]);
}
