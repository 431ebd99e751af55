import { CausewayError, NEW } from '@causeway/protocol';
import type { Database, Scope } from '../../db/database.ts';
import { execute } from '../../engine/execute.ts';
import type { UnitOfWork } from '../../engine/unit-of-work.ts';
import { isUuid } from '../../lib/ids.ts';
import type { ScreeningPort } from '../../ports/name-screening.ts';
import type { BlindIndex, Vault, Vaults } from '../../vault/vault.ts';
import {
  type CurrentRecipientRow,
  countFound,
  countRecipients,
  deleteTokens,
  insertRecipient,
  insertTokens,
  insertVersion,
  listRecipients,
  moveToVersion,
  searchRecipients,
} from './recipient.store.ts';
import {
  applyChanges,
  isSame,
  lockActiveRecipient,
  lockAnyRecipient,
  newRecipientData,
  openCurrent,
  type RecipientChanges,
  type RecipientData,
  recipientKeyOwner,
  vaultOfRecipient,
  versionContext,
} from './recipient.ts';
import {
  moveScreening,
  RESULT_TRIGGERS,
  type RecipientSubject,
  recipientAdapter,
  screeningAdapter,
  subjectOf,
} from './recipient-screening.ts';
import { identifierToken, nameTokens, searchedNameTokens } from './search-tokens.ts';

export interface RecipientDeps {
  readonly vaults: Vaults;
  readonly blindIndex: BlindIndex;
}

/** The places of recipients among the blind indexes. */
export const NAME_INDEX = 'recipients.name';
export const IDENTIFIER_INDEX = 'recipients.identifier';

/** Writes what is now known of a recipient, and by what it is found. Earlier versions stay as they are. */
export function writeVersion(
  deps: RecipientDeps,
  unit: UnitOfWork,
  vault: Vault,
  recipient: { readonly recipientId: string; readonly partnerId: string; readonly version: number },
  data: RecipientData,
): void {
  const { recipientId, partnerId, version } = recipient;
  const { recipient_country, recipient_id_type, ...fields } = data;
  const sealed = vault.seal(JSON.stringify(fields), versionContext(recipientId, version));
  unit.tx.defer(insertVersion, [
    recipientId,
    version,
    partnerId,
    recipient_country,
    recipient_id_type,
    sealed,
    unit.at,
  ]);
  if (version > 1) unit.tx.defer(deleteTokens, [recipientId, ['name', 'identifier']]);
  const names = nameTokens(data.recipient_name, data.recipient_native_name);
  const nameHashes = names.map((token) => deps.blindIndex(NAME_INDEX, partnerId, token));
  unit.tx.defer(insertTokens, [partnerId, recipientId, 'name', nameHashes]);
  const identifiers = [data.recipient_id_number, data.recipient_business_registration_number];
  const hashes = identifierHashes(deps.blindIndex, partnerId, identifiers);
  if (hashes.length > 0) unit.tx.defer(insertTokens, [partnerId, recipientId, 'identifier', hashes]);
}

export function identifierHashes(
  blindIndex: BlindIndex,
  partnerId: string,
  values: readonly (string | null)[],
): string[] {
  const tokens = values.map((value) => identifierToken(value ?? '')).filter((token) => token !== undefined);
  return [...new Set(tokens)].map((token) => blindIndex(IDENTIFIER_INDEX, partnerId, token));
}

export interface NewRecipient extends RecipientChanges {
  readonly recipient_kind?: 'individual' | 'business';
}

/** Registers a recipient. Where the screening answers from memory, it can be quoted when its partner hears of it. */
export function registerRecipient(
  deps: RecipientDeps & { readonly screening: ScreeningPort },
  unit: UnitOfWork,
  partnerId: string,
  input: NewRecipient,
): { readonly row: Omit<CurrentRecipientRow, 'fields_sealed'>; readonly data: RecipientData } {
  const data = newRecipientData(input);
  const recipientId = unit.ids.uuid();
  const { wrappedKey, vault } = deps.vaults.create(recipientKeyOwner(recipientId));
  const draft: RecipientSubject = {
    recipient_id: recipientId,
    partner_id: partnerId,
    recipient_kind: input.recipient_kind ?? 'individual',
    status: NEW,
    screening_status: NEW,
    screening_round: 0,
    current_version: 1,
    recipient_country: data.recipient_country,
    data_key_sealed: wrappedKey,
    created_at: unit.at,
    updated_at: unit.at,
    isNew: true,
  };
  const registered = execute(unit, recipientAdapter, draft, 'recipient_registered', 'partner').row;
  const asked = execute(unit, screeningAdapter, registered, 'screening_requested', 'system').row;
  // As after a change, the worker asks all the same and keeps what was found.
  const atOnce = deps.screening.screenAtOnce?.(subjectOf(asked.recipient_kind, data));
  const { isNew: _, ...subject } =
    atOnce === undefined
      ? asked
      : execute(unit, screeningAdapter, asked, RESULT_TRIGGERS[atOnce.status], 'provider').row;
  const { status, screening_status } = subject;
  if (status === NEW || screening_status === NEW) throw new Error('a recipient was not registered');
  unit.tx.defer(insertRecipient, [
    recipientId,
    partnerId,
    subject.recipient_kind,
    status,
    screening_status,
    subject.screening_round,
    data.recipient_country,
    wrappedKey,
    unit.at,
  ]);
  writeVersion(deps, unit, vault, { recipientId, partnerId, version: 1 }, data);
  return { row: { ...subject, status, screening_status, recipient_id_type: data.recipient_id_type }, data };
}

/** Writes the next version; a recipient cleared under another name is screened again. */
export async function updateRecipient(
  deps: RecipientDeps & { readonly screening: ScreeningPort },
  unit: UnitOfWork,
  recipientId: string,
  changes: RecipientChanges,
): Promise<{ readonly row: CurrentRecipientRow; readonly data: RecipientData }> {
  const before = await lockActiveRecipient(unit, recipientId);
  const known = openCurrent(deps.vaults, before);
  const data = applyChanges(known, changes);
  if (isSame(known, data)) return { row: before, data };
  const subject = { ...before, isNew: false };
  if (execute(unit, recipientAdapter, subject, 'recipient_updated', 'partner').kind === 'refused') {
    throw new CausewayError('RECIPIENT_NOT_FOUND');
  }
  const version = before.current_version + 1;
  const vault = vaultOfRecipient(deps.vaults, before);
  writeVersion(deps, unit, vault, { recipientId, partnerId: before.partner_id, version }, data);
  unit.tx.defer(moveToVersion, [recipientId, version, data.recipient_country, unit.at]);
  // A blocked recipient stays blocked: the machine refuses, and that is the answer.
  const asked = moveScreening(unit, before, 'screening_requested', 'system');
  // Where the answer is in memory it counts at once: a change must not stop orders for as long as a worker needs. The
  // worker asks all the same and keeps what was found.
  const atOnce = deps.screening.screenAtOnce?.(subjectOf(before.recipient_kind, data));
  const { row } =
    asked.kind === 'refused' || atOnce === undefined
      ? asked
      : moveScreening(unit, asked.row, RESULT_TRIGGERS[atOnce.status], 'provider');
  return {
    row: {
      ...row,
      current_version: version,
      recipient_country: data.recipient_country,
      recipient_id_type: data.recipient_id_type,
      updated_at: unit.at,
    },
    data,
  };
}

/** Archives a recipient. Doing it again is harmless. */
export async function archiveRecipient(unit: UnitOfWork, recipientId: string): Promise<void> {
  const row = await lockAnyRecipient(unit, recipientId);
  execute(unit, recipientAdapter, { ...row, isNew: false }, 'recipient_archived', 'partner');
}

export interface RecipientFilter {
  readonly search?: string | undefined;
  readonly screening_status?: string | undefined;
  readonly recipient_country?: string | undefined;
  readonly currency?: string | undefined;
  readonly rail?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A page of recipients. A search compares keyed hashes: no row is opened to find out whether it matches. */
export async function findRecipients(
  deps: { readonly db: Database; readonly blindIndex: BlindIndex },
  scope: Scope,
  partnerId: string,
  filter: RecipientFilter,
): Promise<{ readonly rows: readonly CurrentRecipientRow[]; readonly total: number }> {
  const { search, limit, offset } = filter;
  const conditions = [
    partnerId,
    filter.screening_status ?? null,
    filter.recipient_country?.toUpperCase() ?? null,
    filter.currency?.toUpperCase() ?? null,
    filter.rail ?? null,
  ] as const;
  const [rows, [count]] = await deps.db.transaction(scope, (tx) => {
    if (search === undefined) {
      return tx.queryBoth(listRecipients, [...conditions, limit, offset], countRecipients, [...conditions]);
    }
    const wanted = searchedFor(deps.blindIndex, partnerId, search);
    return tx.queryBoth(searchRecipients, [...conditions, ...wanted, limit, offset], countFound, [
      ...conditions,
      ...wanted,
    ]);
  });
  return { rows, total: Number(count?.total ?? 0) };
}

function searchedFor(
  blindIndex: BlindIndex,
  partnerId: string,
  search: string,
): readonly [names: readonly string[], identifier: string | null, recipientId: string | null] {
  const identifier = identifierToken(search);
  return [
    searchedNameTokens(search).map((token) => blindIndex(NAME_INDEX, partnerId, token)),
    identifier === undefined ? null : blindIndex(IDENTIFIER_INDEX, partnerId, identifier),
    isUuid(search.trim()) ? search.trim() : null,
  ];
}
